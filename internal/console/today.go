package console

import (
	"net/url"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
)

// showToday is the first screen: what needs a person now.
func (c *Console) showToday(v *viewer) (page, error) {
	open, err := get[api.AttentionPage](v, "/attention", url.Values{"limit": {"200"}})
	if err != nil {
		return page{}, err
	}
	return page{title: "Today", follow: followAll, body: []g.Node{
		h.H1(g.Text("Today")),
		g.If(len(open.Attention) == 0, h.P(g.Text("Nobody needs you now."))),
		h.Ul(g.Map(open.Attention, func(a api.Attention) g.Node {
			return h.Li(h.A(h.Href(Path+"people/"+a.ParticipantID), g.Text(a.Name)), g.Text(" "+string(a.Kind)))
		})),
	}}, nil
}
