package console

import (
	"net/http"
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
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

// recruitingStudies lists the ids of studies that take people in, the study default
// first; that one alone for a viewer who may not read studies.
func recruitingStudies(v *viewer) ([]string, error) {
	ids := []string{models.DefaultStudy}
	if !v.can(auth.StudyRead) {
		return ids, nil
	}
	list, err := get[api.StudyList](v, studiesPath, nil)
	for _, s := range list.Studies {
		if s.State.CanEnrol() && s.ID != models.DefaultStudy {
			ids = append(ids, s.ID)
		}
	}
	return ids, err
}

// studyField asks for a study; nil where there is only one.
func studyField(v *viewer, ids []string) g.Node {
	if len(ids) < 2 {
		return nil
	}
	return field("study", "Study", h.Select(h.ID("study"), h.Name("study"), g.Map(ids, func(id string) g.Node {
		return h.Option(h.Value(id), g.If(id == v.value("study"), h.Selected()), g.Text(id))
	})))
}

// consentFields ask what the person has agreed to, where there are studies.
func consentFields(v *viewer, ids []string) g.Node {
	if len(ids) < 2 {
		return nil
	}
	return g.Group{
		field("consent_version", "Version of the study's consent text they agreed to (empty: none is asked for)",
			h.Input(h.ID("consent_version"), h.Name("consent_version"), h.Type("number"), h.Min("1"), h.Value(v.value("consent_version")))),
		field("consent_locale", "Language of that text, such as en", h.Input(h.ID("consent_locale"), h.Name("consent_locale"), h.Value(v.value("consent_locale")))),
	}
}

// consentOf reads what consentFields asked; nil for nothing.
func consentOf(v *viewer) (*api.Consenting, error) {
	text := v.request.PostFormValue("consent_version")
	if text == "" {
		return nil, nil
	}
	version, err := strconv.Atoi(text)
	if err != nil {
		return nil, &refusal{status: http.StatusBadRequest, message: "consent_version: must be a whole number"}
	}
	return &api.Consenting{Version: version, Locale: v.request.PostFormValue("consent_locale")}, nil
}

func enrolForm(v *viewer, studies []string) g.Node {
	return h.Details(h.ID("enrol"), g.If(v.problem != "" && v.value("query") == "" || v.query("enrol") != "", g.Attr("open")), h.Summary(g.Text("Enrol a person")),
		postForm("people", h.Class("stack"),
			field("phone", "Phone number", h.Input(h.ID("phone"), h.Name("phone"), h.Type("tel"), h.Required(), h.Value(v.value("phone")))),
			field("name", "Name", h.Input(h.ID("name"), h.Name("name"), h.MaxLength("100"), h.Value(v.value("name")))),
			field("timezone", "Time zone, such as America/New_York", h.Input(h.ID("timezone"), h.Name("timezone"), h.Value(v.value("timezone")))),
			studyField(v, studies), consentFields(v, studies),
			h.Div(h.Label(h.Input(h.Type("checkbox"), h.Name("signup"), h.Value("yes"), g.If(v.value("signup") != "", h.Checked())),
				g.Text(" They have just signed up themselves: greet them at once"))),
			h.Button(h.Type("submit"), g.Text("Enrol")),
		))
}

func enrolPerson(v *viewer) (string, error) {
	body := api.NewParticipant{Phone: v.request.PostFormValue("phone"), PersonTexts: models.PersonTexts[string]{Name: v.request.PostFormValue("name")}, Signup: v.request.PostFormValue("signup") != "", Study: v.request.PostFormValue("study")}
	var err error
	if body.Consent, err = consentOf(v); err != nil {
		return "", err
	}
	if zone := v.request.PostFormValue("timezone"); zone != "" {
		body.Timezone = &zone
	}
	p, err := send[api.Participant](v, api.Request{Method: http.MethodPost, Path: participantsPath, Body: body})
	return "people/" + p.ID, err
}
