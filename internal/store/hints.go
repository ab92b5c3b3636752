package store

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nyaruka/phonenumbers"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// Why a hint was not sent; kept in the row's error code.
const (
	hintStale    = "stale"
	hintOptedOut = string(wire.StatusOptedOut)
	hintEnrolled = "enrolled"
	hintEnded    = "join_ended"
)

// indexDigits of the sender's blind index tell senders apart in a hint's id.
const indexDigits = 24

// Hints keeps fixed texts that no turn writes: hints to strangers, notices of a limit, questions about an opt-out.
type Hints struct {
	db *database.Database
	// limits bound the texts of one sender that reach the coach.
	limits InboundLimits
	outbox *Outbox
	// regions are those of the enrolled people's numbers, as they were at regionsAt.
	regions   map[string]bool
	regionsAt time.Time
	lock      sync.Mutex
}

// createHint writes the hint to a stranger, whose marked text is stored already, and
// returns its id: the safety text for a text that may be a crisis, else that the number
// is not enrolled; each once a day. "" when none is due: there was one today, hints are
// off (the safety text goes all the same), the text asks for no more texts or was
// answered by the carrier, the sender opted out, or it is no phone.
func (s *Hints) createHint(tx *gorm.DB, in models.Inbound) (string, error) {
	isDangerous := in.Danger != models.DangerNone
	silent := in.Intent == models.IntentStop || in.IntentMethod == models.MethodCarrier
	if silent || !isDangerous && !s.limits.Hints || !strings.HasPrefix(in.From, "+") || in.From == in.To {
		return "", nil
	}
	newest, err := consentOfPhone(tx, in.FromIndex)
	if err != nil || newest.Action == models.ConsentOptOut {
		return "", err
	}
	if isLimited, err := s.isHintLimited(tx, in); err != nil || isLimited {
		return "", err
	}
	row := models.Hint{
		ID:        "hint-" + in.FromIndex[:min(indexDigits, len(in.FromIndex))] + "-" + in.ReceivedAt.In(s.limits.Zone).Format(time.DateOnly),
		InboundID: in.ID, Status: wire.OutboxReady, CreatedAt: in.ReceivedAt, UpdatedAt: in.ReceivedAt,
	}
	if isDangerous {
		row.Purpose = models.HintCrisis
		row.ID += "-" + string(models.HintCrisis)
	}
	res := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
	if res.Error != nil || res.RowsAffected == 0 {
		return "", res.Error
	}
	return row.ID, nil
}

// hintsPerHour is how many strangers are told within an hour that they are not enrolled,
// over all numbers.
const hintsPerHour = 60

// hintSegments is how many segments a hint has at most.
const hintSegments = 2

// satelliteCodes are calling codes of satellites and of networks without a country.
var satelliteCodes = []int32{870, 878, 881, 882, 883, 888, 979}

// isHintLimited reports whether a stranger gets no hint: a text to the number costs more
// than others, nobody of its region is expected, too many were told within the hour, of
// which an operator hears, or it would cost too much. A safety text goes to every region,
// and the first one to a number whatever it costs.
func (s *Hints) isHintLimited(tx *gorm.DB, in models.Inbound) (bool, error) {
	isDangerous := in.Danger != models.DangerNone
	if number, err := phonenumbers.Parse(in.From, ""); err == nil {
		if isExpensive(number) {
			return true, nil
		}
		if !isDangerous {
			if isExpected, err := s.isExpectedFrom(tx, phonenumbers.GetRegionCodeForNumber(number), in.ReceivedAt); err != nil || !isExpected {
				return true, err
			}
		}
	}
	if isDangerous {
		if isFirst, err := isFirstSafetyText(tx, in); err != nil || isFirst {
			return false, err
		}
	}
	var told, all int64
	err := tx.Raw("SELECT COALESCE(SUM(CASE WHEN purpose = ? THEN 1 ELSE 0 END), 0), COUNT(*) FROM hints WHERE created_at > ? AND join_id = ''",
		models.HintUnknown, instant(in.ReceivedAt.Add(-time.Hour))).Row().Scan(&told, &all)
	if err != nil {
		return false, err
	}
	if told >= hintsPerHour && !isDangerous {
		return true, raiseFlood(tx, floodOf(in))
	}
	cost := s.limits.Prices.Outbound(in.From, hintSegments*(all+1))
	return s.limits.StrangerMicros > 0 && cost != nil && *cost > s.limits.StrangerMicros, nil
}

// isExpectedFrom reports whether texts may come from a region: the programme's own, or one
// of enrolled people.
func (s *Hints) isExpectedFrom(tx *gorm.DB, region string, now time.Time) (bool, error) {
	if s.limits.Region == "" || region == s.limits.Region {
		return true, nil
	}
	return s.hasPeopleIn(tx, region, now)
}

// isExpensive reports whether texts to a number cost more than others.
func isExpensive(number *phonenumbers.PhoneNumber) bool {
	kind := phonenumbers.GetNumberType(number)
	return kind == phonenumbers.PREMIUM_RATE || kind == phonenumbers.SHARED_COST || slices.Contains(satelliteCodes, number.GetCountryCode())
}

// isFirstSafetyText reports whether a number was sent no safety text before.
func isFirstSafetyText(tx *gorm.DB, in models.Inbound) (bool, error) {
	var sent int64
	err := tx.Model(&models.Hint{}).Where("purpose = ? AND inbound_id IN (?)", models.HintCrisis,
		tx.Model(&models.Inbound{}).Select("id").Where("from_index = ?", in.FromIndex)).Count(&sent).Error
	return sent == 0, err
}

// regionsFor is how long the regions of people's numbers are believed: numbers are sealed,
// and a flood must not open them all for each text.
const regionsFor = time.Hour

// hasPeopleIn reports whether people are enrolled, up to an hour ago, with numbers of a
// region.
func (s *Hints) hasPeopleIn(tx *gorm.DB, region string, now time.Time) (bool, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.regions == nil || now.Sub(s.regionsAt) >= regionsFor {
		var people []models.Participant
		if err := tx.Select("id", "phone").Where("removed_at IS NULL").Find(&people).Error; err != nil {
			return false, err
		}
		s.regions, s.regionsAt = map[string]bool{}, now
		for _, p := range people {
			if number, err := phonenumbers.Parse(p.Phone, ""); err == nil {
				s.regions[phonenumbers.GetRegionCodeForNumber(number)] = true
			}
		}
	}
	return s.regions[region], nil
}

// PendingHints lists hints that Temporal was not told to send and that were
// written before createdBefore, oldest first, at most limit of them.
func (s *Hints) PendingHints(ctx context.Context, createdBefore time.Time, limit int) ([]models.Hint, error) {
	var rows []models.Hint
	err := s.db.Reader(ctx).Where("told_at IS NULL AND created_at < ?", createdBefore).
		Order("created_at").Limit(limit).Find(&rows).Error
	return rows, wrap.Error(err, "reading hints")
}

// HintTold records that Temporal was told. Safe to repeat: the first instant
// stays.
func (s *Hints) HintTold(ctx context.Context, id string, at time.Time) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Model(&models.Hint{}).Where("id = ? AND told_at IS NULL", id).UpdateColumn("told_at", at).Error
	})
	return wrap.Error(err, "marking the hint")
}

// ClaimHint answers whether a hint may be sent now and marks it as being sent
// if so. Consent and enrolment are looked at again; while the sender is stopped the
// claim has how long to wait. A hint that an earlier
// attempt left in sending may have gone out: it ends as unknown and is never
// posted twice. ErrNotFound for an unknown id.
func (s *Hints) ClaimHint(ctx context.Context, id string, now time.Time) (models.HintClaim, error) {
	var claim models.HintClaim
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		var row models.Hint
		if err := forUpdate(tx).Where("id = ?", id).Take(&row).Error; err != nil {
			return err
		}
		to, err := readerOfHint(tx, row)
		if err != nil {
			return err
		}
		before := row.Status
		if row.Status, row.ErrorCode, err = hintStatus(tx, row, to, now); err != nil {
			return err
		}
		if before == wire.OutboxReady && row.Status == wire.OutboxSending {
			wait, err := s.outbox.senderWait(tx, to.study, now)
			if err != nil || wait > 0 {
				claim = models.HintClaim{Status: before, Wait: wait}
				return err
			}
		}
		claim = models.HintClaim{To: to.phone, Post: row.Status == wire.OutboxSending, Status: row.Status}
		row.UpdatedAt = now
		return tx.Select("status", "error_code", "updated_at").UpdateColumns(&row).Error
	})
	return claim, wrap.Error(err, "claiming the hint")
}

// hintStatus returns where a claimed hint stands; only sending is posted.
func hintStatus(tx *gorm.DB, row models.Hint, to hintReader, now time.Time) (wire.OutboxStatus, string, error) {
	if row.Status == wire.OutboxSending {
		return wire.OutboxUnknown, "", nil
	}
	if row.Status != wire.OutboxReady {
		return row.Status, row.ErrorCode, nil
	}
	if now.Sub(row.CreatedAt) > models.FixedTextValidity {
		return wire.OutboxCanceled, hintStale, nil
	}
	refusal, err := hintRefusal(tx, to)
	if err != nil || refusal != "" {
		return wire.OutboxCanceled, refusal, err
	}
	return wire.OutboxSending, "", nil
}

// hintReader is the person whom a hint is for. study is that of the join that it
// belongs to, empty for none; ended: the join is over.
type hintReader struct {
	phone, index, study string
	ended               bool
}

// readerOfHint returns whom a hint is for: the number of its join, else the sender of
// the text that it answers.
func readerOfHint(tx *gorm.DB, row models.Hint) (hintReader, error) {
	if row.JoinID != "" {
		var join models.Join
		err := tx.Where("id = ?", row.JoinID).Take(&join).Error
		return hintReader{phone: join.Phone, index: join.PhoneIndex, study: join.StudyID, ended: join.State != models.JoinPending}, err
	}
	var in models.Inbound
	err := tx.Where("id = ?", row.InboundID).Take(&in).Error
	return hintReader{phone: in.From, index: in.FromIndex}, err
}

// hintRefusal names what forbids a hint to a person, or returns nothing.
func hintRefusal(tx *gorm.DB, to hintReader) (string, error) {
	var people int64
	err := tx.Model(&models.Participant{}).Where("phone_index = ? AND removed_at IS NULL", to.index).Count(&people).Error
	if err != nil || people > 0 {
		return hintEnrolled, err
	}
	newest, err := consentOfPhone(tx, to.index)
	if err != nil || newest.Action == models.ConsentOptOut {
		return hintOptedOut, err
	}
	if to.ended {
		return hintEnded, nil
	}
	return "", nil
}

// CheckHint repeats the check of consent and enrolment for a claimed hint, when
// the connection to the carrier is established, and returns where it stands:
// sending when it may be written. ErrNotFound for an unknown id.
func (s *Hints) CheckHint(ctx context.Context, id string, now time.Time) (wire.OutboxStatus, error) {
	var row models.Hint
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		row = models.Hint{}
		if err := forUpdate(tx).Where("id = ?", id).Take(&row).Error; err != nil {
			return err
		}
		to, err := readerOfHint(tx, row)
		if err != nil {
			return err
		}
		refusal, err := hintRefusal(tx, to)
		if err != nil || refusal == "" || row.Status != wire.OutboxSending {
			return err
		}
		row.Status, row.ErrorCode, row.UpdatedAt = wire.OutboxCanceled, refusal, now
		return tx.Select("status", "error_code", "updated_at").UpdateColumns(&row).Error
	})
	return row.Status, wrap.Error(err, "checking the hint")
}

// SettleHint ends an attempt; what the carrier took costs something. It does nothing unless the hint is being sent, so
// a retry is safe.
func (s *Hints) SettleHint(ctx context.Context, r models.HintResult) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		res := tx.Model(&models.Hint{}).Where("id = ? AND status = ?", r.ID, wire.OutboxSending).UpdateColumns(map[string]any{
			"status": r.Status, "provider_sid": r.ProviderSID, "error_code": r.ErrorCode, "updated_at": r.Now,
		})
		if res.Error != nil || res.RowsAffected == 0 || r.ProviderSID == "" {
			return res.Error
		}
		return tx.Create(&costRef{Source: costHint, Ref: r.ID + "/" + strconv.Itoa(r.Segments)}).Error
	})
	return wrap.Error(err, "settling the hint")
}

// ReaderOf returns the participant who sent a text, with name, phone, locale, study, arm
// and where they stand only. ErrNotFound for a text that is unknown or a stranger's.
func (s *Hints) ReaderOf(ctx context.Context, inboundID int64) (models.Participant, error) {
	var p models.Participant
	sender := s.db.Reader(ctx).Model(&models.Inbound{}).Select("participant_id").Where("id = ?", inboundID)
	err := s.db.Reader(ctx).Select("id", "name", "phone", "locale", "study_id", "arm", "status", "taken_over_by").Where("id = (?)", sender).Take(&p).Error
	return p, wrap.Error(database.Classify(err), "reading who sent a text")
}

// QueueLimitNotice writes the outbox row that tells a participant of the limit,
// with its entry of the conversation, and returns the row's id; "" when it
// comes too late to be of use. Safe to retry: the first row stays. Whether it
// may be sent is for the send checks. ErrNotFound for an unknown text.
func (s *Hints) QueueLimitNotice(ctx context.Context, n models.LimitNotice) (string, error) {
	return s.queueFixed(ctx, fixedText{name: "limit", inboundID: n.InboundID, body: n.Body, now: n.Now, validity: models.FixedTextValidity})
}

// QueueAsk writes the outbox row that asks what a text meant, as QueueLimitNotice
// does its own, on the channel that the text came by.
func (s *Hints) QueueAsk(ctx context.Context, a models.Ask) (string, error) {
	name := askText
	if a.IsHelp {
		name = helpText
	}
	return s.queueFixed(ctx, fixedText{name: name, inboundID: a.InboundID, body: a.Body, now: a.Now, validity: models.AnswerValidity})
}

// helpText names the rows that answer a HELP without a turn, askText those that ask what
// a text meant.
const helpText, askText = "help", "ask"

// isHelpText reports whether a row answers a HELP without a turn.
func isHelpText(row models.Outbox) bool {
	return row.TurnID == "" && strings.HasPrefix(row.ID, row.ParticipantID+"-"+helpText+"-")
}

// AskedIntent returns what the screening took a text for. ErrNotFound for an
// unknown text.
func (s *Hints) AskedIntent(ctx context.Context, inboundID int64) (models.Intent, error) {
	var in models.Inbound
	err := s.db.Reader(ctx).Select("intent").Where("id = ?", inboundID).Take(&in).Error
	return in.Intent, wrap.Error(database.Classify(err), "reading a text")
}

// fixedText answers a participant's text without a turn. Its name is part of the
// row's id, and validity is how long after the text it is useful.
type fixedText struct {
	name      string
	inboundID int64
	body      string
	now       time.Time
	validity  time.Duration
}

func (s *Hints) queueFixed(ctx context.Context, f fixedText) (string, error) {
	var id string
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		id = ""
		var in models.Inbound
		if err := tx.Where("id = ? AND participant_id <> ''", f.inboundID).Take(&in).Error; err != nil {
			return err
		}
		var p models.Participant
		if err := forUpdate(tx).Where("id = ?", in.ParticipantID).Take(&p).Error; err != nil {
			return err
		}
		row := models.Outbox{
			ID:            p.ID + "-" + f.name + "-" + strconv.FormatInt(in.ID, 10),
			ParticipantID: p.ID, Part: 1, Kind: models.KindHelp, Body: f.body, Channel: in.Channel,
			Status: wire.OutboxReady, CreatedAt: f.now, UpdatedAt: f.now,
		}
		var err error
		id, err = queueOnce(tx, row, in.ReceivedAt.Add(f.validity))
		return err
	})
	return id, wrap.Errorf(err, "queueing the text %s", f.name)
}

// queueOnce queues a text of a person's own message and returns its id, also where it
// was queued before; nothing where its time is over.
func queueOnce(tx *gorm.DB, row models.Outbox, until time.Time) (id string, err error) {
	showMessage(&row)
	err = tx.Where("id = ?", row.ID).Take(&models.Outbox{}).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		if row.CreatedAt.After(until) {
			return "", nil
		}
		err = queueRow(tx, row)
	}
	return row.ID, err
}

func queueRow(tx *gorm.DB, row models.Outbox) error {
	if err := tx.Create(&row).Error; err != nil {
		return err
	}
	return tx.Create(&models.Message{
		ParticipantID: row.ParticipantID, Key: row.ID, Role: models.RoleAssistant, Kind: row.Kind,
		Text: row.Body, OutboxID: row.ID, Channel: row.Channel, At: row.CreatedAt,
	}).Error
}

func ignoreMissing(err error) error {
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil
	}
	return err
}
