package coach

import (
	"fmt"

	"coachline/models"
)

// Decide says what follows from an event. The effects are to be applied in
// their order; a turn always comes after the effects that must hold even if the
// turn is lost. The due time that fired (EventDue) is taken out of the state by
// the caller beforehand. After the end nothing follows from anything.
//
// Deciding twice from the same situation gives the same decision, so a retry
// is safe. An error means that state or event break their own rules (an unknown
// kind, a zone that is gone) and no retry will help; what a model or an
// operator asked wrongly is Decision.Refused instead.
//
//nolint:cyclop // one line per kind of event, dispatch and nothing else
func Decide(s Situation, ev models.Event) (models.Decision, error) {
	if s.State.Ended {
		return ended(ev.Kind), nil
	}
	switch ev.Kind {
	case models.EventEnrolled:
		return s.say(models.TurnPlan{Kind: models.KindGreeting}), nil
	case models.EventTexts:
		return s.texts(), nil
	case models.EventDue:
		return s.fell(ev.Due)
	case models.EventPromptSent:
		return s.promptSent(ev), nil
	case models.EventPromptFailed:
		// Tomorrow's slot was set when the turn began, and nothing waits for
		// an answer to a prompt that nobody got.
		return models.Decision{}, nil
	case models.EventStatus:
		return s.status(ev)
	case models.EventMode:
		return s.operatorMode(ev.Mode), nil
	case models.EventZone:
		return s.moveZone(ev.Zone, ev.ZoneAssumed)
	case models.EventSend:
		p := s.plan()
		p.start(models.TurnPlan{Kind: models.KindOperator, OutboxID: ev.OutboxID})
		return p.decision(), nil
	case models.EventUnenrolled:
		return s.unenroll(), nil
	case models.EventScheduleTool:
		return s.scheduler(ev.Schedule)
	case models.EventTransitionAsk:
		return s.transition(ev.Mode, ev.Delay)
	case models.EventHelp:
		return s.say(models.TurnPlan{Kind: models.KindHelp}), nil
	case models.EventRestored:
		return s.restored()
	}
	return models.Decision{}, fmt.Errorf("deciding: unknown event %q", ev.Kind)
}

// say starts a turn, unless the person opted out.
func (s Situation) say(turn models.TurnPlan) models.Decision {
	p := s.plan()
	if s.State.Status != models.StatusOptedOut {
		p.start(turn)
	}
	return p.decision()
}

// fell dispatches a due time that passed.
func (s Situation) fell(due models.Due) (models.Decision, error) {
	switch due.Kind {
	case models.DueDailyPrompt:
		return s.duePrompt(due.Ref)
	case models.DueReminder:
		return s.dueReminder(due.Ref)
	case models.DueAutoFeedback:
		return s.dueAutoFeedback(due.Ref), nil
	case models.DueFeedbackTimeout:
		return s.dueFeedback(due, models.KindFeedbackQuestion)
	case models.DueFeedbackFollowup:
		return s.dueFeedback(due, models.KindFeedbackFollowup)
	case models.DueDelayedTransition:
		p := s.plan()
		s.enter(p, models.Mode(due.Ref))
		return p.decision(), nil
	case models.DueDebounce:
		return s.dueDebounce(), nil
	}
	return models.Decision{}, fmt.Errorf("deciding: unknown due time %q", due.Kind)
}

// ended is the decision after the end: silence, and for a tool call of a turn
// in flight the truth.
func ended(kind models.EventKind) models.Decision {
	if kind == models.EventScheduleTool || kind == models.EventTransitionAsk {
		return refused("the participant has left the programme; nothing can be changed")
	}
	return models.Decision{}
}

func refused(format string, args ...any) models.Decision {
	return models.Decision{Refused: fmt.Sprintf(format, args...)}
}
