package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"coachline/internal/agent/marks"
	"coachline/internal/agent/outgoing"
	"coachline/internal/agent/toolcall"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

const (
	// saidWithin is how long ago a reply was sent that must not come again.
	saidWithin = 7 * 24 * time.Hour
	// writtenBefore is how many of the person's messages an echo is looked for in.
	writtenBefore = 5
	// withoutReplies is how many of the newest replies are left out of a request that
	// was answered with one of them, and warmer how freely it is answered.
	withoutReplies = 3
	warmer         = 0.8
	// standInMark stands for the question in a text that is taken apart.
	standInMark = "?"
)

// sharedTexts are fixed texts that a model may write too.
var sharedTexts = []prompts.Name{
	prompts.Crisis, prompts.CrisisAnother, prompts.CrisisViolence, prompts.CrisisMedical, prompts.Helpline, prompts.OptOutDanger,
	prompts.Ask, prompts.Hello, prompts.Thanks, prompts.WhatAreYou, prompts.Advice, prompts.Truth,
}

// newFixed reads the programme's fixed texts in every language, but those that a
// model may use: the ones about danger, and questions about the habit; and what a request
// ends with, which small models repeat. outage are
// those that stand in for a model without an answer, declined those for one that would not
// answer, or whose answer was not sent for what it advised.
func newFixed(lib *prompts.Library, programme string) (all, outage, declined *outgoing.Fixed) {
	var texts []string
	of := map[prompts.Name][]string{}
	for _, name := range prompts.FixedNames() {
		if slices.Contains(sharedTexts, name) {
			continue
		}
		for _, locale := range append(lib.Locales(), "") {
			text, err := lib.Fixed(name, locale, prompts.FixedData{Programme: programme})
			if err != nil {
				continue // Loading the library tried it out.
			}
			if name == prompts.GreetingFallback {
				text = text[:max(strings.LastIndexAny(strings.TrimRight(text, "? \n"), ".!"), 0)] // Its question is any coach's.
			}
			texts = append(texts, text)
			of[name] = append(of[name], text)
		}
	}
	for _, locale := range append(lib.Locales(), "") {
		for _, kind := range models.AdviceKinds() {
			if text, err := lib.Fixed(prompts.Advice, locale, prompts.FixedData{Programme: programme, Advice: kind}); err == nil {
				of[prompts.ReplyDeclined] = append(of[prompts.ReplyDeclined], text)
			}
		}
	}
	texts = append(texts, requestEnds(lib, programme)...)
	return outgoing.NewFixed(texts), outgoing.NewFixed(of[prompts.ReplyFallback]), outgoing.NewFixed(of[prompts.ReplyDeclined])
}

// requestEnds are what requests end with.
func requestEnds(lib *prompts.Library, programme string) (texts []string) {
	for _, name := range []prompts.Name{prompts.GreetingHint, prompts.Answer} {
		if text, err := lib.Render(name, prompts.PersonaData{Programme: programme}); err == nil {
			texts = append(texts, text)
		}
	}
	if text, err := lib.Render(prompts.NextQuestion, prompts.StatusData{Question: standInMark}); err == nil {
		texts = append(texts, text)
	}
	return texts
}

// newNotices reads what the programme puts before the coach's words: that an AI writes, and
// before a question that there is no answer.
func newNotices(lib *prompts.Library, programme string) (notices []string) {
	for _, locale := range append(lib.Locales(), "") {
		for _, isShort := range []bool{false, true} {
			if text, err := lib.Fixed(prompts.NoticeAgain, locale, prompts.FixedData{Programme: programme, Short: isShort}); err == nil {
				notices = append(notices, strings.TrimSpace(text)+" ")
			}
		}
		if text, err := lib.Fixed(prompts.ReplyFallback, locale, prompts.FixedData{Programme: programme, Question: standInMark}); err == nil {
			before, _, _ := strings.Cut(text, standInMark)
			notices = append(notices, before)
		}
	}
	return notices
}

// withoutNotice returns a text as the coach wrote it.
func (a *Agent) withoutNotice(text string) string {
	for _, notice := range a.notices {
		text = strings.TrimPrefix(text, notice)
	}
	return text
}

// hideFixedTexts takes the programme's fixed texts out of what the model reads as the
// coach's: a model that reads them writes like them. What the person wrote stays; a
// text that a failed reply answered is marked as not answered, and one that the
// programme answered as answered by it.
func (a *Agent) hideFixedTexts(window []models.Message) []models.Message {
	out := make([]models.Message, 0, len(window))
	for _, entry := range window {
		mark := ""
		if entry.Role == models.RoleAssistant {
			entry.Text = a.withoutNotice(entry.Text)
		}
		switch {
		case entry.Role != models.RoleAssistant:
		case slices.Contains([]models.EntryKind{models.KindConsent, models.KindHelp, models.KindSafety, models.KindNotice}, entry.Kind):
			mark = marks.Answered
		case entry.Kind == models.KindReply && a.declined.Is(entry.Text):
			mark = marks.Answered
		case entry.Kind == models.KindReply && a.outage.Is(entry.Text):
			mark = marks.NotAnswered
		}
		if mark == "" {
			out = append(out, entry)
			continue
		}
		if last := len(out) - 1; last >= 0 && out[last].Role == models.RoleUser && !strings.HasSuffix(out[last].Text, mark) {
			out[last].Text += mark
		}
	}
	return out
}

// checkReply judges words by what may reach a phone; isEnded says that their model ended
// them by itself.
func (r *runningStep) checkReply(words string, isEnded bool) outgoing.Kind {
	c := r.turn.context
	known := r.knownTexts()
	for _, told := range c.Profile.All() {
		known = append(known, *told)
	}
	for _, past := range r.past {
		known = append(known, past.Result.Content)
	}
	in := outgoing.Reply{
		Text: r.withoutPrivate(words).Text, Programme: r.agent.Settings.Programme, Known: known, Done: r.doneInTurn(), IsEnded: isEnded,
	}
	if r.input.Kind == wire.TurnReply {
		in.Written = tail(participantTexts(c.Window), writtenBefore)
	}
	in.Fixed = r.agent.fixed
	if r.input.Kind == wire.TurnGreeting || r.input.Introduce {
		in.Fixed = r.agent.requestEnds // A first text may be like our own.
	}
	for _, entry := range c.Window {
		isReply := entry.Role == models.RoleAssistant && (entry.Kind == models.KindReply || entry.Kind == models.KindGreeting)
		if r.input.Kind == wire.TurnReply && isReply && entry.TurnID != c.Turn.ID && r.turn.now.Sub(entry.At) < saidWithin {
			in.Said = append(in.Said, entry.Text)
		}
	}
	return outgoing.Check(in)
}

// doneInTurn returns what the turn's tools did that the person may be told of. Facts
// that are remembered after the reply count as saved.
func (r *runningStep) doneInTurn() outgoing.Done {
	out := outgoing.Done{Scheduled: len(r.turn.context.Schedules) > 0}
	for _, past := range r.past {
		if past.Result.Failed {
			continue
		}
		switch past.Call.Name {
		case "scheduler":
			out.Scheduled, out.Saved, out.Deleted = true, true, true
		case "save_user_profile":
			out.Saved, out.Deleted = true, true
		case "forget_memory":
			out.Deleted = true
		case models.ToolAskForPerson:
			out.Told = true
		case "pause_prompts":
			out.Scheduled, out.Saved = true, true
		}
	}
	if r.turn.context.Participant.MemoryVersion > 0 || r.agent.Settings.MemoryStep != MemoryOff {
		out.Saved = true
	}
	attention := r.turn.context.Participant.Attention
	out.Told = out.Told || attention == wire.AttentionPerson || r.agent.Settings.AlertsTeam && attention != ""
	return out
}

// guardReply asks once more for words that may not reach a phone, where asking
// otherwise may help: without the newest replies and more freely for one that was said
// before, with what was done for a claim. A second answer that says nothing new is a
// fixed question; any other that may not go is no words.
func (r *runningStep) guardReply(ctx context.Context, compose composer, answer models.ChatResponse, verdict toolcall.Verdict) (models.ChatResponse, toolcall.Verdict) {
	if verdict.Judgment != toolcall.Words || r.input.Kind == wire.TurnSubagent {
		return answer, r.tellWithoutWords(verdict)
	}
	verdict.Text = r.mendCut(answer, verdict.Text)
	why := r.checkReply(verdict.Text, toolcall.IsEnded(answer))
	if why == "" {
		return answer, verdict
	}
	r.trace.note(models.StageGuard, "guard "+string(why))
	isSame := why == outgoing.Again || why == outgoing.Echo
	if !isSame && why != outgoing.Promise {
		return answer, r.truthForRefused()
	}
	r.ending = toolcall.Ending{WithoutReplies: withoutReplies, Temperature: warmer}
	if !isSame {
		r.ending = toolcall.Ending{Task: r.toldTask()}
	}
	last := verdict.Text
	again, second, err := r.askWithFallback(ctx, compose)
	if err == nil && second.Judgment == toolcall.Calls {
		return again, second
	}
	if err == nil && second.Judgment == toolcall.Words {
		second.Text = r.mendCut(again, second.Text)
		last = second.Text
		if why = r.checkReply(second.Text, toolcall.IsEnded(again)); why == "" {
			return again, second
		}
		r.trace.note(models.StageGuard, "guard again "+string(why))
	}
	return answer, r.standIn(why, last)
}

// declinedAnswer returns the fixed text for a reply that the model declined to write.
func (r *runningStep) declinedAnswer(cause error) (models.ChatResponse, bool) {
	var failed *models.ModelError
	if !errors.As(cause, &failed) || failed.Class != models.ModelDeclined || r.input.Kind != wire.TurnReply {
		return models.ChatResponse{}, false
	}
	text, err := r.agent.Prompts.Fixed(prompts.ReplyDeclined, r.turn.context.Participant.Locale, prompts.FixedData{Programme: r.agent.Settings.Programme})
	if err != nil {
		return models.ChatResponse{}, false
	}
	r.trace.note(models.StageGuard, "guard declined by the model")
	return models.ChatResponse{Text: text, FinishReason: models.FinishDeclined}, true
}

// standIn is what is sent for words that said nothing new: a question about the habit, and
// when each was asked lately the words all the same, for nothing is out of order. For all
// others no words.
func (r *runningStep) standIn(why outgoing.Kind, words string) toolcall.Verdict {
	isSame := why == outgoing.Again || why == outgoing.Echo
	if !isSame || r.input.Kind != wire.TurnReply {
		return r.truthForRefused()
	}
	if question := r.freshQuestion(); question != "" {
		r.trace.note(models.StageGuard, "guard fixed question")
		return toolcall.Verdict{Judgment: toolcall.Words, Text: question}
	}
	if why == outgoing.Echo {
		return toolcall.Verdict{Judgment: toolcall.Malformed}
	}
	r.trace.note(models.StageGuard, "guard sent again")
	return toolcall.Verdict{Judgment: toolcall.Words, Text: words}
}

// mendCut ends words that break off with their last whole sentence.
func (r *runningStep) mendCut(answer models.ChatResponse, words string) string {
	if toolcall.IsCut(answer) {
		return words
	}
	mended := outgoing.Mend(words, toolcall.IsEnded(answer))
	if mended == "" || mended == strings.TrimSpace(words) {
		return words
	}
	r.trace.note(models.StageGuard, "guard cut at a sentence")
	return mended
}

// toldTask says what was done in the turn, for a model that claimed something else.
func (r *runningStep) toldTask() string {
	done := "no tool did anything"
	var names []string
	for _, past := range r.past {
		if !past.Result.Failed {
			names = append(names, past.Call.Name)
		}
	}
	if len(names) > 0 {
		done = "these tools were carried out: " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("Your last answer said that something was or will be done, and was not sent: in this turn %s, and no person was told. Answer the person again without that claim.", done)
}

func tail(texts []string, n int) []string { return texts[max(0, len(texts)-n):] }
