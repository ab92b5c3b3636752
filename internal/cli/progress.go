package cli

import (
	"fmt"
	"io"

	"github.com/schollz/progressbar/v3"
)

// meter shows on standard error how far a long command is: as a bar on a
// terminal, and elsewhere, for a log, as one line with the count after each
// part.
type meter struct {
	to    io.Writer
	unit  string
	bars  bool
	bar   *progressbar.ProgressBar
	part  string
	done  int64
	total int64
}

const barWidth = 30

// newMeter counts units; how many there are is said as the work goes on.
func (p *program) newMeter(unit string) *meter {
	return &meter{to: p.err, unit: unit, bars: p.bars}
}

// setProgress says which part of the work is in progress, and how many units
// are done of the whole; a total below 0 is not known. A count may go back
// where the work begins anew.
func (m *meter) setProgress(part string, done, total int64) {
	newPart, again := m.part != part, done < m.done
	if !m.bars && newPart && m.part != "" {
		m.logProgress()
	}
	m.part, m.done, m.total = part, done, total
	if !m.bars {
		return
	}
	if m.bar == nil || again {
		m.bar = m.newBar()
	}
	if newPart || again {
		m.bar.Describe(part)
	}
	_ = m.bar.Set64(done) // What cannot be drawn must not stop the work.
}

func (m *meter) newBar() *progressbar.ProgressBar {
	return progressbar.NewOptions64(m.total,
		progressbar.OptionSetWriter(m.to), progressbar.OptionSetWidth(barWidth), progressbar.OptionClearOnFinish(),
		progressbar.OptionShowCount(), progressbar.OptionShowBytes(m.unit == "bytes"))
}

func (m *meter) logProgress() {
	if m.total >= 0 {
		fmt.Fprintf(m.to, "%s: %d of %d %s\n", m.part, m.done, m.total, m.unit)
		return
	}
	fmt.Fprintf(m.to, "%s: %d %s\n", m.part, m.done, m.unit)
}

// endPart removes the bar, or logs the last part.
func (m *meter) endPart() {
	switch {
	case m.bar != nil:
		_ = m.bar.Finish() // As above.
	case m.part != "":
		m.logProgress()
	}
}
