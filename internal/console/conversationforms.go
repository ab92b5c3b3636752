package console

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
	"coachline/models/wire"
)

// action is a form that does one thing to a person.
type action struct {
	// name is the end of its route; key tells forms of one route apart.
	name, key string
	title     string
	needs     auth.Permission
	// says is what it will do.
	says   string
	button string
	danger bool
	fields []g.Node
	// previews offers a step before that shows what it will do.
	previews bool
	// seen is what the form is about as the page showed it, which is compared when
	// the form is sent; empty: not compared.
	seen string
}

// isRefused reports whether the form was sent and refused.
func (p *person) isRefused(name, key string) bool {
	v := p.viewer
	return v.problem != "" && path.Base(v.request.URL.Path) == name && v.value("key") == key
}

// refillField returns what a field held where its form was refused, otherwise its value.
func (p *person) refillField(form, field, value string) string {
	if p.isRefused(form, "") {
		return p.viewer.value(field)
	}
	return value
}

func (p *person) form(a action) g.Node {
	if !p.viewer.can(a.needs) {
		return nil
	}
	return h.Details(h.ID("do-"+a.name+a.key), g.If(p.isRefused(a.name, a.key), g.Attr("open")), h.Summary(g.Text(a.title)), p.formBody(a))
}

func (p *person) formBody(a action) g.Node {
	if !p.viewer.can(a.needs) {
		return nil
	}
	id, reason := a.name+a.key+"-reason", ""
	if p.isRefused(a.name, a.key) {
		reason = p.viewer.value("reason")
	}
	return postForm(p.viewer.personPath()+"/"+a.name, h.Class("stack"),
		h.P(h.ID(id+"-says"), g.Text(a.says)),
		g.If(a.key != "", hidden("key", a.key)), g.If(a.seen != "", hidden("seen", a.seen)),
		g.Group(a.fields),
		field(id, "Reason (kept in the audit)", h.Input(h.ID(id), h.Name("reason"), h.Required(), h.MaxLength("500"), h.Aria("describedby", id+"-says"), h.Value(reason))),
		g.If(a.previews, h.Button(h.Type("submit"), h.Name("step"), h.Value(stepPreview), h.Class("plain"), g.Text("Show what it does"))),
		h.Button(h.Type("submit"), g.If(a.danger, h.Class("danger")), g.Text(a.button)),
	)
}

// maySend reports whether the viewer may write to the person.
func (p *person) maySend() bool {
	return p.viewer.can(auth.MessageSend) && p.Status != wire.StatusOptedOut
}

// sendForm writes to the person. The key makes a form that is sent twice one
// message.
func (p *person) sendForm() g.Node {
	v := p.viewer
	if p.Status == wire.StatusOptedOut && v.can(auth.MessageSend) {
		return h.P(h.Class("quiet"), g.Text("The person has opted out; nothing may be sent until they text START."))
	}
	if !p.maySend() {
		return nil
	}
	return postForm(v.personPath()+"/send", h.Class("stack"), h.ID("send"),
		hidden("id", p.refillField("send", "id", rand.Text())),
		field("body", "Message", h.Textarea(h.ID("body"), h.Name("body"), h.Required(), h.MaxLength("1600"), h.Aria("describedby", "body-says"), g.Text(p.refillField("send", "body", "")))),
		hint("body-says", "Goes out at once as the programme's own message, also in quiet hours; the coach reads it as part of the conversation."),
		p.forceChoice("send", "Send it all the same"),
		h.Button(h.Type("submit"), g.Text("Send")),
	)
}

// forceChoice asks before something is done in a conversation that another operator
// has, or has just written in.
func (p *person) forceChoice(form, label string) g.Node {
	taken := p.TakenOver
	others := taken != nil && taken.By != p.viewer.who.Actor && taken.By != models.TakenOverByAlert
	asked := p.isRefused(form, "") && strings.HasPrefix(p.viewer.problem, "force: ")
	if !others && !asked {
		return nil
	}
	if others {
		label = taken.By + " has this conversation. " + label
	}
	id := form + "-force"
	return h.Div(h.ID(id+"-choice"), h.Label(h.Input(h.Type("checkbox"), h.ID(id), h.Name("force"), h.Value("yes"), g.If(others, h.Required())), g.Text(" "+label)))
}

// actions are the forms that change something.
func (p *person) actions() g.Node {
	forms := []g.Node{p.attentionForm(), p.takeOverForms(), p.pauseForm(), p.changeForm(), p.phoneForm(), p.modeForm()}
	if p.Status != wire.StatusOptedOut {
		forms = append(forms, p.form(action{name: "optout", title: "Record an opt-out", needs: auth.ParticipantChange, danger: true, button: "Record the opt-out",
			says: "For a person who said by another way that they want no more messages. Nothing more is sent, not even a confirmation; only the person can come back, by texting START."}))
	}
	forms = append(forms, p.form(action{name: "remove", title: "Remove from the programme", needs: auth.ParticipantRemove, danger: true, button: "Remove",
		says: "Coaching ends for good and a closing notice goes out. The person leaves the lists; the number may be enrolled again.", fields: []g.Node{p.versionField("remove")}}), p.dataLink(), p.eraseForm())
	return h.Section(h.ID("actions"), h.H2(g.Text("Actions")), g.Group(forms))
}

func (p *person) attentionForm() g.Node {
	if p.Attention == "" {
		return nil
	}
	return p.form(action{name: "attention", title: "Mark as handled: " + strings.ToLower(labelOf(attentionOptions(), string(p.Attention))), needs: auth.AttentionClear, button: "Mark as handled", seen: attentionSeen(p.Participant),
		says: "Closes all that is open for this person; daily prompts continue at their next time.",
		fields: []g.Node{field("note", "What was done (kept sealed with the alert)",
			h.Textarea(h.ID("note"), h.Name("note"), h.MaxLength("2000"), g.Text(p.refillField("attention", "note", ""))))}})
}

// waitingChoice asks what becomes of messages that came during a pause.
func (p *person) waitingChoice(form string) g.Node {
	chosen := p.refillField(form, "waiting", "")
	radio := func(value, label string) g.Node {
		return h.Div(h.Label(h.Input(h.Type("radio"), h.Name("waiting"), h.Value(value), h.Required(), g.If(chosen == value, h.Checked())), g.Text(" "+label)))
	}
	return h.FieldSet(h.Legend(g.Text("Messages that came meanwhile")),
		radio(string(models.WaitingAnswer), "Have the coach answer them"), radio(string(models.WaitingRead), "Count them as read"))
}

// versionField is the version of the person that a form was drawn from. Of a
// refused form it is the newest, whose differences the page shows.
func (p *person) versionField(form string) g.Node {
	return h.Input(h.Type("hidden"), h.ID(form+"-version"), h.Name("version"), h.Value(strconv.FormatInt(p.Version, 10)))
}

// detail is a field of a person that may be changed as a text.
type detail struct {
	name, label, value string
	max                string
}

func (p *person) details() []detail {
	return []detail{
		{"name", "Name", p.Name, "100"}, {"timezone", "Time zone", p.Timezone, "64"},
		{"locale", "Locale", p.Locale, "35"}, {"background", "Background", p.Background, "2000"},
	}
}

// changeForm changes what is known of a person from elsewhere. It keeps what each
// field was, so that only what was edited is sent and a change of another operator
// is shown.
func (p *person) changeForm() g.Node {
	if !p.viewer.can(auth.PersonalRead) {
		return nil
	}
	fields := []g.Node{p.versionField("change"), p.differences()}
	for _, d := range p.details() {
		id, value := "change-"+d.name, p.refillField("change", d.name, d.value)
		control := h.Input(h.ID(id), h.Name(d.name), h.MaxLength(d.max), h.Value(value))
		if d.name == "background" {
			control = h.Textarea(h.ID(id), h.Name(d.name), h.MaxLength(d.max), g.Text(value))
		}
		fields = append(fields, h.Input(h.Type("hidden"), h.ID(id+"-was"), h.Name("was_"+d.name), h.Value(d.value)), field(id, d.label, control))
	}
	return p.form(action{name: "change", title: "Change name, time zone, locale or background", needs: auth.ParticipantChange, button: "Save",
		says: "The coach uses the new words from its next message on; daily prompts move with the time zone.", fields: fields})
}

// differences lists what another operator has changed since a refused form was
// drawn.
func (p *person) differences() g.Node {
	if !p.isRefused("change", "") {
		return nil
	}
	var lines []g.Node
	for _, d := range p.details() {
		if was := p.viewer.value("was_" + d.name); was != d.value {
			lines = append(lines, h.Li(g.Text(d.label+" was "+strconv.Quote(was)+" and is now "+strconv.Quote(d.value)+".")))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return h.Div(h.Class("failure"), h.P(g.Text("Changed meanwhile:")), h.Ul(lines...))
}

func (p *person) phoneForm() g.Node {
	if !p.viewer.can(auth.PersonalRead) {
		return nil
	}
	return p.form(action{name: "phone", title: "Change the phone number", needs: auth.ParticipantChange, button: "Change the number",
		says: "Everything more goes to the new number; conversation, prompts and consent stay. The old number is a stranger's from then on.",
		fields: []g.Node{p.versionField("phone"), field("new-phone", "New phone number",
			h.Input(h.ID("new-phone"), h.Name("phone"), h.Type("tel"), h.Required(), h.MaxLength("40"), h.Value(p.refillField("phone", "phone", ""))))}})
}

func (p *person) modeForm() g.Node {
	if !p.Status.Coached() {
		return nil
	}
	chosen := p.refillField("mode", "mode", string(p.Mode))
	return p.form(action{name: "mode", title: "Set the mode", needs: auth.ParticipantChange, button: "Set the mode",
		says: "The coach goes on in this mode after the reply that is under way.",
		fields: []g.Node{field("mode", "Mode", h.Select(h.ID("mode"), h.Name("mode"), g.Map([]wire.Mode{wire.ModeIntake, wire.ModeFeedback}, func(m wire.Mode) g.Node {
			return h.Option(h.Value(string(m)), g.If(chosen == string(m), h.Selected()), g.Text(modeName(m)))
		})))}})
}

func (v *viewer) formValue(name string) string { return v.request.PostFormValue(name) }

func sendMessage(v *viewer) (string, error) {
	_, err := send[api.QueuedMessage](v, api.Request{
		Method: http.MethodPost, Path: v.apiPath() + "/messages", Body: api.NewMessage{Body: v.formValue("body"), Force: v.formValue("force") != ""},
		Header: map[string]string{keyHeader: v.formValue("id")},
	})
	return v.personPath(), err
}

// change sends an update of the person, for the version that the form was drawn
// from where it has one.
func (v *viewer) change(body api.ParticipantChange) (string, error) {
	q := api.Request{Method: http.MethodPut, Path: v.apiPath(), Body: body, Reason: v.formValue("reason")}
	if version := v.formValue("version"); version != "" {
		q.Header = map[string]string{"If-Match": strconv.Quote(version)}
	}
	_, err := send[api.Participant](v, q)
	return v.personPath(), explainStale(err)
}

// stale says that another was first.
const stale = "somebody else has changed this person since you opened the form; look at what is different now and send it again"

// explainStale says in words of the page that another was first.
func explainStale(err error) error {
	if isRefusal(err, http.StatusPreconditionFailed) {
		return &refusal{status: http.StatusPreconditionFailed, message: stale}
	}
	return err
}

func changePerson(v *viewer) (string, error) {
	edited := func(name string) *string {
		if value := v.formValue(name); value != v.formValue("was_"+name) {
			return &value
		}
		return nil
	}
	return v.change(api.ParticipantChange{ParticipantPatch: models.ParticipantPatch{
		PersonTexts: models.PersonTexts[*string]{Name: edited("name"), Background: edited("background")}, Timezone: edited("timezone"), Locale: edited("locale"),
	}})
}

func changeNumber(v *viewer) (string, error) {
	phone := v.formValue("phone")
	return v.change(api.ParticipantChange{ParticipantPatch: models.ParticipantPatch{Phone: &phone}})
}

func (v *viewer) setStatus(status wire.Status, notice string) (string, error) {
	v.notice = notice
	return v.change(api.ParticipantChange{ParticipantPatch: models.ParticipantPatch{Status: &status}, Waiting: models.WaitingAction(v.formValue("waiting"))})
}

func resumePerson(v *viewer) (string, error) {
	return v.setStatus(wire.StatusActive, "Resumed")
}

func recordOptOut(v *viewer) (string, error) {
	return v.setStatus(wire.StatusOptedOut, "Opt-out recorded")
}

func settleWaiting(v *viewer) (string, error) {
	v.notice = "Settled"
	return v.change(api.ParticipantChange{Waiting: models.WaitingAction(v.formValue("waiting"))})
}

func setMode(v *viewer) (string, error) {
	body := api.ModeChange{Target: wire.Mode(v.formValue("mode")), Reason: v.formValue("reason")}
	_, err := send[api.ModeChanged](v, api.Request{Method: http.MethodPost, Path: v.apiPath() + "/mode", Body: body, Reason: v.formValue("reason")})
	return v.personPath(), err
}

// attentionSeen names a call for attention as a page shows it.
func attentionSeen(p api.Participant) string {
	return fmt.Sprint(p.Attention, " ", stampOf(p.AttentionAt))
}

// stampOf tells instants apart; empty for none.
func stampOf(at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// checkSeen refuses a form where what it is about is no longer what its page showed.
func (v *viewer) checkSeen(now func(api.Participant) string) error {
	row, err := get[api.Participant](v, v.apiPath(), nil)
	if err == nil && v.formValue("seen") != now(row) {
		return &refusal{status: http.StatusPreconditionFailed, message: stale}
	}
	return err
}

func clearAttention(v *viewer) (string, error) {
	if err := v.checkSeen(attentionSeen); err != nil {
		return "", err
	}
	body := api.AttentionClearing{Clear: true, Note: v.formValue("note")}
	_, err := send[api.AttentionCleared](v, api.Request{Method: http.MethodPost, Path: v.apiPath() + "/attention", Body: body, Reason: v.formValue("reason")})
	v.notice = "Marked as handled"
	return v.personPath(), err
}

func forgetFacts(v *viewer) (string, error) {
	target := v.apiPath() + "/memories"
	if key := v.formValue("key"); key != "all" {
		target += "/" + key
	}
	_, err := send[api.Forgotten](v, api.Request{Method: http.MethodDelete, Path: target, Reason: v.formValue("reason")})
	v.notice = "Forgotten"
	return v.personPath(), err
}

func removePerson(v *viewer) (string, error) {
	_, err := send[api.Removed](v, api.Request{Method: http.MethodDelete, Path: v.apiPath(), Reason: v.formValue("reason"),
		Header: map[string]string{"If-Match": strconv.Quote(v.formValue("version"))}})
	return "people", explainStale(err)
}
