package console

import (
	"cmp"
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
	"coachline/internal/text"
	"coachline/models"
	"coachline/models/wire"
)

// historyPage is how many messages a page of the conversation shows.
const historyPage = 50

// registerConversation adds the conversation of a person, its actions, and why
// the coach said what it said.
func (c *Console) registerConversation(mux *http.ServeMux) {
	c.page(mux, "people/{id}", showPerson)
	c.page(mux, "people/{id}/turns/{n}", showTurn)
	c.page(mux, "people/{id}/erasure", showErasure)
	c.page(mux, "people/{id}/data", showPersonData)
	mux.HandleFunc("GET "+Path+"people/{id}/memory.zip", c.download("/memory/export", ""))
	mux.HandleFunc("GET "+Path+"people/{id}/data.json", c.download("/data", `attachment; filename="data.json"`))
	for name, do := range map[string]func(*viewer) (string, error){
		"send": sendMessage, "change": changePerson, "phone": changeNumber, "pause": pausePerson, "resume": resumePerson,
		"waiting": settleWaiting, "optout": recordOptOut, "mode": setMode, "attention": clearAttention, "forget": forgetFacts,
		"remove": removePerson, "erase": erasePerson, "takeover": takeOver, "handback": handBack,
		"schedule-add": addSchedule, "schedule-change": replaceSchedule, "schedule-remove": removeSchedule, "prompt-move": movePrompt,
	} {
		c.action(mux, "people/{id}/"+name, do, showPerson)
	}
}

// person is what the page of a person is drawn from. What the viewer may not see
// or what cannot be read now is empty.
type person struct {
	api.Participant
	viewer *viewer
	zone   *time.Location
	state  *api.State
	// reason is what they want a human for.
	reason string
}

func (v *viewer) apiPath() string { return participantsPath + "/" + url.PathEscape(v.path("id")) }

func (v *viewer) personPath() string { return "people/" + url.PathEscape(v.path("id")) }

func showPerson(v *viewer) (page, error) {
	row, err := get[api.Participant](v, v.apiPath(), nil)
	if err != nil {
		return page{}, err
	}
	p := &person{Participant: row, viewer: v, zone: zoneOf(row.Timezone)}
	if err := p.readReason(); err != nil {
		return page{}, err
	}
	transcript, err := p.transcript()
	if err != nil {
		return page{}, err
	}
	follow := p.ID
	if v.query("before") != "" {
		follow = "" // an older page does not change
	}
	state := p.readState()
	shown := page{title: nameOf(row), section: "people", follow: follow, body: []g.Node{
		h.H1(bdi(nameOf(row))),
		p.takenOver(),
		p.pauseLine(),
		p.standing(),
		p.alerts(),
		h.Div(h.Class("columns"),
			h.Div(transcript, p.sendForm(), p.actions()),
			h.Div(state, p.waiting(), p.memory(), p.consents(), p.audit(), p.links()),
		),
	}}
	if p.maySend() {
		shown.skipTo, shown.skipLabel = "body", "Skip to the message"
	}
	return shown, nil
}

// readReason reads what the person wants a human for, where that needs an operator.
func (p *person) readReason() error {
	if p.Attention != wire.AttentionPerson || !p.viewer.can(auth.AttentionRead) {
		return nil
	}
	asked, err := get[api.AttentionPage](p.viewer, "/attention", url.Values{"kind": {string(wire.AttentionPerson)}, "participant_id": {p.ID}})
	for _, one := range asked.Attention {
		p.reason = one.Reason
	}
	return err
}

func (p *person) transcript() (g.Node, error) {
	v := p.viewer
	if !v.can(auth.PersonalRead) {
		return h.Section(h.H2(g.Text("Conversation")), h.P(g.Text("Your role may not read messages."))), nil
	}
	query := url.Values{"limit": {strconv.Itoa(historyPage)}}
	if before := v.query("before"); before != "" {
		query.Set("before", before)
	}
	history, err := get[[]models.HistoryEntry](v, v.apiPath()+"/history", query)
	if err != nil {
		return nil, err
	}
	older := ""
	if len(history) == historyPage {
		older = "?before=" + url.QueryEscape(history[0].At.UTC().Format(time.RFC3339Nano))
	}
	return h.Section(h.ID("conversation"), h.H2(g.Text("Conversation")),
		g.If(older != "", h.P(h.A(h.Href(older), g.Text("Older messages")))),
		g.If(len(history) == 0, h.P(h.Class("quiet"), g.Text("No messages."))),
		g.If(len(history) > 0, h.Div(h.Class("newest"), h.Role("region"), h.Aria("label", "Conversation"), h.TabIndex("0"),
			h.Ol(h.Class("transcript"), h.Aria("label", "Messages, oldest first"), g.Map(placeReactions(history), p.message)))),
		g.If(v.query("before") != "", h.P(h.A(h.Href(Path+v.personPath()), g.Text("Newest messages")))),
	), nil
}

// placeReactions puts each tapback behind the message that it quotes.
func placeReactions(list []models.HistoryEntry) []models.HistoryEntry {
	placed := make([]models.HistoryEntry, 0, len(list))
	for _, e := range list {
		at := len(placed)
		if reaction, _ := text.ReadReaction(e.Text); e.Limit == models.LimitReaction && reaction.Quoted != "" {
			for i, other := range slices.Backward(placed) {
				if other.Limit != models.LimitReaction && strings.HasPrefix(text.FoldQuotes(other.Text), reaction.Quoted) {
					at = i + 1
					break
				}
			}
			for at < len(placed) && placed[at].Limit == models.LimitReaction {
				at++
			}
		}
		placed = slices.Insert(placed, at, e)
	}
	return placed
}

func (p *person) message(e models.HistoryEntry) g.Node {
	class, at, body := "message", e.At, e.Text
	if e.Role == models.RoleAssistant {
		class += " ours"
	}
	if e.Unreadable {
		body = "(cannot be opened with the payload keys)"
	}
	return h.Li(idOf("message", at.UnixNano(), e.Role, shortHash([]byte(e.Text))), h.Class(class), g.If(e.Role == models.RoleUser, h.Data("news", "New text: "+body)), h.P(g.Text(body)),
		h.P(h.Class("quiet"), instantOf(&at, p.zone), g.Text(" · "+wordsOf(string(e.Kind))),
			g.If(e.Channel != wire.ChannelSMS, g.Text(" · "+string(e.Channel))),
			g.If(e.By != "", g.Text(" · by "+e.By)),
			g.If(e.Delivery != "", g.Text(" · "+deliveryOf(e.Delivery))),
			g.If(e.Danger != "", g.Group{g.Text(" "), h.Span(h.Class("tag bad"), g.Text("possible crisis: "+wordsOf(string(e.Danger))))}),
			g.If(e.Limit == models.LimitReaction, g.Group{g.Text(" "), h.Span(h.Class("tag"), g.Text("reaction"))}),
			g.If(e.Limit != "" && e.Limit != models.LimitReaction, g.Group{g.Text(" "), h.Span(h.Class("tag warn"), g.Text("kept from the coach: "+wordsOf(string(e.Limit))))}),
			p.whyLink(e)),
		g.If(e.ErrorCode != "", h.P(h.Class("failure"), g.Text(failureOf(e.ErrorCode, e.Meaning, e.NextStep)))),
	)
}

// whyLink leads from what the coach said to the record of its turn.
func (p *person) whyLink(e models.HistoryEntry) g.Node {
	_, number, ok := models.ParseTurnID(e.TurnID)
	if !ok || e.Role != models.RoleAssistant || !p.viewer.can(auth.TurnRead) {
		return nil
	}
	n := strconv.Itoa(number)
	return g.Group{g.Text(" · "), h.A(h.Href(Path+p.viewer.personPath()+"/turns/"+n), h.Aria("label", "Why, turn "+n), g.Text("Why"))}
}

// failureOf says why a message was not delivered and what to do about it.
func failureOf(code, meaning, next string) string {
	text := "Code " + code
	if meaning != "" {
		text += ": " + meaning
	}
	return strings.TrimSpace(text + ". " + next)
}

// deliveryOf says where one of our messages stands.
func deliveryOf(s wire.OutboxStatus) string {
	switch s {
	case wire.OutboxReady:
		return "waiting to go out"
	case wire.OutboxSending:
		return "going out"
	case wire.OutboxAccepted, wire.OutboxQueued:
		return "taken by the carrier"
	case wire.OutboxSent:
		return "sent"
	case wire.OutboxDelivered:
		return "delivered"
	case wire.OutboxUndelivered:
		return "not delivered"
	case wire.OutboxFailed:
		return "failed"
	case wire.OutboxRead:
		return "read"
	case wire.OutboxCanceled:
		return "not sent"
	case wire.OutboxUnknown:
		return "not known whether it went out; being looked up"
	}
	return string(s)
}

// wordsOf shows a name of the system with spaces.
func wordsOf(name string) string { return strings.ReplaceAll(name, "_", " ") }

// standing says at the top what matters now.
func (p *person) standing() g.Node {
	status := "tag good"
	if p.Status != wire.StatusActive {
		status = "tag warn"
	}
	now := p.viewer.now
	return h.Div(h.ID("standing"),
		h.P(h.Span(h.Class(status), g.Text(wordsOf(string(p.Status)))), g.Text(" "), h.Span(h.Class("tag"), g.Text(modeName(p.Mode))),
			g.Text(" "+p.Phone+" · their time "+now.In(p.zone).Format("Mon 15:04")+" · last heard "+ageOf(p.LastInboundAt, now))),
		g.If(p.Attention != "", h.P(h.Class("problem"), h.Strong(g.Text("Needs a person: "+strings.ToLower(labelOf(attentionOptions(), string(p.Attention))))), g.Text(", since "+ageOf(p.AttentionAt, now)+". "),
			g.If(p.reason != "", h.Q(g.Text(p.reason))), g.Text(" "), p.attentionLinks())),
		g.Iff(p.UnreachableAt != nil, func() g.Node {
			return h.P(h.Class("problem"), g.Text("The carrier cannot reach the number since "+ageOf(p.UnreachableAt, now)+" (code "+p.UnreachableCode+"). No prompts are sent until the person texts or the number is changed."))
		}),
	)
}

// attentionLinks lead to the forms, further down, that a call for attention is
// answered with.
func (p *person) attentionLinks() g.Node {
	var links g.Group
	if p.TakenOver == nil && p.Status.Coached() && p.viewer.can(auth.TakeOver) {
		links = append(links, h.A(h.Href("#takeover-hours"), g.Text("Take over")), g.Text(" · "))
	}
	if p.viewer.can(auth.AttentionClear) {
		links = append(links, h.A(h.Href("#note"), g.Text("Mark as handled")))
	}
	return links
}

// download hands over an answer about a person as a file; disposition names the file
// where the answer does not.
func (c *Console) download(path, disposition string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, ok := c.viewerOf(w, r)
		if !ok {
			return
		}
		raw, err := c.callAPI(v, api.Request{Method: http.MethodGet, Path: v.apiPath() + path})
		if err != nil {
			c.explain(w, v, err)
			return
		}
		w.Header().Set("Content-Type", v.header.Get("Content-Type"))
		w.Header().Set("Content-Disposition", cmp.Or(disposition, v.header.Get("Content-Disposition")))
		_, _ = w.Write(raw) // the browser has gone where this fails
	}
}
