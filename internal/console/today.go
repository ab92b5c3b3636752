package console

import (
	"net/url"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/internal/auth"
)

// showToday is the first screen: what needs a person now.
func (c *Console) showToday(v *viewer) (page, error) {
	anyone, err := get[api.ParticipantPage](v, participantsPath, url.Values{"limit": {"1"}})
	if err != nil {
		return page{}, err
	}
	if len(anyone.Participants) == 0 {
		return page{title: "Today", follow: followAll, body: c.welcome(v)}, nil
	}
	open, err := get[api.AttentionPage](v, "/attention", url.Values{"limit": {"200"}})
	if err != nil {
		return page{}, err
	}
	budgets, err := crossedBudgets(v)
	if err != nil {
		return page{}, err
	}
	return page{title: "Today", follow: followAll, body: []g.Node{
		h.H1(g.Text("Today")),
		g.Map(budgets, func(b api.Budget) g.Node {
			return h.P(h.Class("problem"), h.A(h.Href(Path+"cost"), g.Text("Budget: "+budgetName(b))), g.Text(". "+budgetAlert(b.State)))
		}),
		g.If(len(open.Attention) == 0, h.P(g.Text("Nobody needs you now."))),
		h.Ul(g.Map(open.Attention, func(a api.Attention) g.Node {
			return h.Li(h.A(h.Href(Path+"people/"+a.ParticipantID), g.Text(a.Name)), g.Text(" "+string(a.Kind)))
		})),
	}}, nil
}

// welcome is what an empty installation shows: the first step.
func (c *Console) welcome(v *viewer) []g.Node {
	return []g.Node{
		h.H1(g.Text("Nobody is enrolled yet")),
		g.If(v.can(auth.ParticipantEnrol), h.P(h.A(h.Href(Path+"people?enrol=1#enrol"), g.Text("Enrol the first person")), g.Text(": they are greeted by text, and the conversation appears here."))),
		g.If(c.cfg.PhonesURL != "", h.P(h.A(h.Href(c.cfg.PhonesURL), h.Target("_blank"), h.Rel("noopener"), g.Text("Open a simulated phone")), g.Text(" to answer as that person (opens in a new tab)."))),
	}
}
