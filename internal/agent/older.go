package agent

import (
	"context"
	"fmt"
	"time"

	"coachline/internal/agent/marks"
	"coachline/internal/agent/recall"
	"coachline/models"
)

const (
	// shownTexts is how many messages of a turn the model reads as they are; they
	// take a third of its context at most. Older ones are digested.
	shownTexts = 50
	textsShare = 3
	// olderShare is the part of the context that a digest may take, olderRoom its
	// characters where the context is not known.
	olderShare = 5
	olderChars = 16_000
	// olderLimit bounds all calls for one digest, in the time of a reply.
	olderLimit = 24 * time.Second
)

// Older is the digest of the messages of a turn that the model does not read
// as they are.
type Older struct {
	Count int `json:"count"`
	// Upto is the newest of them.
	Upto int64 `json:"upto"`
	// Text is personal data.
	Text string `json:"text"`
}

// digestOlder puts one entry with a digest in the place of the older messages
// of a turn that holds many, so that every stage reads it with the others. kept
// is the digest of an earlier step; it is used again while it is about the
// same messages. digestOlder never fails: without a model, each message is
// represented by its beginning.
func (a *Agent) digestOlder(ctx context.Context, tr *trace, t turn, kept *Older) (turn, *Older) {
	older := t.olderTexts()
	if len(older) == 0 {
		return t, nil
	}
	last := older[len(older)-1]
	if kept == nil || kept.Upto != last.ID || kept.Count != len(older) {
		kept = &Older{Count: len(older), Upto: last.ID, Text: a.digestOf(ctx, tr, t, older)}
	}
	entry := last
	entry.Text = marks.Earlier(kept.Count) + kept.Text
	window := make([]models.Message, 0, len(t.context.Window))
	for _, m := range t.context.Window {
		switch {
		case m.ID == last.ID:
			window = append(window, entry)
		case !t.isOwnText(m) || m.ID > last.ID:
			window = append(window, m)
		}
	}
	t.context.Window = window
	return t, kept
}

// isOwnText reports whether a message is a text of this turn.
func (t turn) isOwnText(m models.Message) bool {
	return m.Role == models.RoleUser && m.TurnID == t.context.Turn.ID && m.TurnID != ""
}

// olderTexts returns the messages of the turn before those that the model
// reads.
func (t turn) olderTexts() []models.Message {
	var own []models.Message
	for _, m := range t.context.Window {
		if t.isOwnText(m) {
			own = append(own, m)
		}
	}
	shown, room := 0, t.capability.ContextTokens/textsShare
	for shown < min(len(own), shownTexts) {
		size := recall.EstimateTokens(own[len(own)-1-shown].Text)
		if t.capability.ContextTokens > 0 && shown > 0 && size > room {
			break
		}
		room -= size
		shown++
	}
	return own[:len(own)-shown]
}

// digestOf asks the small model for a digest of the older messages, within
// olderLimit.
func (a *Agent) digestOf(ctx context.Context, tr *trace, t turn, older []models.Message) string {
	ctx, cancel := context.WithTimeout(ctx, olderLimit)
	defer cancel()
	texts := make([]string, 0, len(older))
	for _, m := range older {
		texts = append(texts, m.Text)
	}
	drawn := recall.PlanMessages(texts)
	answers := make([]recall.DigestAnswer, len(drawn.Batches))
	for i, batch := range drawn.Batches {
		request, err := recall.MessagesDigestRequest(a.Prompts, batch, a.Settings.SmallModel)
		if err == nil {
			answers[i].Text, err = a.askSmallModel(ctx, tr, question{stage: models.StageDigest, request: request, limit: smallLimit})
		}
		answers[i].Failed = err != nil
	}
	room := olderChars
	if t.capability.ContextTokens > 0 {
		room = min(room, t.capability.ContextTokens/olderShare*5/2)
	}
	out := drawn.Messages(answers, room)
	tr.note(models.StageDigest, fmt.Sprintf("%s, %d messages", out.Decision, len(older)))
	return marks.Neutralise(out.Text)
}
