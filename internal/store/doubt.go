package store

import (
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/screening"
	"coachline/internal/text"
	"coachline/models"
	"coachline/models/wire"
)

const (
	// silenceSpan and optOutSpan are how long a number that has written may be silent, or
	// opted out, before it may have gone to another person.
	silenceSpan = 60 * 24 * time.Hour
	optOutSpan  = 24 * time.Hour
	// askEvery is how long a question that got no answer is not asked again. Messages
	// meanwhile are answered without what is known of the person.
	askEvery = 24 * time.Hour
)

// Why a number may have gone to another person; the audit has it.
const (
	doubtUnreachable = "unreachable"
	doubtSilence     = "silence"
	doubtOptOut      = "opt_out"
	doubtAsked       = "who is this"
	doubtDenied      = "denied"
)

// raiseDoubt notes that a number may have gone to another person, before a message of it
// is stored. What comes by a channel without a carrier says nothing of numbers.
func raiseDoubt(tx *gorm.DB, p *models.Participant, in models.Inbound) error {
	if p.DoubtedAt != nil || !isCarried(in) {
		return nil
	}
	why, err := reasonToDoubt(tx, *p, in)
	if err != nil || why == "" {
		return err
	}
	at := in.ReceivedAt
	return noteDoubt(tx, p, &at, models.AuditRow{Actor: byScreen, Action: "doubt", Detail: why, At: at})
}

// byScreen is who acts on what the screening found.
const byScreen = "screen"

func noteDoubt(tx *gorm.DB, p *models.Participant, at *time.Time, audit models.AuditRow) error {
	p.DoubtedAt, audit.ParticipantID = at, p.ID
	if err := database.AddAudit(tx, audit); err != nil {
		return err
	}
	return tx.Model(&models.Participant{ID: p.ID}).UpdateColumn("doubted_at", at).Error
}

func reasonToDoubt(tx *gorm.DB, p models.Participant, in models.Inbound) (string, error) {
	switch {
	case p.UnreachableAt != nil:
		return doubtUnreachable, nil
	case p.LastInboundAt != nil && in.ReceivedAt.Sub(*p.LastInboundAt) > silenceSpan:
		return doubtSilence, nil
	case screening.AsksWhoWrites(textOf(in)):
		return doubtAsked, nil
	case p.Status != wire.StatusOptedOut:
		return "", nil
	}
	newest, err := newestConsent(tx, p)
	if err != nil || in.ReceivedAt.Sub(newest.At) <= optOutSpan {
		return "", err
	}
	return doubtOptOut, nil
}

// settleDoubt reads a message of a number that may have gone to another person. A yes to
// the question ends the doubt, and within askEvery of it words that say nothing but "it is
// me" do; the message is worked on like any other. A no, or that
// the number is wrong, makes it another person's, also where the question came before
// what is known was shown; any other is answered with the question, once in askEvery. What
// an operator reads, and what has rules of its own, stays as it is.
func settleDoubt(tx *gorm.DB, in *models.Inbound, p *models.Participant) error {
	if !canSettleDoubt(*in, *p) {
		return nil
	}
	isAsked, err := isAskedWhose(tx, p.ID)
	switch {
	case err != nil:
		return err
	case isAsked && text.SaysYes(textOf(*in)):
		return endDoubtBySelf(tx, *in, p)
	case isAsked && text.SaysNo(textOf(*in)):
		in.Intent, in.IntentMethod = models.IntentWrongNumber, models.MethodPhrase
		return denyPerson(tx, *in, p)
	case p.DoubtedAt == nil:
		return nil
	}
	isAsked, err = isAskedLately(tx, *p, in.ReceivedAt)
	switch {
	case err != nil:
		return err
	case isAsked && text.SaysItIsMe(textOf(*in), p.FirstName()):
		return endDoubtBySelf(tx, *in, p)
	case !isAsked:
		in.Intent, in.IntentMethod = models.IntentDoubted, models.MethodPhrase
	}
	return nil
}

func endDoubtBySelf(tx *gorm.DB, in models.Inbound, p *models.Participant) error {
	return noteDoubt(tx, p, nil, models.AuditRow{Actor: byParticipant, Action: "doubt_ended", At: in.ReceivedAt})
}

// canSettleDoubt reports whether a message of a person may be about whose the number is.
func canSettleDoubt(in models.Inbound, p models.Participant) bool {
	isOpen := p.Status == wire.StatusActive && !waitsForOperator(p) && (p.DoubtedAt != nil || text.SaysNo(textOf(in)))
	return isOpen && isCarried(in) && text.Reading(in.Body, in.MediaCount) != "" && !hasOwnRules(in)
}

// denyPerson notes that who writes is not the person, where that was not in doubt.
func denyPerson(tx *gorm.DB, in models.Inbound, p *models.Participant) error {
	if p.DoubtedAt != nil {
		return nil
	}
	at := in.ReceivedAt
	return noteDoubt(tx, p, &at, models.AuditRow{Actor: byParticipant, Action: "doubt", Detail: doubtDenied, At: at})
}

// hasOwnRules reports whether a message is answered by rules also where the number may
// have gone to another person.
func hasOwnRules(in models.Inbound) bool {
	switch in.Intent {
	case models.IntentStop, models.IntentHelp, models.IntentWrongNumber, models.IntentData, models.IntentErasure:
		return true
	case models.IntentUnclear:
		return !screening.AsksWhoWrites(textOf(in))
	case models.IntentNone, models.IntentStart, models.IntentYes, models.IntentDoubted, models.IntentMinor:
	}
	return false
}

// isAskedWhose reports whether the newest text to a person asks whether the number is
// still theirs, by itself or before what is known of them is shown: only then a yes or a
// no answers that.
func isAskedWhose(tx *gorm.DB, participantID string) (bool, error) {
	newest, err := newestSent(tx, participantID)
	asked, isQuestion := strings.CutPrefix(newest.ID, participantID+"-"+askText+"-")
	if err != nil {
		return false, err
	}
	if !isQuestion {
		var runs []models.ToolRun
		err = tx.Where("turn_id = ? AND turn_id <> ''", newest.TurnID).Find(&runs).Error
		return models.AsksForPerson(runs), err
	}
	id, err := strconv.ParseInt(asked, 10, 64)
	if err != nil {
		return false, nil //nolint:nilerr // the row of another text
	}
	var found int64
	err = tx.Model(&models.Inbound{}).Where("id = ? AND intent = ?", id, models.IntentDoubted).Count(&found).Error
	return found > 0, err
}

// isAskedLately reports whether a message of a person was answered with the question within
// askEvery, and since they came back by START.
func isAskedLately(tx *gorm.DB, p models.Participant, now time.Time) (bool, error) {
	newest, err := newestConsent(tx, p)
	if err != nil {
		return false, err
	}
	since := now.Add(-askEvery)
	if newest.At.After(since) {
		since = newest.At
	}
	var n int64
	err = tx.Model(&models.Inbound{}).Where("participant_id = ? AND intent = ? AND received_at > ?", p.ID, models.IntentDoubted, instant(since)).Count(&n).Error
	return n > 0, err
}

// endForAnother opts out a number that has gone to another person. What is stored of the
// person stays, and so does the doubt; an operator is told.
func endForAnother(tx *gorm.DB, p models.Participant, entry models.Consent) (int64, error) {
	_, err := raiseAttention(tx, models.AttentionEntry{
		ParticipantID: p.ID, Kind: wire.AttentionWrongNumber, Ref: strconv.FormatInt(entry.InboundID, 10), RaisedAt: entry.At,
	})
	if err != nil {
		return 0, err
	}
	if err := tx.Where("id = ?", p.ID).Take(&p).Error; err != nil { // the attention has changed it
		return 0, err
	}
	return optOut(tx, p, entry, "")
}
