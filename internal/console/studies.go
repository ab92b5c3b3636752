package console

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/export"
	"coachline/models"
)

const studiesPath = "/studies"

func (c *Console) registerStudies(mux *http.ServeMux) {
	c.page(mux, "studies", showStudies)
	c.action(mux, "studies", addStudy, showStudies)
	c.page(mux, "studies/{id}", showStudy)
	c.page(mux, "studies/{id}/progress", showProgress)
	mux.HandleFunc("GET "+Path+"studies/{id}/export", c.exportStudy)
	c.action(mux, "studies/{id}/state", changeStudyState, showStudy)
	c.action(mux, "studies/{id}/settings", changeStudySettings, showStudy)
	c.action(mux, "studies/{id}/consent-texts", addConsentText, showStudy)
}

// showStudies lists the studies and asks for a new one.
func showStudies(v *viewer) (page, error) {
	list, err := get[api.StudyList](v, studiesPath, nil)
	if err != nil {
		return page{}, err
	}
	return page{title: "Studies", section: "studies", body: []g.Node{
		h.H1(g.Text("Studies")),
		h.P(g.Text("People belong to one study for ever. The study default follows the installation's configuration.")),
		h.Div(h.Class("scroll"), h.Role("region"), h.Aria("label", "Studies"), h.TabIndex("0"), h.Table(
			h.THead(h.Tr(g.Map([]string{"Study", "Name", "State", "Planned", "Arms", "Starts", "Ends"}, func(label string) g.Node { return h.Th(h.Scope("col"), g.Text(label)) }))),
			h.TBody(g.Map(list.Studies, func(s api.Study) g.Node {
				return h.Tr(h.Th(h.Scope("row"), h.A(h.Href(Path+"studies/"+s.ID), g.Text(s.ID))), h.Td(g.Text(s.Name)), h.Td(g.Text(string(s.State))),
					h.Td(g.Text(plannedOf(s))), h.Td(g.Text(strconv.Itoa(len(s.Settings.Arms)))),
					h.Td(instantOf(s.StartsAt, time.UTC)), h.Td(instantOf(s.EndsAt, time.UTC)))
			})),
		)),
		g.Iff(v.can(auth.StudyChange), func() g.Node { return newStudyForm(v) }),
	}}, nil
}

func plannedOf(s api.Study) string {
	if s.Planned == 0 {
		return "–"
	}
	return strconv.Itoa(s.Planned)
}

func newStudyForm(v *viewer) g.Node {
	return h.Details(g.If(v.problem != "", g.Attr("open")), h.Summary(g.Text("Add a study")),
		h.P(g.Text("It begins as a draft: nobody can be enrolled before it recruits.")),
		postForm("studies", h.Class("stack"),
			field("id", "Id, such as sleep-2026 (it never changes)", h.Input(h.ID("id"), h.Name("id"), h.Required(), h.Pattern("[a-z][a-z0-9-]{1,39}"), h.Value(v.value("id")))),
			field("name", "Name", h.Input(h.ID("name"), h.Name("name"), h.Required(), h.MaxLength("100"), h.Value(v.value("name")))),
			field("planned", "People who are to take part", h.Input(h.ID("planned"), h.Name("planned"), h.Type("number"), h.Min("0"), h.Value(v.value("planned")))),
			h.Button(h.Type("submit"), g.Text("Add the study")),
		))
}

func addStudy(v *viewer) (string, error) {
	body := api.NewStudy{ID: v.request.PostFormValue("id"), Name: v.request.PostFormValue("name")}
	if text := v.request.PostFormValue("planned"); text != "" {
		planned, err := strconv.Atoi(text)
		if err != nil {
			return "", &refusal{status: http.StatusBadRequest, message: "planned: must be a whole number"}
		}
		body.Planned = planned
	}
	s, err := send[api.Study](v, api.Request{Method: http.MethodPost, Path: studiesPath, Body: body})
	return "studies/" + s.ID, err
}

func studyAPI(v *viewer) string { return studiesPath + "/" + url.PathEscape(v.path("id")) }

// showStudy is one study: its state, settings and consent texts.
func showStudy(v *viewer) (page, error) {
	s, err := get[api.Study](v, studyAPI(v), nil)
	if err != nil {
		return page{}, err
	}
	texts, err := get[api.ConsentTextList](v, studyAPI(v)+"/consent-texts", nil)
	if err != nil {
		return page{}, err
	}
	joins, err := get[api.JoinList](v, studyAPI(v)+"/joins", nil)
	if err != nil {
		return page{}, err
	}
	settings, err := json.MarshalIndent(s.Settings, "", "  ")
	if err != nil {
		return page{}, err
	}
	canChange := v.can(auth.StudyChange)
	return page{title: s.Name, section: "studies", body: []g.Node{
		h.H1(g.Text(s.Name)),
		h.P(g.Text(fmt.Sprintf("Study %s is %s. %s", s.ID, s.State, describeStudyState(s.State)))),
		h.P(h.A(h.Href(Path+"studies/"+s.ID+"/progress"), g.Text("Progress")), g.Text(" · "),
			h.A(h.Href(Path+"studies"), g.Text("All studies"))),
		g.Iff(v.can(auth.ExportRead), func() g.Node { return exportForm(v, s.ID) }),
		g.Iff(canChange, func() g.Node { return stateForms(v, s) }),
		h.H2(g.Text("Settings")),
		h.P(g.Text("What the study changes about the installation's configuration. Arms, randomisation and decision points are fixed once people are enrolled.")),
		describeSettings(s.Settings),
		h.Details(h.Summary(g.Text("The settings as JSON")),
			h.Pre(h.TabIndex("0"), h.Aria("label", "The settings as JSON"), h.Code(g.Text(string(settings))))),
		g.Iff(canChange, func() g.Node { return settingsForm(v, s, string(settings)) }),
		h.H2(g.Text("Consent texts")),
		g.If(len(texts.Texts) == 0, h.P(g.Text("There is none yet."))),
		g.Map(texts.Texts, func(text models.ConsentText) g.Node {
			return h.Details(h.Summary(g.Text(fmt.Sprintf("%s, version %d, %s", text.Locale, text.Version, text.CreatedAt.Format(time.DateOnly)))),
				h.P(h.Class("prewrap"), g.Text(text.Body)))
		}),
		g.Iff(canChange, func() g.Node { return consentTextForm(v, s) }),
		joinsTable(joins),
	}}, nil
}

// joinsTable shows who asked to join by keyword or form; nothing where there is none.
func joinsTable(list api.JoinList) g.Node {
	if len(list.Joins) == 0 {
		return nil
	}
	return g.Group{
		h.H2(g.Text("Joins by keyword or form")),
		h.P(g.Text(fmt.Sprintf("%d wait for a yes, %d are enrolled, %d did not answer, %d declined, %d were refused.", list.Counts[string(models.JoinPending)],
			list.Counts[string(models.JoinEnrolled)], list.Counts[string(models.JoinExpired)], list.Counts[string(models.JoinDeclined)], list.Counts[string(models.JoinRefused)]))),
		h.Div(h.Class("scroll"), h.Role("region"), h.Aria("label", "Joins"), h.TabIndex("0"), h.Table(
			h.THead(h.Tr(g.Map([]string{"Asked", "State", "Reason", "By", "Language", "Delivery", "Participant"}, func(label string) g.Node { return h.Th(h.Scope("col"), g.Text(label)) }))),
			h.TBody(g.Map(list.Joins, func(j models.Join) g.Node {
				person := g.Text("–")
				if j.ParticipantID != "" {
					person = h.A(h.Href(Path+"people/"+j.ParticipantID), g.Text(j.ParticipantID))
				}
				return h.Tr(h.Td(instantOf(&j.CreatedAt, time.UTC)), h.Td(g.Text(string(j.State))), h.Td(g.Text(j.Reason)), h.Td(g.Text(strings.TrimSpace(string(j.Method)+" "+j.Keyword))),
					h.Td(g.Text(j.Locale)), h.Td(g.Text(strings.TrimSpace(string(j.Delivery)+" "+j.ErrorCode))), h.Td(person))
			})),
		)),
	}
}

func describeStudyState(s models.StudyState) string {
	switch s {
	case models.StudyDraft:
		return "Nobody can be enrolled yet."
	case models.StudyRecruiting:
		return "People can be enrolled."
	case models.StudyRunning:
		return "Nobody new is enrolled; those who are go on."
	case models.StudyClosed:
		return "It starts no messages of its own; people who write are answered."
	case models.StudyArchived:
		return "It is kept for its records."
	}
	return ""
}

// stateForms are the states that can follow.
func stateForms(v *viewer, s api.Study) g.Node {
	return g.Map(models.StudyStates(), func(next models.StudyState) g.Node {
		if !s.State.CanFollow(next) {
			return nil
		}
		id := "reason-" + string(next)
		return h.Details(h.Summary(g.Text("Set the state to "+string(next))),
			h.P(g.Text(describeStudyState(next))),
			postForm("studies/"+s.ID+"/state", h.Class("stack"),
				hidden("state", string(next)), reasonField(v, id),
				h.Button(h.Type("submit"), g.Text("Set to "+string(next)))))
	})
}

func changeStudyState(v *viewer) (string, error) {
	state := models.StudyState(v.request.PostFormValue("state"))
	_, err := send[api.Study](v, api.Request{Method: http.MethodPut, Path: studyAPI(v), Body: api.StudyChange{State: &state}, Reason: v.request.PostFormValue("reason")})
	return "studies/" + v.path("id"), err
}

func settingsForm(v *viewer, s api.Study, settings string) g.Node {
	if typed := v.value("settings"); typed != "" {
		settings = typed
	}
	return h.Details(g.If(v.value("settings") != "", g.Attr("open")), h.Summary(g.Text("Change the settings")),
		postForm("studies/"+s.ID+"/settings", h.Class("stack"),
			hidden("version", strconv.FormatInt(s.Version, 10)),
			field("settings", "Settings as JSON", h.Textarea(h.ID("settings"), h.Name("settings"), h.Rows("16"), h.Required(), g.Text(settings))),
			reasonField(v, "reason-settings"),
			h.Button(h.Type("submit"), g.Text("Change the settings"))))
}

// changeStudySettings replaces the settings of the version that the form showed.
func changeStudySettings(v *viewer) (string, error) {
	var settings json.RawMessage
	if err := json.Unmarshal([]byte(v.request.PostFormValue("settings")), &settings); err != nil {
		return "", &refusal{status: http.StatusBadRequest, message: "settings: " + err.Error()}
	}
	_, err := send[api.Study](v, api.Request{
		Method: http.MethodPut, Path: studyAPI(v), Body: map[string]json.RawMessage{"settings": settings}, Reason: v.request.PostFormValue("reason"),
		Header: map[string]string{"If-Match": v.request.PostFormValue("version")},
	})
	return "studies/" + v.path("id"), err
}

func consentTextForm(v *viewer, s api.Study) g.Node {
	return h.Details(g.If(v.value("body") != "", g.Attr("open")), h.Summary(g.Text("Add a consent text or its next version")),
		h.P(g.Text("From then on people agree to the new version; what others agreed to stays on record.")),
		postForm("studies/"+s.ID+"/consent-texts", h.Class("stack"),
			field("locale", "Language, such as en", h.Input(h.ID("locale"), h.Name("locale"), h.Required(), h.Value(v.value("locale")))),
			field("body", "Text", h.Textarea(h.ID("body"), h.Name("body"), h.Rows("10"), h.Required(), g.Text(v.value("body")))),
			h.Button(h.Type("submit"), g.Text("Add the text"))))
}

func addConsentText(v *viewer) (string, error) {
	body := api.NewConsentText{Locale: v.request.PostFormValue("locale"), Body: v.request.PostFormValue("body")}
	_, err := send[models.ConsentText](v, api.Request{Method: http.MethodPost, Path: studyAPI(v) + "/consent-texts", Body: body})
	return "studies/" + v.path("id"), err
}

// exportForm asks for a download of the study's tables.
func exportForm(v *viewer, study string) g.Node {
	return h.Details(h.Summary(g.Text("Export")),
		h.P(h.Class("quiet"), g.Text("A zip archive of tables under pseudonyms, without names or numbers"),
			g.If(!v.can(auth.AllocationRead), g.Text(", and without arms")),
			g.If(!v.can(auth.AuditRead), g.Text(", and without the audit")), g.Text(". Each download is in the audit.")),
		h.Form(h.Method("get"), h.Action(Path+"studies/"+study+"/export"), h.Class("stack"),
			field("format", "Files of the tables", h.Select(h.ID("format"), h.Name("format"), g.Map(export.Formats(), func(f export.Format) g.Node {
				return h.Option(h.Value(string(f)), g.Text(exportLabels[f]))
			}))),
			g.Iff(v.can(auth.PersonalRead), func() g.Node {
				return h.Div(h.Label(h.Input(h.Type("checkbox"), h.Name("texts"), h.Value("true")), g.Text(" With what was written; numbers, addresses and codes are masked, names are not")))
			}),
			h.Button(h.Type("submit"), g.Text("Export as a zip archive"))))
}

var exportLabels = map[export.Format]string{
	export.FormatCSV: "CSV, with loaders for Python and R", export.FormatParquet: "Parquet", export.FormatBoth: "Both",
}

// exportStudy lets the API write the archive to the browser.
func (c *Console) exportStudy(w http.ResponseWriter, r *http.Request) {
	v, ok := c.viewerOf(w, r)
	if !ok {
		return
	}
	request, err := newCall(v, api.Request{Method: http.MethodGet, Path: studyAPI(v) + "/export", Query: r.URL.Query()})
	if err != nil {
		c.explain(w, v, err)
		return
	}
	c.cfg.API.ServeHTTP(w, request)
}

type fact struct{ name, value string }

func factsList(all []fact) g.Node {
	return h.Dl(h.Class("facts"), g.Map(all, func(one fact) g.Node {
		if one.value == "" {
			return nil
		}
		return g.Group{h.Dt(g.Text(one.name)), h.Dd(g.Text(one.value))}
	}))
}

// describeSettings says what a study changes of the configuration, and how it
// randomises.
func describeSettings(s models.StudySettings) g.Node {
	facts := []fact{
		{"Programme", s.Programme}, {"Help from a person", s.Support}, {"Terms", s.TermsURL}, {"Page about safety", s.SafetyURL}, {"Minors", map[bool]string{false: "may take part"}[s.IsForAdults()]}, {"Sends from", s.From}, {"Messaging service", s.MessagingService},
		{"Languages", strings.Join(s.Locales, ", ")}, {"Close-out text", s.CloseOut},
	}
	for _, locale := range slices.Sorted(maps.Keys(s.CloseOuts)) {
		facts = append(facts, fact{"Close-out text, " + locale, s.CloseOuts[locale]})
	}
	if s.RequireConsent {
		facts = append(facts, fact{"Consent", "needed before a person is enrolled"})
	}
	facts = append(facts, overlayFacts(s.StudyOverlay)...)
	if !hasValue(facts) && len(s.Join) == 0 && len(s.Arms) == 0 && s.DecisionPoints == nil {
		return h.P(g.Text("None: the study follows the configuration and has no arms."))
	}
	return g.Group{
		factsList(facts),
		g.Iff(len(s.Join) > 0, func() g.Node {
			return tableOf("Joining by text", []string{"Keyword", "Language", "About", "Consent text"}, g.Map(s.Join, func(j models.StudyJoin) g.Node {
				return h.Tr(h.Th(h.Scope("row"), g.Text(j.Keyword)), h.Td(g.Text(j.Locale)), h.Td(g.Text(j.About)), h.Td(g.Text(orText(j.Link, "sent by text"))))
			}))
		}),
		g.Iff(len(s.Arms) > 0, func() g.Node { return describeArms(s) }),
		g.Iff(s.DecisionPoints != nil, func() g.Node { return describeDecisionPoints(*s.DecisionPoints) }),
	}
}

func hasValue(facts []fact) bool {
	for _, one := range facts {
		if one.value != "" {
			return true
		}
	}
	return false
}

func orText(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

func overlayFacts(o models.StudyOverlay) []fact {
	return []fact{
		{"Model", o.Model}, {"Small model", o.SmallModel}, {"Judging of drafts", o.AdviceCheck}, {"Folder of prompts", o.PromptsDir},
		{"Tools that are off", strings.Join(o.ToolsOff, ", ")}, {"Quiet hours", o.QuietHours},
		{"Reminders", onOrOff(o.Reminders)}, {"Reminder after", o.ReminderDelay}, {"Check-ins", onOrOff(o.CheckIns)},
		{"Messages that the model reads", readable(o.HistoryLimit)},
		{"The same while a prompt is talked about", readable(o.FeedbackHistory)},
		{"Texts a day at most", perDay(o.MaxPerDay)}, {"Fewer texts after silence", onOrOff(o.BackOff)},
	}
}

func readable(limit *int) string {
	switch {
	case limit == nil:
		return ""
	case *limit < 0:
		return "all"
	}
	return fmt.Sprint(*limit)
}

func perDay(most *int) string {
	switch {
	case most == nil:
		return ""
	case *most == 0:
		return "no limit"
	}
	return strconv.Itoa(*most)
}

func onOrOff(set *bool) string {
	switch {
	case set == nil:
		return ""
	case *set:
		return "on"
	}
	return "off"
}

// describeArms lists the arms with the share of each, and how people are
// allocated to them.
func describeArms(s models.StudySettings) g.Node {
	total := 0
	for _, arm := range s.Arms {
		total += arm.Weight
	}
	rows := g.Map(s.Arms, func(arm models.StudyArm) g.Node {
		var differs []string
		for _, one := range overlayFacts(arm.Overlay) {
			if one.value != "" {
				differs = append(differs, one.name+": "+one.value)
			}
		}
		return h.Tr(h.Th(h.Scope("row"), g.Text(arm.Name)), h.Td(g.Text(fmt.Sprintf("%d of %d", arm.Weight, total))),
			h.Td(g.Text(orText(strings.Join(differs, "; "), "nothing"))))
	})
	strata := g.Map(s.Randomisation.Strata, func(one models.Stratum) g.Node {
		return h.Tr(h.Th(h.Scope("row"), g.Text(one.Name)), h.Td(g.Text(strings.Join(one.Levels, ", "))))
	})
	return g.Group{
		h.H3(g.Text("Arms")),
		h.P(g.Text("People are allocated by " + describeMethod(s.Randomisation.Method) + ".")),
		tableOf("Arms", []string{"Arm", "Share", "What differs"}, rows),
		g.Iff(len(strata) > 0, func() g.Node { return tableOf("Strata", []string{"Stratum", "Levels"}, strata) }),
	}
}

func describeMethod(m models.RandomisationMethod) string {
	switch m {
	case models.RandomSimple:
		return "simple randomisation"
	case models.RandomBlocks:
		return "permuted blocks"
	case models.RandomMinimisation:
		return "minimisation"
	}
	return string(m)
}

// describeDecisionPoints says how each prompt slot of a person is randomised.
func describeDecisionPoints(d models.DecisionPoints) g.Node {
	chance := func(o models.DecisionOption) string { return strconv.FormatFloat(o.Probability, 'g', -1, 64) }
	rule := "The probabilities are fixed."
	if d.Thompson != nil {
		chance = func(models.DecisionOption) string { return "follows the outcomes" }
		rule = fmt.Sprintf("Thompson sampling sets the probabilities, none below %g.", d.Thompson.ClipOf())
	}
	rows := g.Map(d.Options, func(o models.DecisionOption) g.Node {
		sends := "nothing"
		if o.Send {
			sends = "the prompt"
		}
		return h.Tr(h.Th(h.Scope("row"), g.Text(o.Name)), h.Td(g.Text(chance(o))), h.Td(g.Text(sends)), h.Td(g.Text(o.Instruction)))
	})
	return g.Group{
		h.H3(g.Text("Decision points")),
		h.P(g.Text(fmt.Sprintf("Policy %s. Each prompt slot is randomised; an answer within %d hours counts. %s", d.Policy, d.Hours(), rule))),
		tableOf("Decision points", []string{"Option", "Probability", "Sends", "Instruction"}, rows),
	}
}
