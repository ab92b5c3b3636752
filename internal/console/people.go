package console

import (
	"net/http"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
)

const participantsPath = "/conversation/participants"

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
