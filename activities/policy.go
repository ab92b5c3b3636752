package activities

import (
	"time"

	"coachline/models"
)

// kindPolicy is what a kind of text is worth while the carrier does not take it.
type kindPolicy struct {
	// useful is how long after it was written the text is worth sending. The
	// carrier may hold it for what is left of that.
	useful time.Duration
	// twice: the text may rather come twice than not at all, so it is posted
	// again when an earlier post is proved not to have arrived.
	twice bool
}

// startedLife is how long a text that we start ourselves is worth sending: it is
// soon out of date, and quiet hours may begin.
const startedLife = 30 * time.Minute

// kindPolicies holds every kind that is sent. An answer is still one after
// hours; what we start ourselves is not.
var kindPolicies = map[models.Kind]kindPolicy{
	models.KindReply:    {models.AnswerValidity, true},
	models.KindGreeting: {models.AnswerValidity, true},
	models.KindOperator: {models.AnswerValidity, true},
	models.KindNotice:   {models.AnswerValidity, true},
	models.KindConsent:  {models.AnswerValidity, true},
	models.KindHelp:     {models.AnswerValidity, true},
	models.KindSafety:   {models.AnswerValidity, true},

	models.KindPrompt:           {startedLife, true},
	models.KindResult:           {startedLife, true},
	models.KindReminder:         {startedLife, false},
	models.KindFeedbackQuestion: {startedLife, false},
	models.KindFeedbackFollowup: {startedLife, false},
	models.KindCheckIn:          {startedLife, false},
	models.KindDebug:            {startedLife, false},
}

// usefulFor returns how long after it was written a row is worth sending. Later
// retries have been judged before, and are bounded here as answers are.
func usefulFor(row models.Outbox) time.Duration {
	if row.LateOf != "" {
		return models.AnswerValidity
	}
	return kindPolicies[row.Kind].useful
}

// usefulUntil returns when a row is not worth sending any more.
func usefulUntil(row models.Outbox) time.Time {
	until := row.CreatedAt.Add(usefulFor(row))
	if row.SendBefore != nil && row.SendBefore.Before(until) {
		return *row.SendBefore
	}
	return until
}

// reaction is what follows from an answer of the carrier.
type reaction int

const (
	// endText: the text ends as failed.
	endText reaction = iota
	// lookUpText: the text may have been taken, and is looked up.
	lookUpText
	// retryText: the text was not taken, and is tried again soon; retryInMinutes
	// gives the carrier some minutes, retryLater is one try much later.
	retryText
	retryInMinutes
	retryLater
	// holdSender: no text of the sender is taken; this one waits with the others.
	// holdAndEnd ends this one, because the account is not in order.
	holdSender
	holdAndEnd
)

// reactions holds every class of answer.
var reactions = map[models.CarrierClass]reaction{
	models.CarrierRetry:        retryText,
	models.CarrierSlowDown:     retryInMinutes,
	models.CarrierRetryOnce:    retryLater,
	models.CarrierAmbiguous:    lookUpText,
	models.CarrierWindow:       holdSender,
	models.CarrierRegistration: holdSender,
	models.CarrierAccount:      holdAndEnd,
	models.CarrierConsent:      endText,
	models.CarrierBadNumber:    endText,
	models.CarrierBlocked:      endText,
	models.CarrierContent:      endText,
	models.CarrierStale:        endText,
}

// Waits of a send.
const (
	// slowDown: the carrier asked for fewer texts.
	slowDown = 2 * time.Minute
	// secondTry: when a text goes out for the one later try that a handset out
	// of reach is worth.
	secondTry = 30 * time.Minute
	// heldLookup is the time after which a text that the carrier's stop of the sender gave
	// back asks how long the stop lasts.
	heldLookup = time.Second
	// absence is how long the carrier's list must not have shown a text before it
	// counts as never taken. The list lags behind the carrier's acceptances.
	absence = 40 * time.Second
	// lookupLeast and lookupMost bound the time between two look-ups of a text of
	// unknown result. A status callback usually settles its row within seconds.
	lookupLeast = time.Second
	lookupMost  = 10 * time.Second
	// busyLeast and busyMost bound the pause after a refused connection or a
	// busy carrier, which doubles with each attempt.
	busyLeast = time.Second
	busyMost  = time.Minute
	// settleWait is how long a turn waits for a text of unknown result.
	settleWait = time.Minute
	// partLookup is how often it is checked whether the part before has left.
	partLookup = 2 * time.Second
	// settleLimit bounds recording what became of an attempt that was given up.
	settleLimit = 5 * time.Second
)

// repostPauses are how long a text waits before it is posted again, by the
// number of its posts that the carrier has proved not to have. After the last
// one it is not posted any more: each post may be there after all.
var repostPauses = []time.Duration{time.Millisecond, time.Minute, 5 * time.Minute, 20 * time.Minute}

// nextLookup returns when a text of unknown result is looked up again: soon
// after its post, and less often as time passes.
func nextLookup(age time.Duration) time.Duration {
	return min(max(age/2, lookupLeast), lookupMost)
}

// busyPause returns how long a text waits that the carrier did not take, by the
// number of the attempt, from 1. The retry policy has a shorter one, for
// attempts that were lost with their worker.
func busyPause(attempt int) time.Duration {
	pause := busyLeast
	for i := 1; i < attempt && pause < busyMost; i++ {
		pause *= 2
	}
	return min(pause, busyMost)
}
