package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"coachline/internal/database"
	"coachline/internal/screening"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

const (
	// idBytes is how much chance a participant's id holds.
	idBytes = 12
	// joinDay is the span of the limits of joins.
	joinDay = 24 * time.Hour
)

// Joins keeps who asked to take part by a keyword or a form.
type Joins struct {
	db *database.Database
	// limits bound the texts of one sender that reach the coach.
	limits InboundLimits
}

// acceptJoin acts on a stranger's screened text that asks to join a study, or that
// comes from a person of whom a yes is awaited, and stores it. False for any other
// text, of which nothing was written.
func (s *Joins) acceptJoin(tx *gorm.DB, in models.Inbound) (models.AcceptedInbound, bool, error) {
	if !strings.HasPrefix(in.From, "+") || in.From == in.To {
		return models.AcceptedInbound{}, false, nil
	}
	join, found, err := pendingJoin(tx, in.FromIndex, in.ReceivedAt)
	if err != nil {
		return models.AcceptedInbound{}, false, err
	}
	if found {
		out, err := s.answerJoin(tx, in, join)
		return out, true, err
	}
	if in.Danger != models.DangerNone || in.Intent != models.IntentNone {
		return models.AcceptedInbound{}, false, nil
	}
	study, rule, found, err := studyOfKeyword(tx, in)
	if err != nil || !found {
		return models.AcceptedInbound{}, false, err
	}
	if err := tx.Create(&in).Error; err != nil {
		return models.AcceptedInbound{}, false, err
	}
	asked := models.Join{
		ID: "join-" + strconv.FormatInt(in.ID, 10), StudyID: study, Phone: in.From, PhoneIndex: in.FromIndex, Method: models.MethodKeyword,
		Keyword: models.FoldKeyword(rule.Keyword), CreatedAt: in.ReceivedAt,
	}
	hint, err := s.startJoin(tx, asked, rule, in.ID)
	return models.AcceptedInbound{Inbound: in, HintID: hint}, true, err
}

// pendingJoin locks the join of a number that waits for a yes. One whose time is over
// is ended.
func pendingJoin(tx *gorm.DB, phoneIndex string, now time.Time) (models.Join, bool, error) {
	var rows []models.Join
	err := forUpdate(tx).Where("phone_index = ? AND state = ?", phoneIndex, models.JoinPending).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return models.Join{}, false, err
	}
	if !rows[0].ExpiresAt.After(now) {
		return models.Join{}, false, endJoin(tx, rows[0], models.JoinExpired, models.JoinNoAnswer, now)
	}
	return rows[0], true, nil
}

// endJoin ends a pending join and empties its number.
func endJoin(tx *gorm.DB, join models.Join, state models.JoinState, reason string, now time.Time) error {
	at := instant(now)
	join.State, join.Reason, join.EndedAt, join.Phone = state, reason, &at, ""
	return tx.Select("state", "reason", "ended_at", "phone", "participant_id").UpdateColumns(&join).Error
}

// studyOfKeyword returns the recruiting study that a text is a keyword of, sent to the
// study's number where it has one of its own.
func studyOfKeyword(tx *gorm.DB, in models.Inbound) (string, models.StudyJoin, bool, error) {
	var rows []models.Study
	err := tx.Select("id", "settings").Where("state = ? AND settings LIKE ?", models.StudyRecruiting, `%"join"%`).Order("id").Find(&rows).Error
	for _, row := range rows {
		settings, err := row.ReadSettings()
		if err != nil {
			return "", models.StudyJoin{}, false, err
		}
		if rule, found := settings.JoinBy(in.Body); found && (settings.From == "" || settings.From == in.To) {
			return row.ID, rule, true, nil
		}
	}
	return "", models.StudyJoin{}, false, err
}

// startJoin records that a person wants to join, within the limits, and returns the
// hint that asks for the consent; empty where nothing is to be sent. inboundID is the
// text that asked; 0 for a form.
func (s *Joins) startJoin(tx *gorm.DB, join models.Join, rule models.StudyJoin, inboundID int64) (string, error) {
	since := instant(join.CreatedAt.Add(-joinDay))
	var own, others int64
	err := tx.Model(&models.Join{}).Where("phone_index = ? AND created_at > ?", join.PhoneIndex, since).Count(&own).Error
	if err != nil || own >= models.JoinsPerNumber {
		return "", err
	}
	err = tx.Model(&models.Join{}).Where("study_id = ? AND created_at > ? AND state <> ?", join.StudyID, since, models.JoinRefused).Count(&others).Error
	if err != nil {
		return "", err
	}
	text, err := newestConsentText(tx, join.StudyID, rule.Locale)
	if err != nil {
		return "", err
	}
	newest, err := consentOfPhone(tx, join.PhoneIndex)
	if err != nil {
		return "", err
	}
	join.Locale, join.About, join.Link, join.Version = rule.Locale, rule.About, rule.Link, text.Version
	join.State, join.ExpiresAt = models.JoinPending, join.CreatedAt.Add(models.JoinValidity)
	switch {
	case newest.Action == models.ConsentOptOut:
		join.Reason = models.JoinOptedOut
	case others >= models.JoinsPerStudy:
		join.Reason = models.JoinStudyLimit
	}
	if join.Reason != "" {
		join.State, join.Phone, join.EndedAt = models.JoinRefused, "", &join.CreatedAt
	}
	res := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&join) // two first texts at once: one join
	if res.Error != nil || res.RowsAffected == 0 || join.State != models.JoinPending {
		return "", res.Error
	}
	return addJoinHint(tx, join, models.HintJoin, inboundID, join.CreatedAt)
}

// addJoinHint writes a text of a join, once for each purpose and version of the
// consent text, and returns its id; empty where it was written before.
func addJoinHint(tx *gorm.DB, join models.Join, purpose models.HintPurpose, inboundID int64, now time.Time) (string, error) {
	row := models.Hint{
		ID: fmt.Sprintf("hint-%s-%s-%d", join.ID, purpose, join.Version), InboundID: inboundID, JoinID: join.ID, Purpose: purpose,
		Status: wire.OutboxReady, CreatedAt: now, UpdatedAt: now,
	}
	res := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
	if res.Error != nil || res.RowsAffected == 0 {
		return "", res.Error
	}
	return row.ID, nil
}

// newestConsentText returns the newest consent text of a study in a language. The
// error is a *models.FieldError where there is none.
func newestConsentText(tx *gorm.DB, studyID, locale string) (models.ConsentText, error) {
	var rows []models.ConsentText
	err := tx.Where("study_id = ? AND locale = ?", studyID, locale).Order("version DESC").Limit(1).Find(&rows).Error
	if err == nil && len(rows) == 0 {
		err = models.BadField("join.locale", "%q has no consent text", locale)
	}
	if err != nil {
		return models.ConsentText{}, err
	}
	return rows[0], nil
}

// answerJoin acts on a text of a person of whom a yes is awaited, and stores it. What
// is neither yes, STOP, HELP nor a crisis is answered once with a request for a plain
// yes.
func (s *Joins) answerJoin(tx *gorm.DB, in models.Inbound, join models.Join) (models.AcceptedInbound, error) {
	isDangerous := in.Danger != models.DangerNone
	if in.Intent != models.IntentStop && !isDangerous && isYes(in.Body) {
		return s.agreeToJoin(tx, in, join)
	}
	if err := tx.Create(&in).Error; err != nil {
		return models.AcceptedInbound{}, err
	}
	out := models.AcceptedInbound{Inbound: in}
	if in.Intent == models.IntentStop {
		return out, endJoin(tx, join, models.JoinDeclined, models.JoinStopped, in.ReceivedAt)
	}
	purpose := models.HintJoinAgain
	switch {
	case isDangerous:
		purpose = models.HintCrisis
	case in.IntentMethod == models.MethodCarrier:
		return out, nil // the carrier has answered it
	case in.Intent == models.IntentHelp:
		purpose = models.HintHelp
	}
	var err error
	out.HintID, err = addJoinHint(tx, join, purpose, in.ID, in.ReceivedAt)
	return out, err
}

// isYes reports whether a text is a plain yes. Carriers report a YES as a START, so
// what they found does not count.
func isYes(body string) bool {
	return screening.Screen(screening.Message{Body: body}).Intent == models.IntentYes
}

// agreeToJoin enrols a person who has said yes to the newest consent text, with the
// consent, and stores the text as theirs. A person who was shown an older text is
// shown the newest one. A study that no longer recruits answers nothing.
func (s *Joins) agreeToJoin(tx *gorm.DB, in models.Inbound, join models.Join) (models.AcceptedInbound, error) {
	text, err := newestConsentText(tx, join.StudyID, join.Locale)
	if err != nil {
		return models.AcceptedInbound{}, err
	}
	if text.Version != join.Version {
		return askForNewVersion(tx, in, join, text.Version)
	}
	p, err := s.personOfJoin(in, join)
	if err != nil {
		return models.AcceptedInbound{}, err
	}
	consent := models.StudyConsent{Version: join.Version, Locale: join.Locale, Method: join.Method, RecordedBy: byParticipant, At: in.ReceivedAt}
	err = addParticipant(tx, &p, newMember{by: models.AuditRow{Actor: byParticipant}, consent: &consent})
	var refusal *models.FieldError
	if errors.As(err, &refusal) {
		if err := tx.Create(&in).Error; err != nil {
			return models.AcceptedInbound{}, err
		}
		return models.AcceptedInbound{Inbound: in}, endJoin(tx, join, models.JoinRefused, refusal.Error(), in.ReceivedAt)
	}
	if err != nil {
		return models.AcceptedInbound{}, err
	}
	in.ParticipantID = p.ID
	if err := tx.Create(&in).Error; err != nil {
		return models.AcceptedInbound{}, err
	}
	join.ParticipantID = p.ID
	return models.AcceptedInbound{Inbound: in, Enrolled: true}, endAgreed(tx, in, join)
}

func (s *Joins) personOfJoin(in models.Inbound, join models.Join) (models.Participant, error) {
	zone, assumed := join.Timezone, join.Timezone == ""
	if assumed {
		zone = time.UTC.String()
		if s.limits.Zone != nil {
			zone = s.limits.Zone.String()
		}
	}
	random := make([]byte, idBytes)
	_, _ = rand.Read(random) // never fails; see crypto/rand
	p := models.Participant{
		ID: "conv_" + hex.EncodeToString(random), Phone: in.From, PhoneIndex: in.FromIndex, Timezone: zone, ZoneAssumed: assumed,
		Locale: join.Locale, StudyID: join.StudyID, SignedUp: true, EnrolledAt: in.ReceivedAt,
	}
	if err := validate(p); err != nil {
		return p, err
	}
	setDefaults(&p)
	return p, nil
}

// endAgreed ends the join of a person who is enrolled now, and makes the texts that
// led to it theirs.
func endAgreed(tx *gorm.DB, in models.Inbound, join models.Join) error {
	err := tx.Model(&models.Hint{}).Where("join_id = ? AND inbound_id = 0", join.ID).UpdateColumn("inbound_id", in.ID).Error
	if err != nil {
		return err
	}
	err = tx.Model(&models.Inbound{}).Where("from_index = ? AND participant_id = '' AND received_at >= ?", in.FromIndex, instant(join.CreatedAt)).
		UpdateColumn("participant_id", join.ParticipantID).Error
	if err != nil {
		return err
	}
	return endJoin(tx, join, models.JoinEnrolled, "", in.ReceivedAt)
}

// askForNewVersion shows the newest consent text to a person who said yes to an older
// one, and gives them the whole time again.
func askForNewVersion(tx *gorm.DB, in models.Inbound, join models.Join, version int) (models.AcceptedInbound, error) {
	if err := tx.Create(&in).Error; err != nil {
		return models.AcceptedInbound{}, err
	}
	join.Version, join.ExpiresAt = version, in.ReceivedAt.Add(models.JoinValidity)
	if err := tx.Select("version", "expires_at").UpdateColumns(&join).Error; err != nil {
		return models.AcceptedInbound{}, err
	}
	hint, err := addJoinHint(tx, join, models.HintJoin, in.ID, in.ReceivedAt)
	return models.AcceptedInbound{Inbound: in, HintID: hint}, err
}

// RequestJoin starts the join of a person who filled in a form, and returns the hint
// that asks for the consent. It is empty where nothing is sent: the number is
// enrolled, has opted out, is asked already, or there were too many. ErrNotFound for an
// unknown study, *FieldError for one without joins in the language.
func (s *Joins) RequestJoin(ctx context.Context, r models.JoinRequest) (string, error) {
	var hint string
	index := s.db.Index(r.Phone)
	now := instant(r.Now)
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		hint = ""
		study, err := readStudy(tx, r.StudyID)
		if err != nil {
			return err
		}
		if !study.State.CanEnrol() {
			return models.BadField("study", "does not take people in: it is %s", study.State)
		}
		settings, err := study.ReadSettings()
		if err != nil {
			return err
		}
		rule, found := settings.JoinIn(r.Locale)
		if !found {
			return models.BadField("locale", "must be one of the study's settings join")
		}
		var people int64
		err = tx.Model(&models.Participant{}).Where("phone_index = ? AND removed_at IS NULL", index).Count(&people).Error
		if err != nil {
			return err
		}
		_, isPending, err := pendingJoin(tx, index, now)
		if err != nil || isPending || people > 0 {
			return err
		}
		join := models.Join{ID: r.ID, StudyID: r.StudyID, Phone: r.Phone, PhoneIndex: index, Method: models.MethodWeb, Timezone: r.Timezone, CreatedAt: now}
		if hint, err = s.startJoin(tx, join, rule, 0); err != nil || hint == "" {
			return err
		}
		return database.AddAudit(tx, models.AuditRow{Actor: r.Actor, Action: "join_request", Object: studyObject(r.StudyID), Detail: r.ID, At: now})
	})
	return hint, wrap.Error(classify(err), "starting a join")
}

// localeOfNumber reads the language of the person who was enrolled last with the number
// of a text.
const localeOfNumber = "SELECT p.locale FROM inbound i JOIN participants p ON p.phone_index = i.from_index WHERE i.id = ? ORDER BY p.enrolled_at DESC LIMIT 1"

// HintText returns of what a hint is made. ErrNotFound for an unknown id.
func (s *Hints) HintText(ctx context.Context, id string) (models.HintText, error) {
	var out models.HintText
	err := s.db.Snapshot(ctx, func(tx *gorm.DB) error {
		var row models.Hint
		if err := tx.Where("id = ?", id).Take(&row).Error; err != nil {
			return err
		}
		out = models.HintText{Purpose: row.Purpose}
		var in models.Inbound
		if err := tx.Where("id = ?", row.InboundID).Limit(1).Find(&in).Error; err != nil {
			return err
		}
		out.Phone, out.Weak, out.Safety = in.From, in.DangerTier == models.TierB, models.SafetyKindOf(in.Danger, in.DangerKind, "")
		if row.JoinID == "" {
			out.AsksHelp = in.Intent == models.IntentHelp
			found := tx.Raw(localeOfNumber, row.InboundID).Scan(&out.Locale)
			out.IsFormer = found.RowsAffected > 0
			return found.Error
		}
		var join models.Join
		if err := tx.Where("id = ?", row.JoinID).Take(&join).Error; err != nil {
			return err
		}
		out.StudyID, out.Locale, out.About, out.Link = join.StudyID, join.Locale, join.About, join.Link
		if row.Purpose == models.HintJoin {
			older := tx.Model(&models.Hint{}).Select("id").Where("join_id = ? AND purpose = ? AND id <> ? AND created_at < ?", join.ID, models.HintJoin, row.ID, row.CreatedAt).Limit(1).Find(&[]string{})
			if out.IsChanged = older.RowsAffected > 0; older.Error != nil {
				return older.Error
			}
		}
		if join.Link != "" {
			return nil
		}
		return tx.Model(&models.ConsentText{}).Select("body").
			Where("study_id = ? AND locale = ? AND version = ?", join.StudyID, join.Locale, join.Version).Take(&out.Consent).Error
	})
	return out, wrap.Error(classify(err), "reading the hint")
}

// ExpireJoins ends joins that no yes came to in time, at most limit of them. Safe to
// repeat.
func (s *Joins) ExpireJoins(ctx context.Context, now time.Time, limit int) error {
	var due []models.Join
	err := s.db.Reader(ctx).Select("phone_index").Where("state = ? AND expires_at <= ?", models.JoinPending, instant(now)).
		Order("expires_at").Limit(limit).Find(&due).Error
	for _, join := range due {
		err = errors.Join(err, s.db.Write(ctx, func(tx *gorm.DB) error {
			_, _, err := pendingJoin(tx, join.PhoneIndex, now)
			return err
		}))
	}
	return wrap.Error(err, "ending joins")
}

// List lists the newest joins of a study, at most limit of them, and counts all of
// them by state.
func (s *Joins) List(ctx context.Context, studyID string, limit int) ([]models.Join, map[models.JoinState]int64, error) {
	var rows []models.Join
	var counts []struct {
		State  models.JoinState
		People int64
	}
	err := s.db.Snapshot(ctx, func(tx *gorm.DB) error {
		rows = nil
		if err := tx.Where("study_id = ?", studyID).Order("created_at DESC, id DESC").Limit(pageLimit(limit)).Find(&rows).Error; err != nil {
			return err
		}
		ids := make([]string, len(rows))
		for i := range rows {
			ids[i] = rows[i].ID
		}
		var hints []models.Hint
		if err := tx.Where("join_id IN ?", ids).Order("created_at").Find(&hints).Error; err != nil {
			return err
		}
		newest := map[string]models.Hint{}
		for _, hint := range hints {
			newest[hint.JoinID] = hint
		}
		for i := range rows {
			rows[i].Delivery, rows[i].ErrorCode = newest[rows[i].ID].Status, newest[rows[i].ID].ErrorCode
		}
		return tx.Model(&models.Join{}).Select("state, count(*) AS people").Where("study_id = ?", studyID).Group("state").Scan(&counts).Error
	})
	if err != nil {
		return nil, nil, fmt.Errorf("reading joins: %w", classify(err))
	}
	out := make(map[models.JoinState]int64, len(counts))
	for _, count := range counts {
		out[count.State] = count.People
	}
	return rows, out, nil
}

// checkJoins refuses a recruiting study whose keywords another recruiting study has,
// mean something else, or have no consent text to show.
func checkJoins(tx *gorm.DB, study models.Study, settings models.StudySettings) error {
	if study.State != models.StudyRecruiting || len(settings.Join) == 0 {
		return nil
	}
	var others []models.Study
	if err := tx.Select("id", "settings").Where("state = ? AND id <> ?", models.StudyRecruiting, study.ID).Find(&others).Error; err != nil {
		return err
	}
	for i, join := range settings.Join {
		text, err := newestConsentText(tx, study.ID, join.Locale)
		if err != nil {
			return err
		}
		if err := join.CheckConsentOf(text.Body); err != nil {
			return err
		}
		for _, other := range others {
			theirs, err := other.ReadSettings()
			if err != nil {
				return err
			}
			if _, taken := theirs.JoinBy(join.Keyword); taken {
				return models.BadField(fmt.Sprintf("join[%d].keyword", i), "is a keyword of study %s", other.ID)
			}
		}
	}
	return nil
}

// checkShown refuses a consent text that a join of the study could not show.
func checkShown(study models.Study, text models.ConsentText) error {
	settings, err := study.ReadSettings()
	if err != nil {
		return err
	}
	if join, found := settings.JoinIn(text.Locale); found {
		return join.CheckConsentOf(text.Body)
	}
	return nil
}

// checkKeywords refuses keywords that carriers or the screening act on.
func checkKeywords(settings models.StudySettings) error {
	for i, join := range settings.Join {
		found := screening.Screen(screening.Message{Body: join.Keyword})
		readAs := string(found.Intent)
		if found.Danger != models.DangerNone {
			readAs = fmt.Sprintf("a crisis (rule %s)", found.Rule)
		}
		if readAs != "" {
			return models.BadField(fmt.Sprintf("join[%d].keyword", i), "%q is read as %s; choose another word", join.Keyword, readAs)
		}
	}
	return nil
}
