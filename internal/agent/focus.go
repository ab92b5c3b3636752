package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"coachline/internal/agent/plan"
	"coachline/models"
	"coachline/prompts/pages"
)

// Steps finds what an earlier turn of a person came to.
type Steps interface {
	LastStep(ctx context.Context, participantID string, before int, since time.Time) (models.Step, error)
}

// focusTurn begins the preparation of a turn: it drops the caches of a
// conversation that has ended, and chooses the focus.
func (a *Agent) focusTurn(ctx context.Context, tr *trace, t turn) turn {
	if (t.carryOver.Fresh || t.carryOver.Ended) && t.queryText() != "" {
		a.caches.dropConversation(t.participantID())
	}
	return a.applyFocus(t, a.chooseFocus(ctx, tr, t))
}

// applyFocus narrows what a turn may call to the tools of a focus; the controls
// stay. An empty name, or one that does not exist any more, changes nothing.
func (a *Agent) applyFocus(t turn, name string) turn {
	chosen, ok := a.Prompts.Focus(name)
	if !ok {
		return t
	}
	t.focus = chosen
	t.offer.Specs = plan.NarrowToFocus(t.offer.Specs, chosen)
	t.offer.Core = slices.DeleteFunc(slices.Clone(t.offer.Core), func(tool string) bool { return !chosen.Permits(tool) })
	return t
}

// chooseFocus names the focus of a turn: the only one there is, or the one that
// the small model chooses. Small talk within the hot window, and a turn that
// answers no text, keep the previous focus without a call.
func (a *Agent) chooseFocus(ctx context.Context, tr *trace, t turn) string {
	all := a.Prompts.Focuses()
	if len(all) == 0 {
		return ""
	}
	if len(all) == 1 {
		tr.note(models.StageFocus, "focus "+all[0].Name+" only")
		return all[0].Name
	}
	previous := a.focusBefore(ctx, tr, t)
	name, how := plan.FocusFallback(previous, all)
	switch query := t.queryText(); {
	case query == "":
		how += ": no text"
	case how == "previous" && !plan.Needed(query):
		how += ": small talk"
	default:
		if chosen, by := a.askForFocus(ctx, tr, t, previous); chosen != "" {
			name, how = chosen, by
		} else {
			how += ": " + by
		}
	}
	tr.note(models.StageFocus, "focus "+name+" "+how)
	return name
}

// askForFocus returns the small model's choice, from the cache where the same
// was asked in this conversation; how says where it comes from, or why there is
// none.
func (a *Agent) askForFocus(ctx context.Context, tr *trace, t turn, previous string) (name, how string) {
	all := a.Prompts.Focuses()
	key := t.participantID() + "/" + plan.CacheKey{
		Query: t.queryText(), Tools: focusNames(all), Mode: t.mode, Channel: t.context.Participant.Channel,
		Locale: t.context.Participant.Locale,
	}.Hash()
	if kept, ok := a.caches.focuses.Get(key); ok {
		return kept, "cached"
	}
	request, err := plan.FocusRequest(a.Prompts, plan.FocusInput{
		Query: t.queryText(), Dialogue: plan.Dialogue(t.messagesBefore()), Context: t.momentLine(), Focuses: all, Previous: previous, Model: a.Settings.SmallModel,
	})
	if err != nil {
		tr.noteError(models.StageFocus, err)
		return "", "not asked"
	}
	answer, err := a.askSmallModel(ctx, tr, question{stage: models.StageFocus, request: request, limit: smallLimit})
	if err != nil {
		return "", "model failed"
	}
	name, ok := plan.PickFocus(answer, all)
	if !ok {
		return "", "unknown answer"
	}
	a.caches.focuses.Add(key, name)
	return name, "model"
}

func focusNames(all []pages.Page) []string {
	names := make([]string, len(all))
	for i, page := range all {
		names[i] = page.Name
	}
	return names
}

// focusBefore returns the focus of this conversation's previous turn, empty
// where there is none within the hot window or the exchange was ended. It is read from the
// turn's record, so every worker knows it.
func (a *Agent) focusBefore(ctx context.Context, tr *trace, t turn) string {
	if t.carryOver.Ended {
		return ""
	}
	return a.traceBefore(ctx, tr, t).Prepared.Focus
}

// traceBefore returns the record of the newest step before this turn, within
// the hot window. It is empty where there is none or it cannot be read.
func (a *Agent) traceBefore(ctx context.Context, tr *trace, t turn) Trace {
	_, number, ok := models.ParseTurnID(t.context.Turn.ID)
	if !ok {
		return Trace{}
	}
	step, err := a.Steps.LastStep(ctx, t.participantID(), number, t.now.Add(-a.Settings.Hot))
	if errors.Is(err, models.ErrNotFound) {
		return Trace{}
	}
	if err != nil {
		tr.noteError(models.StageFocus, err)
		return Trace{}
	}
	var before Trace
	if step.Trace != "" && json.Unmarshal([]byte(step.Trace), &before) != nil {
		tr.note(models.StageFocus, "focus before not readable")
	}
	return before
}
