package store

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/screening"
	"coachline/internal/text"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// Inbound takes in what people text.
type Inbound struct {
	db *database.Database
	// limits bound the texts of one sender that reach the coach.
	limits    InboundLimits
	takeOvers *TakeOvers
	hints     *Hints
	joins     *Joins
	budgets   *Budgets
	// secondLook: a model reads a weak sign of danger once more.
	secondLook bool
}

// AcceptInbound screens a text and stores it as it was delivered. The
// provider's id is claimed once: a later call, also at the same moment, gets
// the stored row with Duplicate set, and nothing is written. A text of an
// enrolled sender gets the next sequence number, answers the prompts that wait
// for one, and leaves a notice for the workflow; one that opts out, comes back
// or asks for help is acted on in the same transaction instead, and one with a
// limit is kept from the workflow. A stranger's text is stored and may earn a
// hint. Safe to retry.
func (s *Inbound) AcceptInbound(ctx context.Context, in models.Inbound) (models.AcceptedInbound, error) {
	if in.ProviderSID == "" {
		return models.AcceptedInbound{}, models.BadField("provider_sid", "must not be empty")
	}
	if s.limits.CarrierAnswers && isCarried(in) && in.OptOutType == "" {
		in.OptOutType = screening.CarrierType(in.Body)
	}
	screenMessage(&in, in.Body)
	var out models.AcceptedInbound
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		var err error
		out, err = s.acceptInbound(tx, in)
		return err
	})
	if errors.Is(err, models.ErrConflict) {
		// The same delivery came in before; the transaction has left nothing.
		out, err = s.storedInbound(ctx, in.ProviderSID)
	}
	return out, wrap.Error(err, "accepting inbound")
}

// screenMessage records what a message asks of the programme and what danger it
// speaks of. It is the only place that decides this: everything that a person
// says, typed or transcribed, passes it before it is stored.
func screenMessage(in *models.Inbound, words string) {
	found := screening.Screen(screening.Message{Body: words, OptOutType: in.OptOutType, At: in.ReceivedAt})
	in.Intent, in.IntentMethod = found.Intent, found.Method
	in.Danger, in.DangerTier, in.DangerRule, in.DangerKind = found.Danger, found.Tier, found.Rule, found.Kind
	in.DangerScore, in.IsLikeAnswer, in.IsOtherLanguage = found.Score, found.IsLikeAnswer, found.IsOtherLanguage
}

func (s *Inbound) storedInbound(ctx context.Context, providerSID string) (models.AcceptedInbound, error) {
	var row models.Inbound
	err := s.db.Reader(ctx).Where("provider_sid = ?", providerSID).Take(&row).Error
	switch {
	case errors.Is(err, gorm.ErrRecordNotFound):
		return models.AcceptedInbound{}, models.ErrConflict // over something else
	case err != nil:
		return models.AcceptedInbound{}, classify(err)
	}
	return models.AcceptedInbound{Inbound: row, Duplicate: true}, nil
}

func (s *Inbound) acceptInbound(tx *gorm.DB, in models.Inbound) (models.AcceptedInbound, error) {
	in.ID, in.ParticipantID, in.Seq, in.Waiting, in.ResumeNoticeID = 0, "", 0, false, 0
	in.ReceivedAt = instant(in.ReceivedAt)
	s.setIndexes(&in)
	var p models.Participant
	err := forUpdate(tx).Where("phone_index = ? AND removed_at IS NULL", in.FromIndex).Take(&p).Error
	switch {
	case errors.Is(err, gorm.ErrRecordNotFound) && isCarried(in):
		return s.acceptStranger(tx, in)
	case err != nil:
		return models.AcceptedInbound{}, err
	}
	if err := raiseDoubt(tx, &p, in); err != nil {
		return models.AcceptedInbound{}, err
	}
	in.ParticipantID, p.LastInboundAt = p.ID, &in.ReceivedAt
	if err := noteHeard(tx, &p, in); err != nil {
		return models.AcceptedInbound{}, err
	}
	isReaction, err := isReactionToText(tx, in)
	if err != nil {
		return models.AcceptedInbound{}, err
	}
	if isReaction {
		return keepReaction(tx, in)
	}
	out, err := s.acceptScreened(tx, in, p)
	if err != nil {
		return out, err
	}
	heard := map[string]any{"last_inbound_at": in.ReceivedAt}
	if out.Inbound.Seq != 0 {
		heard["next_seq"] = out.Inbound.Seq + 1
	}
	return out, tx.Model(&models.Participant{ID: p.ID}).UpdateColumns(heard).Error
}

// acceptScreened acts on what the screening found in a participant's message and
// stores it.
func (s *Inbound) acceptScreened(tx *gorm.DB, in models.Inbound, p models.Participant) (models.AcceptedInbound, error) {
	if in.IsOtherLanguage {
		return s.acceptForeign(tx, in, p)
	}
	if in.Danger != models.DangerNone {
		return s.acceptDanger(tx, in, p)
	}
	return s.acceptKnown(tx, in, p)
}

// acceptDanger stores a text that may be a crisis and raises the alert. A text
// that the safety text does not answer is handled like any other.
func (s *Inbound) acceptDanger(tx *gorm.DB, in models.Inbound, p models.Participant) (models.AcceptedInbound, error) {
	saysMinor := in.Intent == models.IntentMinor
	if err := settleMinor(tx, &in, p); err != nil {
		return models.AcceptedInbound{}, err
	}
	isWeak, err := s.canLookAgain(tx, in, p)
	if err != nil {
		return models.AcceptedInbound{}, err
	}
	if isWeak {
		return s.acceptWeak(tx, in, p)
	}
	answer, err := needsSafetyText(tx, p, in)
	if err != nil {
		return models.AcceptedInbound{}, err
	}
	escalated, err := isEscalated(tx, in)
	if err != nil {
		return models.AcceptedInbound{}, err
	}
	if escalated {
		in.DangerTier = models.TierA
	}
	var out models.AcceptedInbound
	if answer {
		out, err = acceptAnswered(tx, in, p)
	} else {
		out, err = s.acceptKnown(tx, in, p)
	}
	if err == nil {
		out.AlertID, err = raiseAlert(tx, out.Inbound, alertOptions{Answer: answer, Escalated: escalated})
	}
	if err == nil && in.Intent == models.IntentNone {
		err = noteMinor(tx, out.Inbound, p, saysMinor)
	}
	if err == nil && out.AlertID != "" && in.DangerTier != models.TierB {
		err = s.takeOvers.takeOverForAlert(tx, p.ID, in.ReceivedAt)
	}
	return out, err
}

// acceptAnswered stores a text that the safety text answers.
func acceptAnswered(tx *gorm.DB, in models.Inbound, p models.Participant) (out models.AcceptedInbound, err error) {
	if out.Inbound, err = keepInbound(tx, in); err == nil {
		err = answerPrompts(tx, p.ID, in.ReceivedAt)
	}
	if err == nil && (in.Intent == models.IntentUnclear || in.Intent == models.IntentMinor) {
		out.NoticeID, err = askIntent(tx, out.Inbound, p)
	}
	return out, err
}

// settleIntent settles what a message asks for by what was said before it.
func settleIntent(tx *gorm.DB, in *models.Inbound, p *models.Participant) error {
	if err := settleMinor(tx, in, *p); err != nil {
		return err
	}
	if err := doubtKeyword(tx, in, *p); err != nil {
		return err
	}
	if err := settleDoubt(tx, in, p); err != nil {
		return err
	}
	if !needsQuestion(in.Intent) || p.DoubtedAt != nil && in.Intent == models.IntentWrongNumber {
		return nil
	}
	isAsked, err := isToAsk(tx, *in, *p)
	if err == nil && !isAsked {
		in.Intent, in.IntentMethod = models.IntentNone, ""
	}
	return err
}

func (s *Inbound) acceptKnown(tx *gorm.DB, in models.Inbound, p models.Participant) (models.AcceptedInbound, error) {
	saysMinor := in.Intent == models.IntentMinor
	if err := settleIntent(tx, &in, &p); err != nil {
		return models.AcceptedInbound{}, err
	}
	// What else stands in a text that asks about data, the coach answers.
	isAside := isAboutData(in.Intent) && screening.HasMoreThanData(textOf(in))
	if isHandledHere(in, p) && !isAside {
		return s.acceptRuled(tx, in, p)
	}
	if isSpoken(in) {
		return models.AcceptedInbound{Inbound: in}, saveTranscription(tx, in)
	}
	reason, err := s.applyLimits(tx, &in, p)
	if err != nil {
		return models.AcceptedInbound{}, err
	}
	if in.Limit != models.LimitNone {
		return s.acceptLimited(tx, in, reason)
	}
	if err := noteIgnored(tx, in, p); err != nil {
		return models.AcceptedInbound{}, err
	}
	in.Seq, in.Waiting = p.NextSeq, waitsForOperator(p) // acceptInbound counts it
	if err := tx.Create(&in).Error; err != nil {
		return models.AcceptedInbound{}, err
	}
	if err := noteContents(tx, in, p, saysMinor, isAside); err != nil {
		return models.AcceptedInbound{}, err
	}
	id, err := insertNotice(tx, noticeOf(noticeKindOf(in), in))
	if err == nil && isOutside(p) {
		_, err = answerOutside(tx, in, p, time.Time{})
	}
	return models.AcceptedInbound{Inbound: in, NoticeID: id}, err
}

// noteContents notes what a text that the coach answers says beside: that prompts are
// answered, that the person is no adult, and what a fixed text answers, isAside.
func noteContents(tx *gorm.DB, in models.Inbound, p models.Participant, saysMinor, isAside bool) error {
	err := answerPrompts(tx, p.ID, in.ReceivedAt)
	if err == nil {
		err = noteMinor(tx, in, p, saysMinor)
	}
	if err == nil && isAside {
		err = answerAside(tx, in)
	}
	return err
}

// noteMinor pauses the coaching of a person who says that they are no adult.
func noteMinor(tx *gorm.DB, in models.Inbound, p models.Participant, saysMinor bool) error {
	if !saysMinor || !p.Status.Coached() {
		return nil
	}
	return raiseMinor(tx, in)
}

// answerAside has the privacy text sent beside the coach's reply.
func answerAside(tx *gorm.DB, in models.Inbound) error {
	if _, err := insertNotice(tx, noticeOf(models.NoticeAsk, in)); err != nil {
		return err
	}
	return noteErasure(tx, in)
}

// noteHeard notes where the person wrote, and that a number can be reached.
func noteHeard(tx *gorm.DB, p *models.Participant, in models.Inbound) error {
	if err := noteChannel(tx, p, in); err != nil || !isCarried(in) {
		return err
	}
	return clearUnreachableOnText(tx, p, in.ReceivedAt)
}

func noticeOf(kind models.NoticeKind, in models.Inbound) models.Notice {
	return models.Notice{ParticipantID: in.ParticipantID, Kind: kind, Ref: strconv.FormatInt(in.ID, 10), Seq: in.Seq, Shape: shapeOf(in.Body), CreatedAt: in.ReceivedAt}
}

// longText is how many characters a text has after which no more is expected, fewWords
// how many words one has at least after which no more is expected either.
const longText, fewWords = 160, 4

// shapeOf says whether more is likely to follow a text.
func shapeOf(body string) wire.TextShape {
	body = strings.TrimRight(text.Visible(body), "\"'”’»)] ")
	end, _ := utf8.DecodeLastRuneInString(body)
	switch {
	case strings.ContainsRune("?？؟", end), utf8.RuneCountInString(body) >= longText:
		return wire.ShapeEnded
	case len(strings.Fields(body)) < fewWords, !strings.ContainsRune(".!…。！", end):
		return wire.ShapeOpen
	}
	return ""
}

// acceptStranger stores a text of a number that is not enrolled. One that may be a
// crisis gets the safety text and raises an alert, also from a person who is about to
// join.
func (s *Inbound) acceptStranger(tx *gorm.DB, in models.Inbound) (models.AcceptedInbound, error) {
	in.Limit = models.LimitStranger
	out, isJoin, err := s.joins.acceptJoin(tx, in)
	if err == nil && !isJoin {
		if err = tx.Create(&in).Error; err == nil {
			out.Inbound = in
			out.HintID, err = s.hints.createHint(tx, in)
		}
	}
	if err == nil && out.Inbound.Danger != models.DangerNone {
		out.AlertID, err = alertStranger(tx, out.Inbound)
	}
	if err == nil {
		err = s.tellOfStranger(tx, out.Inbound)
	}
	return out, err
}

// tellOfStranger raises attention for a stored text of a number that is not enrolled, where
// a person's would be above the limits.
func (s *Inbound) tellOfStranger(tx *gorm.DB, in models.Inbound) error {
	if in.Limit != models.LimitStranger {
		return nil
	}
	for _, limit := range []struct {
		most int
		span time.Duration
	}{{s.limits.PerMinute, time.Minute}, {s.limits.PerDay, 24 * time.Hour}} {
		var before int64
		err := tx.Model(&models.Inbound{}).Where("from_index = ? AND gate = ? AND received_at > ? AND id <> ?",
			in.FromIndex, models.LimitStranger, in.ReceivedAt.Add(-limit.span), in.ID).Count(&before).Error
		if err != nil {
			return err
		}
		if isAbove(int(before), limit.most) {
			return raiseFlood(tx, floodOf(in))
		}
	}
	return nil
}

// floodOf makes the attention that a text raises which no turn takes up.
func floodOf(in models.Inbound) models.AttentionEntry {
	return models.AttentionEntry{
		ParticipantID: in.ParticipantID, Kind: wire.AttentionFlood, Ref: strconv.FormatInt(in.ID, 10), Code: string(in.Limit), RaisedAt: in.ReceivedAt,
	}
}

// acceptLimited keeps a text from the workflow. Above the limit it still is an
// answer of the person's, and the first such text has the person told. Texts
// above the limit, and a mute, raise attention.
func (s *Inbound) acceptLimited(tx *gorm.DB, in models.Inbound, reason models.LoopReason) (models.AcceptedInbound, error) {
	limited := in.Limit == models.LimitRate || in.Limit == models.LimitSpent
	first := false
	if limited && isCarried(in) {
		var err error
		if first, err = s.needsLimitNotice(tx, in); err != nil {
			return models.AcceptedInbound{}, err
		}
	}
	if err := tx.Create(&in).Error; err != nil {
		return models.AcceptedInbound{}, err
	}
	out := models.AcceptedInbound{Inbound: in, Loop: reason}
	var err error
	if limited {
		err = answerPrompts(tx, in.ParticipantID, in.ReceivedAt)
	}
	if err == nil && first {
		notice := noticeOf(models.NoticeLimit, in)
		var hours int
		if hours, err = s.limitedHours(tx, in); err == nil && hours > 0 {
			notice.Ref += models.LimitHours + strconv.Itoa(hours)
		}
		if err == nil {
			out.NoticeID, err = insertNotice(tx, notice)
		}
	}
	if err == nil {
		err = tellOfLimit(tx, in, reason)
	}
	return out, err
}

// tellGate raises attention for a stored text above the limit, and for one at which
// its sender is muted, which the audit has too.
func tellOfLimit(tx *gorm.DB, in models.Inbound, reason models.LoopReason) error {
	if reason != models.LoopNone {
		err := database.AddAudit(tx, models.AuditRow{ParticipantID: in.ParticipantID, Actor: byLoopDetection, Action: "mute", Detail: string(reason), At: in.ReceivedAt})
		if err != nil {
			return err
		}
	} else if in.Limit != models.LimitRate && in.Limit != models.LimitSpent {
		return nil
	}
	return raiseFlood(tx, floodOf(in))
}

// raiseFlood raises attention for a text that is not answered, and has attention that is
// open show the newest one and its cause.
func raiseFlood(tx *gorm.DB, entry models.AttentionEntry) error {
	raised, err := raiseAttention(tx, entry)
	if err != nil || raised {
		return err
	}
	at := instant(entry.RaisedAt)
	err = tx.Model(&models.AttentionEntry{}).Where("participant_id = ? AND kind = ? AND ended_at IS NULL", entry.ParticipantID, entry.Kind).
		UpdateColumns(map[string]any{"code": entry.Code, "ref": entry.Ref, "raised_at": at}).Error
	if err != nil {
		return err
	}
	return tx.Model(&models.Participant{}).Where("id = ? AND attention = ?", entry.ParticipantID, entry.Kind).UpdateColumn("attention_at", at).Error
}

// byGate is who mutes a sender that behaves like a machine.
const byLoopDetection = "loop detection"

// History returns a page of an enrolled participant's conversation, oldest
// first: at most limit entries before the given instant, the newest ones when
// it is zero. Tool calls and debug texts are left out, texts that a limit kept
// from the coach are in; Delivery is where the outbox row of an entry stands.
// ErrNotFound also after removal.
func (s *People) History(ctx context.Context, id string, limit int, before time.Time) ([]models.HistoryEntry, error) {
	if _, err := s.Participant(database.AllowUnreadable(ctx), id); err != nil {
		return nil, err
	}
	entries, err := readHistory(s.db.Reader(ctx), historyPage{ParticipantID: id, Limit: limit, Before: before})
	return entries, wrap.Error(classify(err), "reading history")
}

// lockAndRead locks the participant's row, and reads the texts of the turn and
// the outcome it has, empty while it runs.
func (b *begunTurn) lockAndRead(tx *gorm.DB, in wire.PrepareTurnInput) (texts []models.Inbound, outcome string, err error) {
	if b.participant, err = lockParticipant(tx, in.ParticipantID); err != nil {
		return nil, "", err
	}
	err = tx.Model(&models.Turn{}).Where("id = ?", in.TurnID).Select("outcome").Scan(&outcome).Error
	if err != nil || len(in.InboundIDs) == 0 {
		return nil, outcome, err
	}
	err = tx.Where("id IN ? AND participant_id = ?", in.InboundIDs, in.ParticipantID).Order("seq").Find(&texts).Error
	return texts, outcome, err
}

// appendTexts adds the texts of a turn to the conversation, each once. One that stands
// there is repeated; it goes over to this turn from a reply that never came to an end.
func appendTexts(tx *gorm.DB, in wire.PrepareTurnInput, texts []models.Inbound) (repeated bool, err error) {
	if in.Plan.Kind == wire.TurnReply && slices.ContainsFunc(texts, isResumed) {
		if err := dropUnanswered(tx, in); err != nil {
			return false, err
		}
	}
	for _, t := range texts {
		entry := entryOf(in.TurnID, t)
		added, err := insertOnce(tx, &entry)
		if err != nil {
			return false, err
		}
		if added {
			continue
		}
		repeated = true
		dead := tx.Model(&models.Turn{}).Select("id").Where("participant_id = ? AND kind = ? AND outcome = ''", in.ParticipantID, wire.TurnReply)
		err = tx.Model(&models.Message{}).Where("participant_id = ? AND key = ? AND turn_id IN (?)", in.ParticipantID, entry.Key, dead).
			UpdateColumn("turn_id", in.TurnID).Error
		if err != nil {
			return false, err
		}
	}
	return repeated, nil
}

// countGone counts the texts of a turn that the database does not hold any more.
func countGone(in wire.PrepareTurnInput, texts []models.Inbound) int {
	distinct := slices.Clone(in.InboundIDs)
	slices.Sort(distinct)
	return len(slices.Compact(distinct)) - len(texts)
}

func appendEntry(tx *gorm.DB, m models.Message) error {
	_, err := insertOnce(tx, &m)
	return err
}
