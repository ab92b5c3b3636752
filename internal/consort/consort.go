// Package consort counts the people of a study for its CONSORT diagram, and draws
// the diagram: for the export and for the page that watches a study.
package consort

import (
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// Flow counts people. Testers are not counted. The zero value has none.
type Flow struct {
	enrolled, allocated, withdrew, optedOut, left, completed, going int64

	arms map[string]int64
}

// Step is one box of the diagram.
type Step struct {
	Name   string
	People int64
}

// Add counts so many people who are alike once: as allocated, and by how they ended.
func (f *Flow) Add(p models.StudyPerson, people int64) {
	if p.Tester {
		return
	}
	f.enrolled += people
	if p.Arm != "" {
		if f.arms == nil {
			f.arms = map[string]int64{}
		}
		f.allocated += people
		f.arms[p.Arm] += people
	}
	switch {
	case p.Withdrew:
		f.withdrew += people
	case p.Status == wire.StatusCompleted:
		f.completed += people
	case p.Status == wire.StatusOptedOut:
		f.optedOut += people
	case p.RemovedAt != nil || p.Status == wire.StatusWithdrawn:
		f.left += people
	default:
		f.going += people
	}
}

// Enrolled is how many people were counted.
func (f *Flow) Enrolled() int64 { return f.enrolled }

// Steps lists the steps in their order; the arms only where arms may be seen.
func (f *Flow) Steps(arms bool) []Step {
	steps := []Step{{"enrolled", f.enrolled}, {"allocated", f.allocated}}
	if arms {
		for _, arm := range slices.Sorted(maps.Keys(f.arms)) {
			steps = append(steps, Step{"allocated to " + arm, f.arms[arm]})
		}
	}
	return append(steps, Step{"withdrew consent", f.withdrew}, Step{"opted out of texts", f.optedOut}, Step{"removed", f.left},
		Step{"completed", f.completed}, Step{"still taking part", f.going})
}

// Measures of the diagram, in pixels.
const (
	boxWidth, boxHeight, boxStep = 320, 44, 64
	diagramWidth                 = boxWidth + 20
)

// WriteDiagram draws steps as SVG: boxes, one below another.
func WriteDiagram(w io.Writer, steps []Step) error {
	var boxes strings.Builder
	y := 10
	for i, step := range steps {
		if i > 0 {
			fmt.Fprintf(&boxes, "<line x1=\"170\" y1=\"%d\" x2=\"170\" y2=\"%d\" stroke=\"black\"/>\n", y-boxStep+boxHeight, y)
		}
		fmt.Fprintf(&boxes, "<rect x=\"10\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"white\" stroke=\"black\"/>\n", y, boxWidth, boxHeight)
		fmt.Fprintf(&boxes, "<text x=\"170\" y=\"%d\" text-anchor=\"middle\">", y+27)
		if err := xml.EscapeText(&boxes, []byte(step.Name)); err != nil {
			return fmt.Errorf("drawing the CONSORT diagram: %w", err)
		}
		fmt.Fprintf(&boxes, " (n = %d)</text>\n", step.People)
		y += boxStep
	}
	_, err := fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%[1]d\" height=\"%[2]d\" viewBox=\"0 0 %[1]d %[2]d\" role=\"img\" font-family=\"sans-serif\" font-size=\"14\">\n<title>CONSORT diagram</title>\n%[3]s</svg>\n",
		diagramWidth, y, boxes.String())
	return wrap.Error(err, "drawing the CONSORT diagram")
}
