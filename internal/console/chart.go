package console

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// curve is a chart of values over time. A table beside it has the numbers.
type curve struct {
	// label says what the chart shows and names the table.
	label string
	// first and last name the ends of the horizontal axis, top the upper end of the
	// vertical one, whose value is most.
	first, last, top string
	most             float64
	points           []curvePoint
}

// curvePoint is one value, with bounds and what was planned where these are known.
type curvePoint struct {
	at, value float64
	bounds    *[2]float64
	planned   *float64
}

// Measures of a curve, in units of its view box.
const (
	curveWidth, curveHeight            = 640, 200
	curveLeft, curveTop, curveBaseline = 52, 12, 176
)

// x and y are where a point is drawn.
func (c curve) x(at float64) float64 {
	first, last := c.points[0].at, c.points[len(c.points)-1].at
	if first == last {
		return (curveLeft + curveWidth) / 2
	}
	return curveLeft + (at-first)/(last-first)*(curveWidth-curveLeft-8)
}

func (c curve) y(value float64) float64 {
	return curveBaseline - min(max(value/c.most, 0), 1)*(curveBaseline-curveTop)
}

func (c curve) path(value func(curvePoint) (float64, bool)) string {
	var places []string
	for _, p := range c.points {
		if height, known := value(p); known {
			places = append(places, fmt.Sprintf("%.1f,%.1f", c.x(p.at), c.y(height)))
		}
	}
	return strings.Join(places, " ")
}

// band encloses the bounds: along the lower ones, and back along the upper ones.
func (c curve) band() string {
	var low, high []string
	for _, p := range c.points {
		if p.bounds != nil {
			low = append(low, fmt.Sprintf("%.1f,%.1f", c.x(p.at), c.y(p.bounds[0])))
			high = append([]string{fmt.Sprintf("%.1f,%.1f", c.x(p.at), c.y(p.bounds[1]))}, high...)
		}
	}
	return strings.Join(append(low, high...), " ")
}

// draw draws the curve; nothing where it has no points.
func (c curve) draw() g.Node {
	if len(c.points) == 0 {
		return nil
	}
	line := func(x1, y1, x2, y2 int) g.Node {
		return g.El("line", h.Class("axis"), g.Attr("x1", strconv.Itoa(x1)), g.Attr("y1", strconv.Itoa(y1)), g.Attr("x2", strconv.Itoa(x2)), g.Attr("y2", strconv.Itoa(y2)))
	}
	text := func(x, y int, anchor, says string) g.Node {
		return g.El("text", g.Attr("x", strconv.Itoa(x)), g.Attr("y", strconv.Itoa(y)), g.Attr("text-anchor", anchor), g.Text(says))
	}
	planned := c.path(func(p curvePoint) (float64, bool) {
		if p.planned == nil {
			return 0, false
		}
		return *p.planned, true
	})
	nodes := []g.Node{
		h.Class("curve"), h.Role("img"), h.Aria("label", c.label+"; the table below has the numbers"), g.Attr("viewBox", fmt.Sprintf("0 0 %d %d", curveWidth, curveHeight)),
		line(curveLeft, curveBaseline, curveWidth, curveBaseline), line(curveLeft, curveTop, curveLeft, curveBaseline),
		text(curveLeft-6, curveTop+4, "end", c.top), text(curveLeft-6, curveBaseline, "end", "0"),
		text(curveLeft, curveHeight-6, "start", c.first), g.If(c.last != c.first, text(curveWidth-8, curveHeight-6, "end", c.last)),
		g.El("polygon", h.Class("band"), g.Attr("points", c.band())),
		g.El("polyline", h.Class("plan"), g.Attr("points", planned)),
		g.El("polyline", h.Class("line"), g.Attr("points", c.path(func(p curvePoint) (float64, bool) { return p.value, true }))),
	}
	for _, p := range c.points {
		nodes = append(nodes, g.El("circle", g.Attr("cx", fmt.Sprintf("%.1f", c.x(p.at))), g.Attr("cy", fmt.Sprintf("%.1f", c.y(p.value))), g.Attr("r", "2.5")))
	}
	return g.El("svg", nodes...)
}

// bar is a count at one place of the horizontal axis. Its mark names the place; bars
// between two marks have none.
type bar struct {
	value int
	mark  string
}

// Measures of bars, in units of the view box.
const (
	barsWidth, barsTop, barsBaseline, barsHeight = 640, 16, 112, 132
	// The bars of a short chart are no wider than this, those of a long one no
	// narrower.
	widestBar, narrowestBar = 56, 4
	// A narrower bar has no room for its value, and closer marks none for each other.
	barWithValue, markWidth = 20, 48
)

// drawBars draws counts over time, each with its value above it where there is room.
// A table beside it has the numbers. Nothing where all are zero.
func drawBars(label string, bars []bar) g.Node {
	most := 0
	for _, b := range bars {
		most = max(most, b.value)
	}
	if most == 0 {
		return nil
	}
	step := min(max(barsWidth/len(bars), narrowestBar), widestBar)
	width, gap := max(barsWidth, step*len(bars)), max(step/6, 1)
	text := func(x, y int, anchor, says string) g.Node {
		return g.El("text", number("x", x), number("y", y), g.Attr("text-anchor", anchor), g.Text(says))
	}
	nodes := []g.Node{
		h.Class("bars"), h.Role("img"), h.Aria("label", label+"; the table below has the numbers"), g.Attr("viewBox", fmt.Sprintf("0 0 %d %d", width, barsHeight)),
		g.El("line", number("x1", 0), number("x2", width), number("y1", barsBaseline), number("y2", barsBaseline)),
	}
	free := 0 // where the last mark ends
	for i, b := range bars {
		x := i * step
		if b.value > 0 {
			tall := max(b.value*(barsBaseline-barsTop)/most, 1)
			nodes = append(nodes, g.El("rect", number("x", x), number("y", barsBaseline-tall), number("width", step-gap), number("height", tall)))
			if step >= barWithValue {
				nodes = append(nodes, text(x+(step-gap)/2, barsBaseline-tall-4, "middle", strconv.Itoa(b.value)))
			}
		}
		if b.mark != "" && x >= free {
			nodes = append(nodes, text(x, barsHeight-4, "start", b.mark))
			free = x + markWidth
		}
	}
	return h.SVG(nodes...)
}

func number(name string, n int) g.Node { return g.Attr(name, strconv.Itoa(n)) }

// countText shows a count with its thousands apart.
func countText[N int | int64](n N) string {
	return message.NewPrinter(language.English).Sprintf("%d", n)
}

// numberTable is a table of numbers; the first cell of a row names it.
func numberTable(label string, head []string, rows [][]string) g.Node {
	return h.Div(h.Class("scroll"), h.Role("region"), h.Aria("label", label), h.TabIndex("0"), h.Table(
		h.THead(h.Tr(h.Th(h.Scope("col"), g.Text(head[0])), g.Map(head[1:], func(text string) g.Node { return h.Th(h.Scope("col"), h.Class("number"), g.Text(text)) }))),
		h.TBody(g.Map(rows, func(row []string) g.Node {
			return h.Tr(h.Th(h.Scope("row"), g.Text(row[0])), g.Map(row[1:], func(text string) g.Node { return h.Td(h.Class("number"), g.Text(text)) }))
		})),
	))
}
