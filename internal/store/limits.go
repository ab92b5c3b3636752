package store

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"gorm.io/gorm"

	"coachline/internal/prices"
	"coachline/internal/text"
	"coachline/models"
)

// InboundLimits are the programme's limits. The zero value lets every text through and
// answers no stranger.
type InboundLimits struct {
	// PerMinute and PerDay (a trailing minute, 24 hours) bound the texts of one
	// sender that reach the coach; 0 is no bound.
	PerMinute, PerDay int
	// Mute is how long a sender taken for a machine is not answered; 0 takes no
	// sender for one.
	Mute time.Duration
	// Hints answers strangers with one fixed text a day of Zone (UTC when nil).
	// Region is the programme's ("US"): strangers of it, and of regions in which people
	// are enrolled, are answered; empty: of all.
	Hints  bool
	Region string
	Zone   *time.Location
	// Prices and StrangerMicros bound what hints may cost in an hour, in millionths of
	// the currency; 0 is no bound.
	Prices         *prices.List
	StrangerMicros int64
	// CarrierAnswers: the carrier answers its keywords itself.
	CarrierAnswers bool
}

// What makes a machine. The first rule is about texts, regardless of what the
// coach answers; short everyday answers ("ok", "yes", "done", a number, an
// emoji) are what people send again and again, so they need to come three times
// as often.
const (
	loopSpan     = 10 * time.Minute
	repeats      = 5
	shortRepeats = 15
	shortText    = 12 // characters in normal form
	// exchanges in a row, each text within machineGap of the reply before it.
	exchanges  = 20
	machineGap = 5 * time.Second
)

// limitSpan is the time without a text above the limit after which a sender is
// notified of the limit again.
const limitSpan = time.Hour

// setIndexes fills in the keyed hashes by which texts of one sender, and equal texts
// of one sender, are counted. Equal texts of two senders have different ones.
func (s *Inbound) setIndexes(in *models.Inbound) {
	in.FromIndex, in.RepeatIndex, in.Limit = s.db.Index(in.From), "", models.LimitNone
	if seen := text.Fold(in.Body); seen != "" {
		in.RepeatIndex = s.db.Index("text\x00" + in.From + "\x00" + seen)
	}
}

// applyLimits sets the limit of a marked text of an enrolled sender, before its row is
// written, and says what the sender was taken for a machine for. A mute comes
// before the limits, and what a mute held back does not count towards them.
func (s *Inbound) applyLimits(tx *gorm.DB, in *models.Inbound, p models.Participant) (models.LoopReason, error) {
	if text.Reading(in.Body, in.MediaCount) == "" {
		in.Limit = models.LimitEmpty
		return models.LoopNone, nil
	}
	seen, err := s.lookBack(tx, *in)
	if err != nil {
		return models.LoopNone, err
	}
	if seen.muted {
		in.Limit = models.LimitMuted
		return models.LoopNone, nil
	}
	reason, err := s.findLoop(tx, *in, seen)
	if err != nil || reason != models.LoopNone {
		in.Limit = models.LimitLoop
		return reason, err
	}
	if isAbove(seen.minute, s.limits.PerMinute) || isAbove(seen.day, s.limits.PerDay) {
		in.Limit = models.LimitRate
		return models.LoopNone, nil
	}
	// What an operator reads, or no carrier has a part in, costs nothing more.
	if !isCarried(*in) || waitsForOperator(p) || isOutside(p) {
		return models.LoopNone, nil
	}
	isSpent, err := s.budgets.isOver(tx, seen.spent, p.ID, in.ReceivedAt)
	if isSpent {
		in.Limit = models.LimitSpent
	}
	return models.LoopNone, err
}

// isAbove reports whether a text more than there are is above a limit.
func isAbove(count, most int) bool { return most > 0 && count >= most }

// senderPast is what a text is judged by: texts of its sender.
type senderPast struct {
	muted       bool // one has muted the sender
	same        int  // with the same text, in loopSpan
	fast        int  // of a carrier's that reached the coach, in loopSpan
	minute, day int  // that reached the coach
	spent       daySpent
}

// lookBack reads a text's past in one statement, whose parts are answered by the
// indexes on (from_index, gate, received_at) and (repeat_index, received_at).
func (s *Inbound) lookBack(tx *gorm.DB, in models.Inbound) (senderPast, error) {
	var seen senderPast
	rules := s.limits
	if rules.Mute <= 0 && rules.PerMinute <= 0 && rules.PerDay <= 0 && s.budgets.personMicros <= 0 {
		return seen, nil
	}
	at := in.ReceivedAt
	err := tx.Raw("SELECT "+pastOf()+", "+spentOfDay, slices.Concat([]any{
		in.FromIndex, models.LimitLoop, at.Add(-rules.Mute),
		in.RepeatIndex, at.Add(-loopSpan),
		in.FromIndex, models.LimitNone, at.Add(-loopSpan),
		in.FromIndex, models.LimitNone, at.Add(-time.Minute),
		in.FromIndex, models.LimitNone, at.Add(-24 * time.Hour),
	}, spentArgs(in.ParticipantID, at))...).Row().Scan(append([]any{&seen.muted, &seen.same, &seen.fast, &seen.minute, &seen.day}, seen.spent.list()...)...)
	seen.muted = seen.muted && rules.Mute > 0
	return seen, err
}

const limitedTexts = "FROM inbound WHERE from_index = ? AND gate = ? AND received_at > ?"

// pastOf reads what a sender has written.
func pastOf() string {
	return "EXISTS (SELECT 1 " + limitedTexts + "), " +
		"(SELECT count(*) FROM inbound WHERE repeat_index = ? AND repeat_index <> '' AND received_at > ?), " +
		"(SELECT count(*) " + limitedTexts + " AND " + carried("channel") + "), (SELECT count(*) " + limitedTexts + "), (SELECT count(*) " + limitedTexts + ")"
}

// needsLimitNotice reports whether a text above the limit is the first in a while, of
// one of money the first of its day, so that its sender is told. Ask before the row is
// written.
func (s *Inbound) needsLimitNotice(tx *gorm.DB, in models.Inbound) (bool, error) {
	var count int64
	since := in.ReceivedAt.Add(-limitSpan)
	if in.Limit == models.LimitSpent {
		since = costDay(in.ReceivedAt).Add(-time.Microsecond)
	}
	err := tx.Model(&models.Inbound{}).
		Where("from_index = ? AND gate = ? AND received_at > ? AND intent <> ?", in.FromIndex, in.Limit, instant(since), models.IntentHelp).
		Count(&count).Error
	return count == 0, err
}

// costDay returns when the day began that costs of an instant are added up by.
func costDay(at time.Time) time.Time { return at.UTC().Truncate(24 * time.Hour) }

// limitedHours returns after how many hours a sender above the limit of a day is
// answered again; 0 for one above that of a minute.
func (s *Inbound) limitedHours(tx *gorm.DB, in models.Inbound) (int, error) {
	if in.Limit == models.LimitSpent {
		return hoursUntil(in.ReceivedAt, costDay(in.ReceivedAt).Add(24*time.Hour)), nil
	}
	if s.limits.PerDay <= 0 {
		return 0, nil
	}
	var answered []time.Time
	err := tx.Model(&models.Inbound{}).
		Where("from_index = ? AND gate = ? AND received_at > ?", in.FromIndex, models.LimitNone, in.ReceivedAt.Add(-24*time.Hour)).
		Order("received_at DESC").Offset(s.limits.PerDay-1).Limit(1).Pluck("received_at", &answered).Error
	if err != nil || len(answered) == 0 {
		return 0, err
	}
	return hoursUntil(in.ReceivedAt, answered[0].Add(24*time.Hour)), nil
}

// hoursUntil returns the hours until an instant, a begun one too.
func hoursUntil(now, at time.Time) int { return int((at.Sub(now) + time.Hour - 1) / time.Hour) }

// How often a person's HELP is answered, and a doubted number asked.
const (
	helpPause  = 10 * time.Minute
	helpPerDay = 5
)

// limitRuled sets the limit of a text that acts by rules. STOP and START act with any
// limit, and HELP is answered without one only, in a mute too. Each counts for the mute.
func (s *Inbound) limitRuled(tx *gorm.DB, in *models.Inbound) (models.LoopReason, error) {
	if !isSpoken(*in) {
		seen, err := s.lookBack(tx, *in)
		if err != nil {
			return models.LoopNone, err
		}
		if !seen.muted {
			reason, err := s.findLoop(tx, *in, seen)
			if err != nil || reason != models.LoopNone {
				in.Limit = models.LimitLoop
				return reason, err
			}
		}
	}
	if in.Intent != models.IntentHelp && in.Intent != models.IntentDoubted {
		return models.LoopNone, nil
	}
	isLimited, err := isAnswerLimited(tx, *in)
	if isLimited {
		in.Limit = models.LimitRate
	}
	return models.LoopNone, err
}

// isAnswerLimited reports whether texts of an intent were answered as often as they may
// be. The index on (from_index, gate, received_at) finds the texts.
func isAnswerLimited(tx *gorm.DB, in models.Inbound) (bool, error) {
	var answered []time.Time
	err := tx.Model(&models.Inbound{}).
		Where("from_index = ? AND gate = ? AND received_at > ? AND intent = ? AND id <> ?",
			in.FromIndex, models.LimitNone, in.ReceivedAt.Add(-24*time.Hour), in.Intent, in.ID).
		Order("received_at DESC").Limit(helpPerDay).Pluck("received_at", &answered).Error
	if err != nil || len(answered) == 0 {
		return false, err
	}
	return len(answered) == helpPerDay || in.ReceivedAt.Sub(answered[0]) < helpPause, nil
}

func (s *Inbound) findLoop(tx *gorm.DB, in models.Inbound, seen senderPast) (models.LoopReason, error) {
	if s.limits.Mute <= 0 {
		return models.LoopNone, nil
	}
	if in.RepeatIndex != "" && seen.same+1 >= repeatsOf(in.Body) {
		return models.LoopRepeats, nil
	}
	if !isCarried(in) || seen.fast < exchanges-1 {
		// Texts of the chat channel come through an authenticated API and are never
		// taken for a machine's.
		return models.LoopNone, nil
	}
	count, err := countExchanged(tx, in)
	if err != nil || count >= exchanges {
		return models.LoopExchanges, err
	}
	return models.LoopNone, nil
}

// repeatsOf returns how many repeats of a text show that its sender is a machine.
func repeatsOf(body string) int {
	if utf8.RuneCountInString(text.Fold(body)) <= shortText {
		return shortRepeats
	}
	return repeats
}

// answers are the kinds of texts that a machine would answer at once.
var answers = []models.EntryKind{models.KindReply, models.KindHelp, models.KindConsent}

// countExchanged counts the newest unbroken run of texts that came within
// seconds of our reply.
func countExchanged(tx *gorm.DB, in models.Inbound) (int, error) {
	since := in.ReceivedAt.Add(-loopSpan)
	var texts []time.Time
	err := tx.Model(&models.Inbound{}).
		Where("from_index = ? AND gate = ? AND received_at > ? AND channel = ?", in.FromIndex, models.LimitNone, since, in.Channel).
		Order("received_at").Pluck("received_at", &texts).Error
	if err != nil {
		return 0, err
	}
	var replies []time.Time
	err = tx.Model(&models.Outbox{}).
		Where("participant_id = ? AND accepted_at IS NOT NULL AND accepted_at > ? AND kind IN ? AND channel = ?", in.ParticipantID, since, answers, in.Channel).
		Order("accepted_at").Pluck("accepted_at", &replies).Error
	return longestRun(append(texts, in.ReceivedAt), replies), err
}

// longestRun counts, up to the newest text, the exchanges (reply out, text in) without
// a gap above machineGap. What the person waits for us does not count: a slow
// model makes no machine a person. A text that no reply came before, as in a
// burst, neither counts nor breaks the run.
func longestRun(texts, replies []time.Time) int {
	count, next := 0, 0
	for _, text := range texts {
		answered := false
		for next < len(replies) && !replies[next].After(text) {
			answered = true
			next++
		}
		switch {
		case !answered:
		case text.Sub(replies[next-1]) <= machineGap:
			count++
		default:
			count = 0
		}
	}
	return count
}

// MutedUntil returns when a mute of the participant ends; zero when there is none at
// the instant now.
func (s *Inbound) MutedUntil(ctx context.Context, participantID string, now time.Time) (time.Time, error) {
	var at []time.Time
	err := s.db.Reader(ctx).Model(&models.Inbound{}).
		Where("participant_id = ? AND gate <> '' AND gate = ? AND received_at > ?", participantID, models.LimitLoop, now.Add(-s.limits.Mute)).
		Order("received_at DESC").Limit(1).Pluck("received_at", &at).Error
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the mute: %w", err)
	}
	if len(at) == 0 {
		return time.Time{}, nil
	}
	return at[0].UTC().Add(s.limits.Mute), nil
}
