package rehearsal

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"coachline/internal/store"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// outcomeWindow is how long after a prompt an answer counts as the proximal
// outcome.
const outcomeWindow = 4 * time.Hour

// lastWords is how long before the end of the study nothing more is written, so
// that what was written is answered.
const lastWords = time.Hour

// reportDelay is how long the network takes to report a text.
const reportDelay = 3 * time.Second

// Keywords that a person writes.
const (
	wordStop  = "STOP"
	wordStart = "START"
)

// conversation is what a person remembers of it.
type conversation struct {
	// inbound counts the person's texts.
	inbound int
	// textID is the id of the newest of them.
	textID int64
	// texts are what the person wrote, in order.
	texts []personText
	// points are the prompts that reached the phone, with what the person made of
	// them.
	points []deliveredPrompt
	// optedOut: the person has written STOP and not come back.
	optedOut bool
}

type personText struct {
	at   time.Time
	body string
}

// deliveredPrompt is a prompt that reached the phone: what the treatment adds to the
// probability of an answer, and whether the person made up their mind to answer.
type deliveredPrompt struct {
	promptID string
	added    float64
	answered bool
}

// afterSend has the network report a text.
func (p *person) afterSend(one sent) {
	p.mu.Lock()
	p.turns++
	p.mu.Unlock()
	p.after(reportDelay, func() { p.report(p.r.ctx, one) })
}

// hear is what the person makes of a text that reached the phone.
func (p *person) hear(one sent) {
	h := p.habits
	if h.persona == PersonaSilent || p.heard.optedOut {
		return
	}
	switch one.kind {
	case models.KindGreeting:
		p.answerLater(pick(p.draw, h.words().yes))
	case models.KindPrompt:
		p.hearPrompt(one)
	case models.KindReply:
		p.hearReply(one)
	case models.KindReminder, models.KindFeedbackQuestion, models.KindFeedbackFollowup, models.KindCheckIn, models.KindAskLess:
		// The draw at the prompt decides whether it is answered.
	case models.KindMessage, models.KindOperator, models.KindNotice, models.KindConsent, models.KindHelp, models.KindSafety, models.KindResult,
		models.KindTeamNote, models.KindDebug, models.KindToolCall, models.KindToolResult:
	}
}

// hearPrompt draws whether a prompt is answered in time.
func (p *person) hearPrompt(one sent) {
	lift := 0.0
	if p.treats(p.r.decisionOf(one.promptID)) {
		lift = p.r.cfg.Effect
	}
	at := deliveredPrompt{promptID: one.promptID, added: p.habits.chanceAdded(one.at, p.r.cfg.Effect), answered: p.habits.answers(p.draw, one.at, lift)}
	p.heard.points = append(p.heard.points, at)
	if !at.answered {
		return
	}
	words := p.habits.words().done
	if p.draw.IntN(4) == 0 {
		words = p.habits.words().missed
	}
	if p.habits.persona == PersonaWrongWords && p.draw.IntN(3) == 0 {
		words = lookalikes
	}
	p.answerLater(pick(p.draw, words))
}

// hearReply goes on with the intake, and chatty people with the conversation.
func (p *person) hearReply(one sent) {
	if answer := p.habits.answerIntake(p.draw, one.body); answer != "" {
		p.answerLater(answer)
		return
	}
	if p.draw.Float64() < p.habits.chatty {
		p.answerLater(pick(p.draw, p.habits.words().more))
	}
}

// answerLater has the person write after a while.
func (p *person) answerLater(text string) {
	text = p.habits.misspell(p.draw, text)
	at := p.now().Add(p.habits.pause(p.draw))
	if at.After(p.r.until.Add(-lastWords)) {
		return
	}
	p.at(at, func() {
		if !p.heard.optedOut {
			p.write(p.r.ctx, text)
		}
	})
}

// write stores a text of the person, as the webhook does, and tells Temporal.
func (p *person) write(ctx context.Context, text string) {
	p.heard.inbound++
	at := p.now()
	p.heard.texts = append(p.heard.texts, personText{at: at, body: text})
	accepted, err := p.r.store.Inbound.AcceptInbound(context.WithValue(ctx, textIDKey{}, p.numberText(at)), models.Inbound{
		ProviderSID: fmt.Sprintf("SI%08x%024x", p.number, p.heard.inbound), From: p.phone, To: sender, Body: text,
		Channel: wire.ChannelSMS, ReceivedAt: at,
	})
	if err != nil {
		p.r.broke("inbound text", p.id, err)
		return
	}
	if accepted.AlertID != "" {
		if err := p.relay.Raise(ctx, accepted.AlertID); err != nil {
			p.r.broke("alert", p.id, err)
		}
		p.after(staffDelay, p.attend)
	}
	if accepted.HintID != "" {
		if err := p.relay.SendHint(ctx, accepted.HintID); err != nil {
			p.r.broke("hint", p.id, err)
		}
	}
	p.deliver(ctx)
}

// numberText returns the id of the person's next text. Ids rise with time over all
// people, and nothing else decides on them, so that the same seed gives the same ids.
func (p *person) numberText(at time.Time) int64 {
	next := int64(at.Sub(p.r.from)/time.Second)*mostPeople + int64(p.number) + 1
	p.heard.textID = max(next, p.heard.textID+mostPeople)
	return p.heard.textID
}

type textIDKey struct{}

// giveTextIDs has the rows of texts take the ids of their contexts, where the database
// would give one in the order in which people are played.
func giveTextIDs(ctx context.Context, rows *store.Store) error {
	create := rows.Database().Reader(ctx).Callback().Create()
	err := create.Before("gorm:create").Register("coachline:give_text_id", func(tx *gorm.DB) {
		if in, isText := tx.Statement.Dest.(*models.Inbound); isText {
			in.ID, _ = tx.Statement.Context.Value(textIDKey{}).(int64)
		}
	})
	return wrap.Error(err, "giving texts their ids")
}

// deliver has the relay tell the workflow what was committed.
func (p *person) deliver(ctx context.Context) {
	if err := p.relay.Deliver(ctx, p.id); err != nil {
		p.r.broke("delivery to the workflow", p.id, err)
	}
}

// act does something that no text of the programme asked for.
func (p *person) act(ctx context.Context, e event) {
	switch e.kind {
	case eventStop:
		p.write(ctx, wordStop)
		p.heard.optedOut = true
	case eventStart:
		p.heard.optedOut = false
		p.write(ctx, wordStart)
	case eventCrisis:
		p.write(ctx, "I want to kill myself")
	case eventBlock:
		at := p.now()
		p.carrier.mu.Lock()
		p.carrier.blockedAt = at
		p.carrier.mu.Unlock()
	case eventNumber:
		phone := p.r.phoneOf(p.number + p.r.cfg.People)
		p.change(ctx, models.ParticipantPatch{Phone: &phone})
		p.phone = phone
	case eventZone:
		zone := "Europe/Lisbon"
		p.habits.zone = zone
		p.change(ctx, models.ParticipantPatch{Timezone: &zone})
	}
}

// change changes the person's row, as an operator does.
func (p *person) change(ctx context.Context, patch models.ParticipantPatch) {
	_, err := p.r.store.People.UpdateParticipant(ctx, models.ParticipantUpdate{ID: p.id, Patch: patch, Actor: actor, Now: p.now()})
	if err != nil {
		p.r.broke("change of the participant", p.id, err)
		return
	}
	p.deliver(ctx)
}
