package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"

	"coachline/internal/helplines"
	"coachline/internal/metrics"
	"coachline/internal/redact"
	"coachline/internal/screening"
	"coachline/internal/segments"
	"coachline/internal/study"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// Pager tells a person; sent is false when paging is off.
type Pager interface {
	Page(ctx context.Context, page models.AlertPage) (sent bool, err error)
}

// Poster sends a text; its errors are *models.CarrierError.
type Poster interface {
	Send(ctx context.Context, sms models.SMS) (models.Receipt, error)
}

// NoticeActivities sends what the starter answers by itself: the hint to a
// stranger, the notice about too many texts, and the safety text with its page.
// They run without a workflow, started by the relay under an id that cannot be
// started twice.
type NoticeActivities struct {
	Store     Hints
	Alerts    Alerts
	Pager     Pager
	Carrier   Poster
	Posts     *SendActivities
	Prompts   *prompts.Library
	Programme string
	// Studies change the texts and the name for their people; nil: they hold for
	// all.
	Studies *study.Resolver
	// Locale is that of the programme, such as "es-MX"; strangers are answered in
	// its language.
	Locale string
	// PublicURL is the base of the console's addresses in pages; empty: they are paths.
	PublicURL string
	// HasWords says that a page has the words of the message that were recognised.
	HasWords bool
	// AlertsTeam is whether Pager has a person to tell; the safety text says so
	// only then.
	AlertsTeam bool
	// Helplines are the numbers of countries; nil are the programme's own.
	Helplines *helplines.Table
	Now       func() time.Time
	// Metrics counts pages; nil: they are not counted.
	Metrics *metrics.Metrics
}

// SendHint sends the day's hint to a stranger, or a text to a person who wants to
// join a study, and returns its status. It goes out at most once: an attempt of
// unknown result ends it, and only a refusal by the carrier is tried again. Safe to
// retry.
func (f *NoticeActivities) SendHint(ctx context.Context, in wire.SendHintInput) (wire.OutboxStatus, error) {
	defer startHeartbeat(ctx)()
	body, sender, err := f.hintText(ctx, in.HintID)
	if err != nil {
		return "", err
	}
	claim, err := f.Store.ClaimHint(ctx, in.HintID, f.Now())
	if err != nil {
		return "", toTemporalError(err)
	}
	if claim.Wait > 0 {
		return "", retryIn(claim.Wait, "the sender is stopped", nil)
	}
	if !claim.Post {
		return claim.Status, nil
	}
	receipt, sendErr := f.Carrier.Send(ctx, models.SMS{
		OutboxID: in.HintID, To: claim.To, Body: body, Sender: sender, ValidFor: models.FixedTextValidity, BeforeWrite: f.checkHint(in.HintID),
	})
	if errors.Is(sendErr, errNotToBeWritten) {
		return wire.OutboxCanceled, nil
	}
	// The attempt is settled even when the activity was given up meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
	defer cancel()
	result := f.hintResult(in.HintID, receipt, sendErr)
	result.Segments = segments.Count(body).Segments
	if err := f.Store.SettleHint(ctx, result); err != nil {
		return "", fmt.Errorf("settling %s: %w", in.HintID, err)
	}
	if result.Status == wire.OutboxReady {
		return "", temporal.NewApplicationErrorWithOptions(sendErr.Error(), wire.ErrTypeCarrierBusy,
			temporal.ApplicationErrorOptions{Cause: sendErr})
	}
	return result.Status, nil
}

// hintText returns the wording of a hint and from which number it goes. What a person
// who wants to join gets is as their study has it.
func (f *NoticeActivities) hintText(ctx context.Context, id string) (string, models.Sender, error) {
	of, err := f.Store.HintText(ctx, id)
	if err != nil {
		return "", models.Sender{}, toTemporalError(err)
	}
	if of.Purpose == models.HintUnknown || of.Purpose == models.HintCrisis && of.StudyID == "" {
		text, err := f.textForStranger(of)
		return text, models.Sender{}, err
	}
	settings, err := f.Studies.Resolve(ctx, of.StudyID, "")
	if err != nil {
		return "", models.Sender{}, err
	}
	library, programme := settings.Texts(f.Prompts, f.Programme)
	name := hintNames[of.Purpose]
	if of.Purpose == models.HintCrisis {
		name = prompts.SafetyText(of.Safety)
	}
	text, err := library.Fixed(name, of.Locale, prompts.FixedData{
		Programme: programme, Place: prompts.HelpAsked, Changed: of.IsChanged, Weak: of.Weak, Lines: f.Helplines.Find(of.Phone, of.Locale), About: of.About, Link: of.Link, Consent: of.Consent,
	})
	if err != nil {
		return "", models.Sender{}, fmt.Errorf("rendering text %s: %w", name, err)
	}
	return segments.Smart(text), settings.Sender, nil
}

// textForStranger returns the wording for a number that is neither enrolled nor about to
// be. The safety text promises no person of the team: a weak sign alerts none.
func (f *NoticeActivities) textForStranger(of models.HintText) (string, error) {
	stranger := models.Participant{Phone: of.Phone, Locale: cmp.Or(of.Locale, f.Locale)}
	if of.Purpose == models.HintUnknown {
		name := prompts.UnknownSender
		switch {
		case of.AsksHelp:
			name = prompts.Help
		case of.IsFormer:
			name = prompts.Ended
		}
		return f.render(name, stranger, prompts.FixedData{TeamAlerted: f.AlertsTeam, Place: prompts.HelpUnknown})
	}
	return f.render(prompts.SafetyText(of.Safety), stranger, prompts.FixedData{Weak: of.Weak})
}

// hintNames are the texts to people who have asked to join and not agreed yet.
var hintNames = map[models.HintPurpose]prompts.Name{
	models.HintJoin: prompts.JoinRequest, models.HintJoinAgain: prompts.JoinAgain, models.HintHelp: prompts.Help,
}

// checkHint asks before a hint is written whether it may still go. A check that
// cannot be made is a hint that is tried again.
func (f *NoticeActivities) checkHint(id string) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		status, err := f.Store.CheckHint(ctx, id, f.Now())
		if err != nil {
			return &models.CarrierError{Class: models.CarrierRetry, Message: "the check before writing failed: " + err.Error()}
		}
		if status != wire.OutboxSending {
			return errNotToBeWritten
		}
		return nil
	}
}

func (f *NoticeActivities) hintResult(id string, receipt models.Receipt, err error) models.HintResult {
	result := models.HintResult{ID: id, Status: receipt.Status, ProviderSID: receipt.ProviderSID, Now: f.Now()}
	if err == nil {
		return result
	}
	result.Status = wire.OutboxUnknown
	var carrier *models.CarrierError
	if !errors.As(err, &carrier) {
		return result
	}
	result.ErrorCode = carrier.Code
	switch carrier.Class.Spec().Reaction {
	case models.ReactionRetry, models.ReactionRetryInMinutes:
		result.Status = wire.OutboxReady
	case models.ReactionLookUp:
	case models.ReactionEnd, models.ReactionRetryLater, models.ReactionHold, models.ReactionHoldAndEnd:
		result.Status = wire.OutboxFailed
	}
	return result
}

// SendLimitNotice tells a participant that the newest texts were too many, by
// an outbox row of its own that passes the send checks of every other text. Safe to
// retry: the text above the limit names the row, and its sending is SendSMS's.
func (f *NoticeActivities) SendLimitNotice(ctx context.Context, in wire.SendLimitInput) (wire.SendSMSResult, error) {
	defer startHeartbeat(ctx)()
	body, err := f.textFor(ctx, in.InboundID, prompts.TooManyTexts, prompts.FixedData{TeamAlerted: f.AlertsTeam, Hours: in.Hours})
	if err != nil {
		return wire.SendSMSResult{}, err
	}
	id, err := f.Store.QueueLimitNotice(ctx, models.LimitNotice{InboundID: in.InboundID, Body: body, Now: f.Now()})
	return f.sendQueued(ctx, id, err)
}

// SendAsk asks a participant whether a text meant to end the messages, or whether
// the number is another person's, or still theirs, tells a minor that coaching pauses, says what is kept of them, that their
// participation has ended, or helps a person who opted out, by an outbox row of its own that passes the
// send checks of every other text. Safe to retry: the text names the row, and its
// sending is SendSMS's.
func (f *NoticeActivities) SendAsk(ctx context.Context, in wire.SendAskInput) (wire.SendSMSResult, error) {
	defer startHeartbeat(ctx)()
	intent, err := f.Store.AskedIntent(ctx, in.InboundID)
	if err != nil {
		return wire.SendSMSResult{}, toTemporalError(err)
	}
	name := prompts.AskUnclear
	switch intent { //nolint:exhaustive // the others are not asked about
	case models.IntentWrongNumber:
		name = prompts.AskWrongNumber
	case models.IntentMinor:
		name = prompts.Minor
	case models.IntentData, models.IntentErasure:
		name = prompts.Privacy
	case models.IntentHelp:
		name = prompts.Help
	case models.IntentNone:
		name = prompts.Ended
	case models.IntentDoubted:
		name = prompts.AskSamePerson
	}
	body, err := f.textFor(ctx, in.InboundID, name, prompts.FixedData{TeamAlerted: f.AlertsTeam})
	if err != nil {
		return wire.SendSMSResult{}, err
	}
	id, err := f.Store.QueueAsk(ctx, models.Ask{InboundID: in.InboundID, Body: body, IsHelp: intent == models.IntentHelp, Now: f.Now()})
	return f.sendQueued(ctx, id, err)
}

// SendSafetyText answers a text that may be a crisis, by an outbox row of its
// own that passes the send checks of every other text and may rather be posted twice
// than not at all. Safe to retry: the alert names the row.
func (f *NoticeActivities) SendSafetyText(ctx context.Context, in wire.AlertInput) (wire.SendSMSResult, error) {
	defer startHeartbeat(ctx)()
	row, err := f.Alerts.Alert(ctx, in.AlertID)
	if err != nil {
		return wire.SendSMSResult{}, toTemporalError(err)
	}
	if !row.Answer {
		return wire.SendSMSResult{Status: wire.OutboxCanceled}, nil
	}
	body, err := f.textFor(ctx, row.InboundID, prompts.SafetyText(row.Safety), prompts.FixedData{TeamAlerted: f.AlertsTeam && row.Pages, Weak: !row.Pages, IsBody: row.Rule == screening.RuleBody})
	if err != nil {
		return wire.SendSMSResult{}, err
	}
	id, err := f.Alerts.QueueSafetyText(ctx, models.SafetyText{AlertID: in.AlertID, Body: body, Now: f.Now()})
	return f.sendQueued(ctx, id, err)
}

// sendQueued sends the outbox row that a queue call gave; without one, the text
// is not to be sent any more.
func (f *NoticeActivities) sendQueued(ctx context.Context, id string, err error) (wire.SendSMSResult, error) {
	if err != nil {
		return wire.SendSMSResult{}, toTemporalError(err)
	}
	if id == "" {
		return wire.SendSMSResult{Status: wire.OutboxCanceled}, nil
	}
	return f.Posts.SendSMS(ctx, wire.SendSMSInput{OutboxID: id})
}

// SendPage pages a person for an alert, and reports whether a page was sent.
// Safe to retry: the receiver knows a page by its id.
func (f *NoticeActivities) SendPage(ctx context.Context, in wire.AlertInput) (bool, error) {
	defer startHeartbeat(ctx)()
	raised, err := f.Alerts.AlertText(ctx, in.AlertID)
	if err != nil {
		return false, toTemporalError(err)
	}
	row := raised.Alert
	if row.FoldedInto != "" {
		return false, nil
	}
	page := models.AlertPage{
		ID: row.ID, Again: in.Again, ParticipantID: row.ParticipantID, Kind: string(wire.AttentionCrisis), At: row.CreatedAt.UTC(), More: raised.More,
		Rule: row.Rule, Link: f.PublicURL + pathOfAlert(row),
	}
	if in.Again {
		if row.AcknowledgedAt != nil || row.ClearedAt != nil {
			return false, nil
		}
		page.ID += "-again"
	}
	if f.HasWords {
		page.Words = redact.Scrub(screening.Screen(screening.Message{Body: raised.Text}).Words)
		page.Reason = redact.Scrub(row.LookReason)
	}
	sent, err := f.Pager.Page(ctx, page)
	if err != nil || !sent {
		return false, err
	}
	f.Metrics.Paged()
	if err := f.Alerts.AlertPaged(ctx, row.ID, f.Now()); err != nil {
		return false, toTemporalError(err)
	}
	return true, nil
}

// pathOfAlert is where the console shows the person of an alert, or the alert of a number
// that is not enrolled.
func pathOfAlert(row models.Alert) string {
	if row.ParticipantID == "" {
		return "/console/alerts/" + row.ID
	}
	return "/console/people/" + row.ParticipantID
}

// textFor returns a fixed text for the participant who sent a text, as their study
// has it.
func (f *NoticeActivities) textFor(ctx context.Context, inboundID int64, name prompts.Name, data prompts.FixedData) (string, error) {
	reader, err := f.Store.ReaderOf(ctx, inboundID)
	if err != nil {
		return "", toTemporalError(err)
	}
	settings, err := f.Studies.Resolve(ctx, reader.StudyID, reader.Arm)
	if err != nil {
		return "", err
	}
	own := *f
	own.Prompts, own.Programme = settings.Texts(f.Prompts, f.Programme)
	data.Place = placeOf(reader)
	return own.render(name, reader, data)
}

// render returns a fixed text in a reader's language, with the numbers of their country.
func (f *NoticeActivities) render(name prompts.Name, reader models.Participant, data prompts.FixedData) (string, error) {
	data.Programme, data.Name, data.Lines = f.Programme, calledName(reader.FirstName()), f.Helplines.Find(reader.Phone, reader.Locale)
	text, err := f.Prompts.Fixed(name, reader.Locale, data)
	return segments.Smart(text), wrap.Errorf(err, "rendering text %s", name)
}
