package export

import (
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"coachline/models"
)

// flow counts people for the CONSORT diagram. Testers are not counted.
type flow struct {
	enrolled, allocated, withdrew, optedOut, left, completed, going int64

	arms map[string]int64
}

// add counts a person once: as allocated, and by how they ended.
func (f *flow) add(p models.StudyPerson) {
	if p.Tester {
		return
	}
	f.enrolled++
	if p.Arm != "" {
		f.allocated++
		f.arms[p.Arm]++
	}
	switch {
	case p.Withdrew:
		f.withdrew++
	case p.Status == models.StatusCompleted:
		f.completed++
	case p.Status == models.StatusOptedOut:
		f.optedOut++
	case p.RemovedAt != nil || p.Status == models.StatusWithdrawn:
		f.left++
	default:
		f.going++
	}
}

// each lists the steps with their figures; the arms only where arms may be seen.
func (f *flow) each(arms bool, fn func(step string, people int64) error) error {
	type step struct {
		name   string
		people int64
	}
	steps := []step{{"enrolled", f.enrolled}, {"allocated", f.allocated}}
	if arms {
		for _, arm := range slices.Sorted(maps.Keys(f.arms)) {
			steps = append(steps, step{"allocated to " + arm, f.arms[arm]})
		}
	}
	steps = append(steps, step{"withdrew consent", f.withdrew}, step{"opted out of texts", f.optedOut}, step{"removed", f.left},
		step{"completed", f.completed}, step{"still taking part", f.going})
	for _, s := range steps {
		if err := fn(s.name, s.people); err != nil {
			return err
		}
	}
	return nil
}

// Measures of the diagram, in pixels.
const (
	boxWidth, boxHeight, boxStep = 320, 44, 64
)

// writeDiagram draws the steps as boxes, one below another.
func (f *flow) writeDiagram(w io.Writer, arms bool) error {
	var boxes strings.Builder
	y := 10
	err := f.each(arms, func(step string, people int64) error {
		if y > boxStep {
			fmt.Fprintf(&boxes, "<line x1=\"170\" y1=\"%d\" x2=\"170\" y2=\"%d\" stroke=\"black\"/>\n", y-boxStep+boxHeight, y)
		}
		fmt.Fprintf(&boxes, "<rect x=\"10\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"white\" stroke=\"black\"/>\n", y, boxWidth, boxHeight)
		fmt.Fprintf(&boxes, "<text x=\"170\" y=\"%d\" text-anchor=\"middle\">", y+27)
		if err := xml.EscapeText(&boxes, []byte(step)); err != nil {
			return err
		}
		fmt.Fprintf(&boxes, " (n = %d)</text>\n", people)
		y += boxStep
		return nil
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"340\" height=\"%d\" font-family=\"sans-serif\" font-size=\"14\">\n<title>CONSORT diagram</title>\n%s</svg>\n",
		y, boxes.String())
	return err
}
