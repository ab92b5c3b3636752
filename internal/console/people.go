package console

import (
	"net/http"
	"net/url"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/internal/auth"
)

const participantsPath = "/conversation/participants"

// showPeople lists participants.
func (c *Console) showPeople(v *viewer) (page, error) {
	query := url.Values{"limit": {"50"}}
	if cursor := v.query("cursor"); cursor != "" {
		query.Set("cursor", cursor)
	}
	list, err := get[api.ParticipantPage](v, participantsPath, query)
	if err != nil {
		return page{}, err
	}
	return page{title: "People", section: "people", follow: followAll, body: []g.Node{
		h.H1(g.Text("People")),
		h.Div(h.Class("scroll"), h.Role("region"), h.Aria("label", "List of people"), h.TabIndex("0"), h.Table(
			h.THead(h.Tr(h.Th(g.Text("Name")), h.Th(g.Text("Phone")), h.Th(g.Text("Status")), h.Th(g.Text("Last heard")))),
			h.TBody(g.Map(list.Participants, func(p api.Participant) g.Node {
				return h.Tr(
					h.Td(h.A(h.Href(Path+"people/"+p.ID), g.Text(nameOf(p)))), h.Td(g.Text(p.Phone)),
					h.Td(g.Text(string(p.Status))), h.Td(g.Text(ageOf(p.LastInboundAt, v.now))),
				)
			})),
		)),
		g.Iff(v.can(auth.ParticipantEnrol), func() g.Node { return enrolForm(v) }),
	}}, nil
}

// nameOf is the name under which lists show a participant: the id where there is
// no name, or none that the viewer may see.
func nameOf(p api.Participant) string {
	if p.Name != "" {
		return p.Name
	}
	return p.ID
}

func enrolForm(v *viewer) g.Node {
	return h.Details(h.ID("enrol"), g.If(v.problem != "" || v.query("enrol") != "", g.Attr("open")), h.Summary(g.Text("Enrol a person")),
		h.Form(h.Method("post"), h.Action(Path+"people"), h.Class("stack"),
			field("phone", "Phone number", h.Input(h.ID("phone"), h.Name("phone"), h.Type("tel"), h.Required(), h.Value(v.value("phone")))),
			field("name", "Name", h.Input(h.ID("name"), h.Name("name"), h.MaxLength("100"), h.Value(v.value("name")))),
			field("timezone", "Time zone, such as America/New_York", h.Input(h.ID("timezone"), h.Name("timezone"), h.Value(v.value("timezone")))),
			h.Div(h.Label(h.Input(h.Type("checkbox"), h.Name("signup"), h.Value("yes"), g.If(v.value("signup") != "", h.Checked())),
				g.Text(" They have just signed up themselves: greet them at once"))),
			h.Button(h.Type("submit"), g.Text("Enrol")),
		))
}

func (c *Console) enrol(v *viewer) (string, error) {
	body := api.NewParticipant{Phone: v.request.PostFormValue("phone"), Name: v.request.PostFormValue("name"), Signup: v.request.PostFormValue("signup") != ""}
	if zone := v.request.PostFormValue("timezone"); zone != "" {
		body.Timezone = &zone
	}
	p, err := send[api.Participant](v, call{method: http.MethodPost, path: participantsPath, body: body})
	return "people/" + p.ID, err
}

// showPerson is a conversation with what is known of the person.
func (c *Console) showPerson(v *viewer) (page, error) {
	path := participantsPath + "/" + url.PathEscape(v.path("id"))
	p, err := get[api.Participant](v, path, nil)
	if err != nil {
		return page{}, err
	}
	history, err := get[[]api.HistoryEntry](v, path+"/history", url.Values{"limit": {"100"}})
	if err != nil {
		return page{}, err
	}
	zone := zoneOf(p.Timezone)
	return page{title: nameOf(p), section: "people", follow: p.ID, body: []g.Node{
		h.H1(g.Text(nameOf(p))),
		h.Ol(h.Class("transcript"), h.Aria("label", "Conversation, oldest first"), g.Map(history, func(e api.HistoryEntry) g.Node {
			class := "message"
			if e.Role == "assistant" {
				class += " ours"
			}
			at := e.At
			return h.Li(h.Class(class), h.P(g.Text(e.Text)), h.P(h.Class("quiet"), instantOf(&at, zone), g.Text(" "+string(e.Kind))))
		})),
		g.Iff(v.can(auth.MessageSend), func() g.Node {
			return h.Form(h.Method("post"), h.Action(Path+"people/"+p.ID+"/send"), h.Class("stack"),
				h.Input(h.Type("hidden"), h.Name("key"), h.Value(v.now.Format(time.RFC3339Nano))),
				field("body", "Message", h.Textarea(h.ID("body"), h.Name("body"), h.Required(), g.Text(v.value("body")))),
				h.Button(h.Type("submit"), g.Text("Send")))
		}),
	}}, nil
}

func (c *Console) sendMessage(v *viewer) (string, error) {
	id := v.path("id")
	_, err := send[any](v, call{
		method: http.MethodPost, path: participantsPath + "/" + url.PathEscape(id) + "/messages",
		body:   map[string]string{"body": v.request.PostFormValue("body")},
		header: map[string]string{"Idempotency-Key": v.request.PostFormValue("key")},
	})
	return "people/" + id, err
}
