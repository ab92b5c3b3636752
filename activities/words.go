package activities

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"coachline/internal/agent"
	"coachline/internal/agent/plan"
	"coachline/internal/coach"
	"coachline/internal/screening"
	"coachline/internal/segments"
	"coachline/internal/text"
	"coachline/internal/tools"
	"coachline/internal/wrap"
	"coachline/internal/zones"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// replyText is what the participant will read, and the outbox row that carries it
// or its first part.
type replyText struct {
	text string
	// closing ends the text and is never cut off.
	closing  string
	outboxID string
	// queued: the row exists, and the text is its body.
	queued bool
}

// findText finds what the participant will read; it is empty when there is
// nothing to send.
func (t *TurnLoader) findText(ctx context.Context, in wire.PersistTurnInput, turn models.TurnContext) (s replyText, err error) {
	s.outboxID, turn = models.OutboxID(in.TurnID, 1), turn.WithoutPerson()
	var isAsked bool
	if s.text, isAsked, err = t.findQuestion(in.Source, turn); isAsked {
		return s, err
	}
	switch in.Source {
	case wire.SourceStep:
		s.text, s.closing, err = t.modelText(in, turn)
	case wire.SourcePrepared:
		if s.text = agent.Words(turn.Profile.PreparedPrompt); s.text == "" {
			s.text, err = t.fallbackText(in, turn)
		}
	case wire.SourceFallback:
		if s.text, err = t.fallbackText(in, turn); err == nil && in.Plan.Introduce {
			s.closing, err = t.closingFor(in.Plan, turn)
		}
	case wire.SourceFixed:
		s.text, err = t.answerText(in.Plan.Kind, turn)
	case wire.SourceSubagent:
		s.text, err = t.subagentText(ctx, in.Plan.Subagent.TurnID)
	case wire.SourceSilent, wire.SourceFailed:
	case wire.SourceOutbox:
		var row models.Outbox
		row, err = t.Outbox.Row(ctx, in.Plan.OutboxID)
		s = replyText{text: row.Body, outboxID: row.ID, queued: true}
	}
	s.addSafety(in.Source, turn.Runs)
	if err == nil {
		err = t.nameSender(ctx, in, turn, &s)
	}
	if err == nil {
		err = t.addNotice(ctx, in, turn, &s)
	}
	return s, err
}

// findQuestion finds what the program itself asks in the place of a generated text, before
// it gets a person or forgets: only its own question arms the yes.
func (t *TurnLoader) findQuestion(source wire.TextSource, turn models.TurnContext) (question string, isAsked bool, err error) {
	switch {
	case source != wire.SourceStep && source != wire.SourceFallback:
		return "", false, nil
	case models.AsksForPerson(turn.Runs):
		question, err = askPersonText(t.Prompts, t.Programme, turn.Participant)
	case tools.AsksToForget(turn.Runs):
		question, err = t.fixedText(prompts.ConfirmForget, turn)
	default:
		return "", false, nil
	}
	return question, true, err
}

// stopSpan is the span in which one prompt says how to end the texts.
const stopSpan = 30 * 24 * time.Hour

// addNotice has a text of the coach tell again that an AI writes, where the person is to be
// told: in words that cost no segment more, if there are such.
func (t *TurnLoader) addNotice(ctx context.Context, in wire.PersistTurnInput, turn models.TurnContext, s *replyText) error {
	isOurs := models.TurnSpecOf(in.Plan.Kind).Coaching && in.Plan.Kind != wire.TurnGreeting && s.text != "" && !s.queued
	if !isOurs || text.FindDisclosure(s.text+"\n"+s.closing) != "" {
		return nil
	}
	why := t.noticeInput(in, turn)
	if !why.IsDaily && !why.IsSilent() {
		return nil
	}
	var err error
	if why.Last, err = t.Store.LastDisclosure(ctx, turn.Participant.ID); err != nil || !coach.NeedsNotice(why) {
		return wrap.Error(err, "reading when the person was told what writes")
	}
	sender, plain := "", s.text
	if rest, isNamed := strings.CutPrefix(s.text, t.Programme+": "); isNamed {
		sender, plain = t.Programme+": ", rest
	}
	said, _ := s.splitParts(turn.Turn.Channel)
	before := segments.Count(said).Segments
	for _, isShort := range []bool{false, true, false} { // The long one again where both cost a segment.
		notice, err := t.Prompts.Fixed(prompts.NoticeAgain, turn.Participant.Locale, prompts.FixedData{Programme: t.Programme, Short: isShort})
		if err != nil {
			return fmt.Errorf("rendering the notice: %w", err)
		}
		s.text = sender + notice + " " + plain
		whole, _ := s.splitParts(turn.Turn.Channel)
		if segments.Count(whole).Segments <= before {
			break
		}
	}
	return nil
}

// noticeInput is what is known of a turn before the tables are asked when the person was
// told last.
func (t *TurnLoader) noticeInput(in wire.PersistTurnInput, turn models.TurnContext) coach.NoticeInput {
	zone, err := zones.Load(turn.Participant.Timezone)
	if err != nil {
		zone = time.UTC
	}
	out := coach.NoticeInput{
		Now: in.Now, Talk: turn.Talk.Since, Heard: turn.Talk.Heard, IsDaily: coach.AsksNotice(turn.Participant.Phone) || models.IsMinor(turn.Participant.BirthYear, in.Now),
		IsStarted: in.Plan.Kind != wire.TurnReply, Zone: zone,
	}
	if last := turn.Participant.LastInboundAt; out.IsStarted && last != nil {
		out.Heard = *last
	}
	if out.Heard.IsZero() {
		out.Heard = turn.Participant.EnrolledAt
	}
	return out
}

// nameSender has what we start name the programme after a silence, and a prompt of each
// month say how to end the texts.
func (t *TurnLoader) nameSender(ctx context.Context, in wire.PersistTurnInput, turn models.TurnContext, s *replyText) error {
	p := turn.Participant
	if !models.IsRationed(in.Plan.Kind) || s.text == "" || p.EnrolledAt.IsZero() || !models.ChannelSpecOf(turn.Turn.Channel).HasSegments {
		return nil
	}
	if t.noticeInput(in, turn).IsSilent() && !strings.Contains(s.text, t.Programme) {
		s.text = t.Programme + ": " + s.text
	}
	if in.Plan.Kind != wire.TurnPrompt || in.Now.Sub(p.EnrolledAt) < stopSpan {
		return nil
	}
	recent, err := t.Store.RecentPrompts(ctx, p.ID)
	if err != nil {
		return fmt.Errorf("reading the last prompts: %w", err)
	}
	month := func(at time.Time) time.Duration { return at.Sub(p.EnrolledAt) / stopSpan }
	if len(recent) > 0 && month(*recent[0].SentAt) == month(in.Now) {
		return nil
	}
	s.closing, err = t.fixedText(prompts.StopReminder, turn)
	return err
}

// addSafety ends a text with the safety text where a call of the turn reported a concern
// and the text has none of its numbers. It takes the place of what is said in a model's.
func (s *replyText) addSafety(source wire.TextSource, runs []models.ToolRun) {
	sentence := tools.SafetySentence(runs, s.text)
	switch {
	case sentence == "" || s.queued:
	case source == wire.SourceFallback, source == wire.SourceSilent, source == wire.SourceFailed:
		s.text = sentence
	default:
		s.closing = strings.TrimSpace(sentence + "\n\n" + s.closing)
	}
}

// subagentText returns the result of a subagent, short enough for a text.
func (t *TurnLoader) subagentText(ctx context.Context, subagentTurn string) (string, error) {
	turn, err := t.Store.TurnContext(ctx, subagentTurn, 0)
	if err != nil {
		return "", fmt.Errorf("loading subagent: %w", err)
	}
	short, _ := text.Cut(lastWords(turn), userPart)
	return short, nil
}

// splitParts divides what is said into what is sent, and returns it as a whole
// too, as the person will read it. What does not fit is cut from the text and
// never from the closing.
func (s replyText) splitParts(channel wire.Channel) (whole string, out segments.Parts) {
	if s.queued {
		return s.text, segments.Parts{Texts: []string{s.text}}
	}
	if !models.ChannelSpecOf(channel).HasSegments {
		// No network counts its characters.
		whole = strings.TrimSpace(s.text + "\n\n" + s.closing)
		return whole, segments.Parts{Texts: []string{whole}}
	}
	whole = segments.Smart(strings.TrimSpace(s.text + "\n\n" + s.closing))
	out = segments.Split(whole, segments.Options{})
	if out.LeftOut == 0 && !s.isClosedApart(whole) {
		return whole, out
	}
	if s.closing != "" {
		out = segments.Split(segments.Smart(s.text), segments.Options{MaxParts: segments.MaxParts - 1})
		out.Texts = append(out.Texts, segments.Smart(s.closing))
	}
	return strings.Join(out.Texts, "\n"), out
}

// isClosedApart reports whether the closing is cheaper as a text of its own: what is said
// makes the whole UCS-2.
func (s replyText) isClosedApart(whole string) bool {
	return s.closing != "" && s.text != "" && segments.Count(whole).Encoding == segments.UCS2 && segments.Count(segments.Smart(s.closing)).Encoding == segments.GSM7
}

// modelText returns what the model said in the step that ended the turn.
func (t *TurnLoader) modelText(in wire.PersistTurnInput, turn models.TurnContext) (text, closing string, err error) {
	for _, step := range turn.Steps {
		if step.Number != in.Step {
			continue
		}
		closing, err = t.closingFor(in.Plan, turn)
		return agent.Words(step.Text), closing, err
	}
	return "", "", fmt.Errorf("step %d of %s: %w", in.Step, in.TurnID, models.ErrNotFound)
}

// closingFor ends the first message of all with the programme's name, STOP and
// HELP, regardless of what the model wrote, as the carriers' rules (CTIA) ask.
func (t *TurnLoader) closingFor(plan wire.TurnPlan, turn models.TurnContext) (string, error) {
	if plan.Kind != wire.TurnGreeting && !plan.Introduce {
		return "", nil
	}
	return t.fixedText(prompts.GreetingFooter, turn)
}

// asideRows returns the texts that a call has sent, in order; asking costs
// nothing for calls that send none.
func asideRows(ctx context.Context, store Outbox, run models.ToolRun) (rows []models.Outbox, err error) {
	id, sends := models.InterimMessageOf(run)
	for sends && err == nil {
		var row models.Outbox
		row, err = store.Row(ctx, models.OutboxID(id, len(rows)+1))
		if sends, err = isFound(err); sends {
			rows = append(rows, row)
		}
	}
	return rows, err
}

// earlierTexts are what a turn has sent before its final text.
type earlierTexts struct {
	// sent are the texts that reached the carrier or the chat, in normal form.
	sent []string
	// ready were written and never sent, because the worker died and the workflow
	// gave up on the call.
	ready []string
	// overtaken: the person wrote again since.
	overtaken bool
}

func (t *TurnLoader) loadAsides(ctx context.Context, turn models.TurnContext) (out earlierTexts, err error) {
	for _, run := range turn.Runs {
		rows, err := asideRows(ctx, t.Outbox, run)
		if err != nil {
			return out, fmt.Errorf("reading what was said: %w", err)
		}
		out.addParts(rows)
	}
	spoken := false
	for _, entry := range turn.Window {
		own := entry.TurnID == turn.Turn.ID
		spoken = spoken || own && entry.Role == models.RoleAssistant
		out.overtaken = out.overtaken || own && spoken && entry.Role == models.RoleUser
	}
	return out, nil
}

func (a *earlierTexts) addParts(rows []models.Outbox) {
	text, sent := "", len(rows) > 0
	for _, row := range rows {
		text += row.Body
		sent = sent && (row.AcceptedAt != nil || row.Status == wire.OutboxUnknown)
		if row.Status == wire.OutboxReady {
			a.ready = append(a.ready, row.ID)
		}
	}
	if sent {
		a.sent = append(a.sent, normalizeText(text))
	}
}

// makesRedundant reports whether the final text adds nothing to what was said:
// it is the same, or none, or only acknowledges, and the person has not written
// since.
func (a earlierTexts) makesRedundant(last replyText, channel wire.Channel) bool {
	if len(a.sent) == 0 {
		return false
	}
	whole, _ := last.splitParts(channel)
	return slices.Contains(a.sent, normalizeText(whole)) || !a.overtaken && plan.Acknowledges(whole)
}

// normalizeText returns a text without case, spaces and punctuation.
func normalizeText(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsPunct(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// fallbackText stands in for a model that has no answer.
func (t *TurnLoader) fallbackText(in wire.PersistTurnInput, turn models.TurnContext) (string, error) {
	name := prompts.Name(cmp.Or(models.TurnSpecOf(in.Plan.Kind).Fallback, string(prompts.ReplyFallback)))
	p := turn.Profile
	said := p.PromptAnchor != "" || p.HabitDomain != "" || p.MotivationalFrame != ""
	// A sentence is made of what the profile says in English only.
	if name == prompts.HabitFallback && said && !t.Prompts.Translated(name, turn.Participant.Locale) {
		return agent.HabitFallback(p), nil
	}
	return t.fixedText(name, turn)
}

func (t *TurnLoader) fixedText(name prompts.Name, turn models.TurnContext) (string, error) {
	text, err := t.Prompts.Fixed(name, turn.Participant.Locale, prompts.FixedData{
		Question:  models.StandInQuestion(turn.Steps),
		Programme: t.Programme, Name: calledName(turn.Participant.Name), TeamAlerted: t.AlertsTeam, Place: placeOf(turn.Participant), Lines: t.Helplines.Find(turn.Participant.Phone, turn.Participant.Locale),
	})
	return text, wrap.Errorf(err, "rendering text %s", name)
}

// calledName returns a name to greet a person by; empty for one that reads as a keyword:
// "Hi STOP" tells a person something else.
func calledName(name string) string {
	if screening.Screen(screening.Message{Body: name}).Intent != models.IntentNone {
		return ""
	}
	return name
}

// placeOf says where a person stands who asks for help.
func placeOf(p models.Participant) prompts.HelpPlace {
	switch {
	case p.Status == wire.StatusOptedOut:
		return prompts.HelpOptedOut
	case p.TakenOverBy != "":
		return prompts.HelpTakenOver
	case p.Status == wire.StatusPaused:
		return prompts.HelpPaused
	case p.Status == wire.StatusCompleted, p.Status == wire.StatusWithdrawn:
		return prompts.HelpCompleted
	}
	return prompts.HelpCoached
}

// answerText returns the text of the kinds that are never written by a model. While a
// crisis is open, help begins with the safety text.
func (t *TurnLoader) answerText(kind wire.TurnKind, turn models.TurnContext) (string, error) {
	text, err := t.fixedText(fixedFor(kind, turn.Participant), turn)
	if err != nil || kind != wire.TurnHelp || !isInCrisis(turn.Participant) {
		return text, err
	}
	safety, err := t.fixedText(prompts.SafetyText(turn.Safety), turn)
	return safety + "\n\n" + text, err
}

func isInCrisis(p models.Participant) bool { return p.Attention == wire.AttentionCrisis }

// fixedFor names the text of the kinds that are never written by a model. A
// consent is confirmed by where it has left the participant.
func fixedFor(kind wire.TurnKind, p models.Participant) prompts.Name {
	if kind == wire.TurnConsent && p.Status == wire.StatusOptedOut {
		if isInCrisis(p) {
			return prompts.OptOutDanger
		}
		return prompts.OptOutConfirmation
	}
	return prompts.Name(cmp.Or(models.TurnSpecOf(kind).Fixed, string(prompts.ReplyFallback)))
}

// toolEntries turns the tool calls of a turn and their results into entries of
// the conversation, so that later turns know what was done.
func toolEntries(in wire.PersistTurnInput, turn models.TurnContext) []models.Message {
	var entries []models.Message
	for _, step := range turn.Steps {
		if step.Calls == "" {
			continue
		}
		entries = append(entries, models.Message{
			ParticipantID: in.ParticipantID, TurnID: in.TurnID,
			Key:  fmt.Sprintf("%s-s%d", in.TurnID, step.Number),
			Role: models.RoleAssistant, Kind: models.KindToolCall, Text: step.Calls, At: step.CreatedAt,
		})
		for _, run := range turn.Runs {
			if run.Step != step.Number {
				continue
			}
			entries = append(entries, models.Message{
				ParticipantID: in.ParticipantID, TurnID: in.TurnID,
				Key:  fmt.Sprintf("%s-s%dc%d", in.TurnID, run.Step, run.Call),
				Role: models.RoleTool, Kind: models.KindToolResult, Text: run.Result, At: run.CreatedAt,
			})
		}
	}
	return entries
}

// debugText returns the extra message for testers who asked for it; empty for
// all others, and on a channel without a carrier. It never becomes part of
// the conversation.
func (t *TurnLoader) debugText(in wire.PersistTurnInput, turn models.TurnContext) string {
	if !turn.Participant.Tester || !turn.Participant.Debug || !models.ChannelSpecOf(turn.Turn.Channel).ViaCarrier {
		return ""
	}
	return agent.DebugText(agent.DebugInput{Mode: in.Mode, Profile: turn.Profile, Runs: turn.Runs})
}
