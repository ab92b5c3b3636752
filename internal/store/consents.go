package store

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/screening"
	"coachline/models"
	"coachline/models/wire"
)

// Who recorded an entry of the consent ledger, when it was no operator.
const (
	byParticipant = "participant"
	byCarrier     = "carrier"
)

// isHandledHere reports whether the text is acted on here and is no part of the
// coaching. START and YES bring back a participant who opted out; from any other
// person, and where no carrier proves whose they are, they are ordinary words.
func isHandledHere(in models.Inbound, p models.Participant) bool {
	switch in.Intent {
	case models.IntentStop, models.IntentHelp:
		return true
	case models.IntentStart, models.IntentYes:
		return p.Status == wire.StatusOptedOut && isCarried(in)
	case models.IntentUnclear, models.IntentWrongNumber, models.IntentDoubted, models.IntentData, models.IntentErasure, models.IntentMinor:
		return true // acceptKnown has asked whether the person was asked before
	case models.IntentNone:
	}
	return false
}

// noteIgnored adds to the audit that a person who opted out seems to come back on a
// channel where that does not count.
func noteIgnored(tx *gorm.DB, in models.Inbound, p models.Participant) error {
	isReturn := in.Intent == models.IntentStart || in.Intent == models.IntentYes
	if !isReturn || p.Status != wire.StatusOptedOut || isCarried(in) {
		return nil
	}
	return database.AddAudit(tx, models.AuditRow{ParticipantID: p.ID, Action: "opt_in_ignored", Detail: "by " + string(in.Channel), At: in.ReceivedAt})
}

// needsQuestion reports whether an intent is one that the person is asked about.
func needsQuestion(intent models.Intent) bool {
	return intent == models.IntentUnclear || pauses(intent) != "" || isAboutData(intent)
}

// pauses returns the attention that an intent raises which pauses the coaching; empty for
// others.
func pauses(intent models.Intent) wire.Attention {
	switch intent { //nolint:exhaustive // the others pause nothing
	case models.IntentWrongNumber:
		return wire.AttentionWrongNumber
	case models.IntentMinor:
		return wire.AttentionMinor
	}
	return ""
}

// isAboutData reports whether the privacy text answers an intent.
func isAboutData(intent models.Intent) bool {
	return intent == models.IntentData || intent == models.IntentErasure
}

// dataSpan is the time within which no participant gets the privacy text twice.
const dataSpan = 24 * time.Hour

// noteErasure has an operator told of a message that asks to delete what is kept.
func noteErasure(tx *gorm.DB, in models.Inbound) error {
	if screening.DataRequest(textOf(in)) != models.IntentErasure {
		return nil
	}
	_, err := raiseAttention(tx, models.AttentionEntry{
		ParticipantID: in.ParticipantID, Kind: wire.AttentionErasure, Ref: strconv.FormatInt(in.ID, 10), Code: models.ErasureAsked, RaisedAt: in.ReceivedAt,
	})
	return err
}

// isToAsk reports whether the person is to be asked what a text meant, while
// coaching goes on or is paused: once since they joined or came back, and again
// for a wrong number or a minor when an operator has resumed the coaching meanwhile. The
// participant's row is locked.
func isToAsk(tx *gorm.DB, in models.Inbound, p models.Participant) (bool, error) {
	if !p.Status.Coached() || pauses(in.Intent) != "" && p.Status == wire.StatusActive {
		return p.Status.Coached(), nil
	}
	newest, err := newestConsent(tx, p)
	if err != nil {
		return false, err
	}
	since, intents := newest.At, []models.Intent{in.Intent}
	if isAboutData(in.Intent) {
		since, intents = in.ReceivedAt.Add(-dataSpan), []models.Intent{models.IntentData, models.IntentErasure}
	}
	var asked int64
	err = tx.Model(&models.Inbound{}).Where("participant_id = ? AND intent IN ? AND id <> ? AND received_at >= ?",
		p.ID, intents, in.ID, instant(since)).Count(&asked).Error
	return asked == 0, err
}

// doubtKeyword makes a request of a keyword unclear where it may be the answer to a
// question of ours: the newest text that the person got asks one. The carrier's own
// keywords are none of these.
func doubtKeyword(tx *gorm.DB, in *models.Inbound, p models.Participant) error {
	if !in.IsLikeAnswer || in.Intent != models.IntentStop || !p.Status.Coached() {
		return nil
	}
	newest, err := newestSent(tx, p.ID)
	if err != nil || newest.ID == "" {
		return err
	}
	spec := newest.Kind.Spec()
	if spec.Asks || spec.Source != wire.SourceFixed && strings.Contains(newest.Body, "?") {
		in.Intent, in.IntentMethod = models.IntentUnclear, models.MethodPhrase
	}
	return nil
}

// newestSent returns the newest text that a person may have got; a row without id where
// there is none.
func newestSent(tx *gorm.DB, participantID string) (models.Outbox, error) {
	var newest models.Outbox
	err := tx.Where("participant_id = ? AND kind <> ? AND status NOT IN ?", participantID, models.KindDebug,
		[]wire.OutboxStatus{wire.OutboxReady, wire.OutboxCanceled, wire.OutboxFailed}).
		Order("created_at DESC, part DESC").Limit(1).Find(&newest).Error
	return newest, err
}

// askIntent has the person asked what a text meant. Where the number may be another
// person's, or the person a minor, nothing more is sent until an operator has checked it.
func askIntent(tx *gorm.DB, in models.Inbound, p models.Participant) (int64, error) {
	if pauses(in.Intent) != "" {
		if err := pauseForCheck(tx, in, p); err != nil {
			return 0, err
		}
	}
	if err := answerPrompts(tx, p.ID, in.ReceivedAt); err != nil {
		return 0, err
	}
	return insertNotice(tx, noticeOf(models.NoticeAsk, in))
}

func pauseForCheck(tx *gorm.DB, in models.Inbound, p models.Participant) error {
	return pauseFor(tx, p, pauseReason{attention: pauses(in.Intent), ref: strconv.FormatInt(in.ID, 10), detail: string(in.Intent), at: in.ReceivedAt})
}

// pauseReason is why a person is paused until an operator has looked.
type pauseReason struct {
	attention         wire.Attention
	ref, code, detail string
	at                time.Time
}

// pauseFor raises attention and pauses the coaching where it goes on, or would by itself.
func pauseFor(tx *gorm.DB, p models.Participant, why pauseReason) error {
	_, err := raiseAttention(tx, models.AttentionEntry{ParticipantID: p.ID, Kind: why.attention, Ref: why.ref, Code: why.code, RaisedAt: why.at})
	if err != nil || p.Status != wire.StatusActive && p.PauseEndsAt() == nil {
		return err
	}
	var row models.Participant
	if err := tx.Where("id = ?", p.ID).Take(&row).Error; err != nil { // the attention has changed it
		return err
	}
	row.Status, row.PausedUntil = wire.StatusPaused, nil
	if err := saveParticipant(tx, &row, why.at); err != nil {
		return err
	}
	audit := models.AuditRow{ParticipantID: p.ID, Actor: byScreen, Action: "pause", Detail: cmp.Or(why.detail, why.code), At: why.at}
	if err := database.AddAudit(tx, audit); err != nil {
		return err
	}
	_, err = insertNotice(tx, models.Notice{ParticipantID: p.ID, Kind: models.NoticePause, CreatedAt: why.at})
	return err
}

// acceptRuled stores a text and does what it asks for. It goes into the
// conversation at once, because no turn will take it there.
func (s *Inbound) acceptRuled(tx *gorm.DB, in models.Inbound, p models.Participant) (models.AcceptedInbound, error) {
	reason, err := s.limitRuled(tx, &in)
	if err != nil {
		return models.AcceptedInbound{}, err
	}
	in, err = keepInbound(tx, in)
	out := models.AcceptedInbound{Inbound: in, Loop: reason}
	if err != nil {
		return out, err
	}
	err = answerRuled(tx, &out, p)
	if err == nil {
		err = noteErasure(tx, in)
	}
	if err == nil && reason != models.LoopNone {
		err = tellOfLimit(tx, in, reason)
	}
	return out, err
}

// answerRuled does what a stored text asks for, and notes in out what tells the workflow.
func answerRuled(tx *gorm.DB, out *models.AcceptedInbound, p models.Participant) error {
	in := out.Inbound
	newest, err := newestConsent(tx, p)
	if err != nil {
		return err
	}
	entry := entryOfText(tx, in)
	switch in.Intent {
	case models.IntentStop:
		if !isOptedOut(p, newest) {
			out.NoticeID, err = optOut(tx, p, entry, "")
		}
		if err == nil {
			out.AlertID, err = alertOptOut(tx, in)
		}
	case models.IntentStart, models.IntentYes:
		out.NoticeID, err = optIn(tx, p, entry)
	case models.IntentHelp:
		out.NoticeID, err = answerHelp(tx, in, p, newest)
	case models.IntentDoubted:
		if answersHelp(in) {
			out.NoticeID, err = askIntent(tx, in, p)
		}
	case models.IntentWrongNumber:
		if p.DoubtedAt == nil {
			out.NoticeID, err = askIntent(tx, in, p)
		} else {
			out.NoticeID, err = endForAnother(tx, p, entry)
		}
	case models.IntentUnclear, models.IntentData, models.IntentErasure, models.IntentMinor:
		out.NoticeID, err = askIntent(tx, in, p)
	case models.IntentNone:
	}
	return err
}

// answerHelp has a HELP answered. A person who opted out gets the answer without a turn,
// once a day.
func answerHelp(tx *gorm.DB, in models.Inbound, p models.Participant, newest models.Consent) (int64, error) {
	if !answersHelp(in) {
		return 0, nil
	}
	if !isOptedOut(p, newest) {
		return insertNotice(tx, noticeOf(models.NoticeHelp, in))
	}
	return answerOutside(tx, in, p, newest.At)
}

// answerOutside has a message answered of a person who is not coached, once a day; what
// they were told before since does not count.
func answerOutside(tx *gorm.DB, in models.Inbound, p models.Participant, since time.Time) (int64, error) {
	if day := in.ReceivedAt.Add(-dataSpan); day.After(since) {
		since = day
	}
	var told int64
	err := tx.Model(&models.Notice{}).Where("participant_id = ? AND kind = ? AND created_at > ?", p.ID, models.NoticeAsk, instant(since)).Count(&told).Error
	if err != nil || told > 0 || !isCarried(in) {
		return 0, err
	}
	return insertNotice(tx, noticeOf(models.NoticeAsk, in))
}

// isOutside reports whether a message answers nothing any more: its sender's
// participation has ended, and no person of the team talks with them.
func isOutside(p models.Participant) bool {
	return (p.Status == wire.StatusCompleted || p.Status == wire.StatusWithdrawn) && !p.IsTakenOver()
}

// answersHelp reports whether a HELP, or a text of a doubted number, may be answered; the
// carrier has answered what it found itself.
func answersHelp(in models.Inbound) bool {
	return in.Limit == models.LimitNone && in.IntentMethod != models.MethodCarrier
}

// entryOfText begins the entry of the ledger that a participant's text stands for.
func entryOfText(tx *gorm.DB, in models.Inbound) models.Consent {
	entry := models.Consent{
		Method: in.IntentMethod, Text: in.Body, RecordedBy: byParticipant, InboundID: in.ID, Channel: in.Channel, At: in.ReceivedAt,
	}
	if !isCarried(in) {
		entry.Caller = models.OriginOf(tx.Statement.Context).Actor
	}
	if in.IntentMethod == models.MethodCarrier {
		entry.RecordedBy = byCarrier
	}
	return entry
}

// optOut ends everything for a participant and tells the workflow. except is an
// outbox row that the caller settles itself.
func optOut(tx *gorm.DB, p models.Participant, entry models.Consent, except string) (int64, error) {
	p.Status = wire.StatusOptedOut
	if err := saveParticipant(tx, &p, entry.At); err != nil {
		return 0, err
	}
	if err := recordOptOut(tx, p, entry, except); err != nil {
		return 0, err
	}
	return tellConsent(tx, p, entry, models.ConsentOptOut)
}

// recordOptOut writes the ledger, cancels what is unsent and ends the turns
// that are running, so that they write nothing any more. What they were about waits
// until the person comes back.
func recordOptOut(tx *gorm.DB, p models.Participant, entry models.Consent, except string) error {
	entry.ParticipantID, entry.PhoneIndex, entry.Action = p.ID, p.PhoneIndex, models.ConsentOptOut
	if err := tx.Create(&entry).Error; err != nil {
		return err
	}
	if err := leaveUnanswered(tx, p); err != nil {
		return err
	}
	return endCoaching(tx, ending{participantID: p.ID, reason: string(wire.StatusOptedOut), except: except, at: entry.At})
}

// endCoaching cancels what is unsent and ends the turns that are running.
func endCoaching(tx *gorm.DB, e ending) error {
	if err := callOff(tx, e); err != nil {
		return err
	}
	return tx.Model(&models.Turn{}).
		Where("participant_id = ? AND outcome = '' AND kind <> ?", e.participantID, wire.TurnMessage).
		UpdateColumns(map[string]any{"outcome": outcomeCanceled, "finished_at": e.at}).Error
}

// optIn takes a participant back into coaching by their own text. Messages that have
// waited over the opt-out are settled as when an operator resumes without a choice.
func optIn(tx *gorm.DB, p models.Participant, entry models.Consent) (int64, error) {
	optOut, err := newestConsent(tx, p)
	if err != nil {
		return 0, err
	}
	p.Status = wire.StatusActive
	if err := saveParticipant(tx, &p, entry.At); err != nil {
		return 0, err
	}
	entry.ParticipantID, entry.PhoneIndex, entry.Action = p.ID, p.PhoneIndex, models.ConsentOptIn
	if err := tx.Create(&entry).Error; err != nil {
		return 0, err
	}
	notice, err := tellConsent(tx, p, entry, models.ConsentOptIn)
	if err != nil || p.IsTakenOver() || p.DoubtedAt != nil {
		return notice, err
	}
	if err := queueSince(tx, p.ID, optOut.At); err != nil {
		return notice, err
	}
	waiting, err := chooseWaiting(tx, p, "", entry.At)
	if err != nil {
		return notice, err
	}
	return notice, waiting.settleWaiting(tx, p, models.ParticipantUpdate{Actor: cmp.Or(entry.Caller, entry.RecordedBy), Now: entry.At})
}

// queueSince has the messages of an opt-out wait behind those that have waited over it,
// so that all are settled in their order.
func queueSince(tx *gorm.DB, participantID string, optOut time.Time) error {
	const older = "EXISTS (SELECT 1 FROM inbound older WHERE older.participant_id = inbound.participant_id AND older.waiting AND older.seq < inbound.seq)"
	return tx.Model(&models.Inbound{}).Where("participant_id = ? AND seq > 0 AND gate = '' AND received_at >= ? AND "+older, participantID, instant(optOut)).
		UpdateColumn("waiting", true).Error
}

func tellConsent(tx *gorm.DB, p models.Participant, entry models.Consent, action models.ConsentAction) (int64, error) {
	audit := models.AuditRow{ParticipantID: p.ID, Actor: cmp.Or(entry.Caller, entry.RecordedBy), Action: string(action), Detail: string(entry.Method), At: entry.At}
	if entry.Caller != "" {
		audit.Detail += " by " + string(entry.Channel)
	}
	if err := database.AddAudit(tx, audit); err != nil {
		return 0, err
	}
	return insertNotice(tx, models.Notice{
		ParticipantID: p.ID, Kind: models.NoticeConsent, Ref: string(entry.Method), CreatedAt: entry.At,
	})
}

var errOptedOut = models.BadField("status", "the participant opted out; only the participant can come back, by texting START")

// operatorConsent records what an operator's change of status means for
// consent, and refuses to bring back a participant who opted out.
func operatorConsent(tx *gorm.DB, old, p models.Participant, entry models.Consent) error {
	switch {
	case old.Status == p.Status:
		return nil
	case p.Status == wire.StatusOptedOut:
		entry.Method = models.MethodOperator
		return recordOptOut(tx, p, entry, "")
	case old.Status == wire.StatusOptedOut && (p.Status == wire.StatusActive || p.Status == wire.StatusPaused):
		return errOptedOut
	}
	return nil
}

// carrierOptOut takes over the carrier's word that a person wants no more
// texts. Its word about a text from before the person came back is old.
func carrierOptOut(tx *gorm.DB, p models.Participant, row models.Outbox, now time.Time) error {
	newest, err := newestConsent(tx, p)
	if err != nil || p.RemovedAt != nil || isOptedOut(p, newest) {
		return err
	}
	if newest.Action == models.ConsentOptIn && row.AttemptedAt != nil && row.AttemptedAt.Before(newest.At) {
		return nil
	}
	entry := models.Consent{Method: models.MethodCarrierError, RecordedBy: byCarrier, At: now}
	_, err = optOut(tx, p, entry, row.ID)
	return err
}

// isBarred reports whether a turn of this kind may write nothing for the
// participant.
func isBarred(p models.Participant, kind wire.TurnKind) bool {
	switch {
	case p.RemovedAt != nil:
		return kind != wire.TurnNotice
	case p.Status == wire.StatusOptedOut:
		return models.TurnSpecOf(kind).Coaching || kind == wire.TurnHelp
	case p.DoubtedAt != nil: // A yes to one of our questions would not say whose the number is.
		spec := models.TurnSpecOf(kind)
		return spec.Initiated && spec.Asks && spec.Source == wire.SourceFixed
	}
	return false
}

// checkConsent refuses everything for a participant who opted out, except the
// one confirmation of it and the answer to a HELP that came later. Of confirmations only the one tied to the newest
// entry of the ledger passes.
func checkConsent(row models.Outbox, p models.Participant, newest models.Consent) string {
	switch {
	case isOptedOut(p, newest) && row.Kind == models.KindHelp && isHelpText(row) && row.CreatedAt.After(newest.At):
		return "" // it answers a HELP
	case row.Kind != models.KindConsent && isOptedOut(p, newest):
		return string(wire.StatusOptedOut)
	case row.Kind == models.KindConsent && (p.RemovedAt != nil || !confirmsConsent(row.TurnID, newest)):
		return refusedSuperseded
	}
	return ""
}

// nothingToSay reports whether the turn is barred, or would confirm what was
// confirmed or is over.
func nothingToSay(tx *gorm.DB, p models.Participant, in wire.PrepareTurnInput) (bool, error) {
	if isBarred(p, in.Plan.Kind) || in.Plan.Kind != wire.TurnConsent {
		return isBarred(p, in.Plan.Kind), nil
	}
	tied, err := tieConsent(tx, p, in.TurnID)
	return !tied, err
}
