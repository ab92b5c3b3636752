package browsertest

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed testdata/axe.min.js
var axe string

// Violation is one rule of axe-core that a page breaks.
type Violation struct {
	ID     string `json:"id"`
	Impact string `json:"impact"`
	Help   string `json:"help"`
	Nodes  []struct {
		HTML    string `json:"html"`
		Summary string `json:"failureSummary"`
	} `json:"nodes"`
}

// String names the rule and each place that breaks it.
func (v Violation) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s (%s): %s", v.ID, v.Impact, v.Help)
	for _, node := range v.Nodes {
		fmt.Fprintf(&text, "\n  %s\n    %s", node.HTML, strings.ReplaceAll(node.Summary, "\n", "\n    "))
	}
	return text.String()
}

// Violations runs all rules of axe-core on the page as it is now.
func (p *Page) Violations() []Violation {
	p.tb.Helper()
	var loaded bool
	if p.Eval(&loaded, `() => typeof axe === "object"`); !loaded {
		p.Eval(nil, `() => { `+axe+` }`)
	}
	var found []Violation
	p.Eval(&found, `async () => {
		const result = await axe.run(document, { resultTypes: ["violations"] });
		return result.violations.map(v => ({ id: v.id, impact: v.impact, help: v.help,
			nodes: v.nodes.map(n => ({ html: n.html, failureSummary: n.failureSummary })) }));
	}`)
	return found
}

// ExpectAccessible fails the test for each rule of axe-core that the page
// breaks as it is now.
func (p *Page) ExpectAccessible() {
	p.tb.Helper()
	for _, v := range p.Violations() {
		p.tb.Errorf("axe: %s", v)
	}
}
