package console

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/screening"
	"coachline/models"
	"coachline/models/wire"
)

// showAlert is the page of an alert: the message, who wrote it, what was recognised, and
// that an operator sees to it.
func showAlert(v *viewer) (page, error) {
	alert, err := readAlert(v, v.path("id"))
	if err != nil {
		return page{}, err
	}
	who := h.A(h.Href(Path+"people/"+alert.ParticipantID), g.Text("participant "+alert.ParticipantID))
	if alert.ParticipantID == "" {
		who = g.Text(alert.Phone + ", which is not enrolled. The coach does not answer it; it got the safety text with the numbers to call, unless it had opted out. Call the number, or whom your protocol names.")
	}
	return page{title: "Alert", body: []g.Node{
		h.H1(g.Text("A message that may be a crisis")),
		h.P(g.Text("Written "+ageOf(&alert.CreatedAt, v.now)+", "), instantOf(&alert.CreatedAt, time.UTC), g.Text(" UTC, by "), who),
		h.BlockQuote(g.Text(alert.Text)),
		recognised(alert),
		acknowledgement(v, alert.Alert),
		markForm(v, alert.Alert),
	}}, nil
}

func readAlert(v *viewer, id string) (models.AlertMessage, error) {
	return get[models.AlertMessage](v, "/alerts/"+url.PathEscape(id)+"/message", nil)
}

// recognised says which words raised an alert, and what judged them.
func recognised(a models.AlertMessage) g.Node {
	by := "rule " + a.Rule
	switch a.Rule {
	case screening.RuleScore:
		by = "the score of these words, " + strconv.FormatFloat(a.Score, 'f', 1, 64)
	case screening.RuleLanguage:
		by = "no rule reads its language, so a model did"
	}
	return h.P(g.Text("Recognised: "), g.If(a.Words != "", g.Group{h.Mark(g.Text(a.Words)), g.Text(" ")}), g.Text("("+by+")."),
		g.If(a.LookReason != "", g.Text(" Second look: "+a.LookReason+".")))
}

// acknowledgement says who sees to an alert, or asks the viewer to.
func acknowledgement(v *viewer, a models.Alert) g.Node {
	if a.AcknowledgedBy != "" {
		return h.P(g.Text(a.AcknowledgedBy+" acknowledged the alert "), instantOf(a.AcknowledgedAt, time.UTC), g.Text(" UTC."))
	}
	if !v.can(auth.AttentionClear) {
		return nil
	}
	return postForm("alerts/"+a.ID, h.Class("stack"),
		h.P(g.Text("Your name is kept with the alert, and it does not page a second time.")),
		h.Button(h.Type("submit"), g.Text("Acknowledge: I see to it")))
}

// markForm says how an alert was judged, and lets the viewer judge it with one click.
func markForm(v *viewer, a models.Alert) g.Node {
	verdict := func(mark models.AlertMark, label string) g.Node {
		return g.If(a.Mark != mark, h.Button(h.Type("submit"), h.Name("mark"), h.Value(string(mark)), g.Text(label)))
	}
	return g.Group{
		g.If(a.Mark != "", h.P(g.Text("Judged as "+string(a.Mark)+" by "+a.MarkedBy+"."))),
		g.If(v.can(auth.AlertMark), postForm("alerts/"+a.ID+"/mark",
			verdict(models.MarkWrong, "It was wrong: prompts go on"), g.Text(" "), verdict(models.MarkRight, "It was right"))),
	}
}

func acknowledgeAlert(v *viewer) (string, error) {
	id := v.path("id")
	_, err := send[models.Alert](v, api.Request{Method: http.MethodPost, Path: "/alerts/" + url.PathEscape(id) + "/acknowledge"})
	v.notice = "The alert is acknowledged"
	return "alerts/" + url.PathEscape(id), err
}

// markAlert keeps the viewer's judgement, and shows the person again.
func markAlert(v *viewer) (string, error) {
	mark := models.AlertMark(v.formValue("mark"))
	marked, err := send[models.Alert](v, api.Request{Method: http.MethodPost, Path: "/alerts/" + url.PathEscape(v.path("id")) + "/mark", Body: api.AlertMarking{Mark: mark}})
	v.notice = "The alert is marked as " + string(mark)
	if marked.ParticipantID == "" {
		return "alerts/" + url.PathEscape(v.path("id")), err
	}
	return "people/" + url.PathEscape(marked.ParticipantID), err
}

// mostAlerts is how many alerts the page of a person shows.
const mostAlerts = 5

// alerts are the open alerts of a person with what raised them.
func (p *person) alerts() g.Node {
	v := p.viewer
	if p.Attention != wire.AttentionCrisis || !v.can(auth.AttentionRead) || !v.can(auth.PersonalRead) {
		return nil
	}
	listed, err := get[api.AlertPage](v, "/alerts", url.Values{"participant": {p.ID}, "limit": {strconv.Itoa(mostAlerts)}})
	if err != nil {
		return h.P(h.Class("problem"), g.Text("The alerts cannot be read now."))
	}
	var items []g.Node
	for _, a := range listed.Alerts {
		if a.ClearedAt != nil || a.Look == models.LookNone {
			continue
		}
		message, err := readAlert(v, a.ID)
		if err != nil {
			message.Alert = a
		}
		items = append(items, h.Li(idOf("alert", a.ID), h.A(h.Href(Path+"alerts/"+a.ID), g.Text("Alert ")), instantOf(&a.CreatedAt, p.zone), recognised(message), markForm(v, a)))
	}
	return g.If(len(items) > 0, h.Section(h.ID("alerts"), h.H2(g.Text("Open alerts")), h.Ul(items...)))
}
