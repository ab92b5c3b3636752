package wire

// FeedbackStage says how far the collecting of feedback on the newest prompt is.
type FeedbackStage string

const (
	FeedbackNone FeedbackStage = ""
	// FeedbackAsked: the conversation is about how it went, which is not known yet.
	FeedbackAsked FeedbackStage = "asked"
	// FeedbackOutcome: they did it.
	FeedbackOutcome FeedbackStage = "outcome_known"
	// FeedbackBarrier: what got in the way is known, and so how it went.
	FeedbackBarrier FeedbackStage = "barrier_known"
	// FeedbackDone: it was known when the conversation went on to other things.
	FeedbackDone FeedbackStage = "done"
)

// Enter returns the stage after a change of mode.
func (f FeedbackStage) Enter(mode Mode) FeedbackStage {
	switch {
	case mode == ModeFeedback:
		return FeedbackAsked
	case f == FeedbackNone || f == FeedbackAsked:
		return FeedbackNone
	}
	return FeedbackDone
}

// Learn returns the stage after something was saved; a stage is never taken back.
func (f FeedbackStage) Learn(reported FeedbackStage) FeedbackStage {
	if reported == FeedbackNone || f == FeedbackDone || f == FeedbackBarrier {
		return f
	}
	return reported
}
