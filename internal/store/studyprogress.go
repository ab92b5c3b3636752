package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
)

const (
	daySeconds  = 24 * 60 * 60
	weekSeconds = 7 * daySeconds
)

// StudyProgress counts how a study goes: people, answers, prompts, texts, costs, in
// ten statements on one state of the database. ErrNotFound for an unknown study.
func (s *Reports) StudyProgress(ctx context.Context, id string, now time.Time) (models.Study, models.StudyProgress, error) {
	var study models.Study
	var out models.StudyProgress
	err := s.db.Snapshot(ctx, func(tx *gorm.DB) error {
		out = models.StudyProgress{}
		var err error
		if study, err = readStudy(tx, id); err != nil {
			return err
		}
		p := progress{tx: tx, study: id, now: now.Unix(), postgres: database.IsPostgres(tx)}
		for _, count := range []func(*models.StudyProgress) error{
			p.countPeople, p.countWriters, p.countResponse, p.countPrompts, p.countTexts, p.countBalance, p.countDecisions,
			p.countCosts, p.countAttention, p.countAlerts,
		} {
			if err := count(&out); err != nil {
				return err
			}
		}
		return nil
	})
	return study, out, wrap.Error(classify(err), "counting how a study goes")
}

// progress counts the rows of a study within a transaction.
type progress struct {
	tx       *gorm.DB
	study    string
	now      int64 // in Unix seconds
	postgres bool
}

func ofStudy(table string) string {
	return " FROM participants p JOIN " + table + " t ON t.participant_id = p.id WHERE p.study_id = ? AND NOT p.tester"
}

// seconds is the SQL of an instant in Unix seconds.
func (p progress) seconds(column string) string {
	if p.postgres {
		return "CAST(floor(date_part('epoch', " + column + ")) AS bigint)" // extract has numerics, which are slow
	}
	return "unixepoch(" + column + ")"
}

func (p progress) countPeople(out *models.StudyProgress) error {
	day := "substr(enrolled_at, 1, 10)" // instants are stored in UTC
	if p.postgres {
		day = "to_char(enrolled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')"
	}
	return p.tx.Raw("SELECT day, weeks, status, arm, removed, withdrew, count(*) AS people FROM ("+
		"SELECT "+day+" AS day, (? - "+p.seconds("enrolled_at")+") / "+strconv.Itoa(weekSeconds)+" AS weeks, status, arm, removed_at IS NOT NULL AS removed, "+
		"id IN (SELECT participant_id FROM study_consents WHERE study_id = ? AND NOT given) AS withdrew "+
		"FROM participants WHERE study_id = ? AND NOT tester) AS them GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6",
		p.now, p.study, p.study).Scan(&out.People).Error
}

func (p progress) countWriters(out *models.StudyProgress) error {
	received, enrolled := p.seconds("t.received_at"), p.seconds("p.enrolled_at")
	week := strconv.Itoa(weekSeconds)
	return p.tx.Raw("SELECT week, count(*) AS people FROM ("+
		"SELECT p.id, ("+received+" - "+enrolled+") / "+week+" + 1 AS week, max("+enrolled+") AS enrolled"+
		ofStudy("inbound")+" AND t.seq > 0 GROUP BY 1, 2) AS weeks "+
		"WHERE week BETWEEN 1 AND ? AND enrolled + week * "+week+" <= ? GROUP BY 1 ORDER BY 1",
		p.study, models.ProgressWeeks, p.now).Scan(&out.Writers).Error
}

func (p progress) countResponse(out *models.StudyProgress) error {
	sent, enrolled := p.seconds("t.sent_at"), p.seconds("p.enrolled_at")
	window := strconv.Itoa(int(models.AnswerWindow / time.Second))
	return p.tx.Raw("SELECT day, arm, count(*) AS people, CAST(sum(answered) AS bigint) AS answered FROM ("+
		"SELECT p.id, p.arm, ("+sent+" - "+enrolled+") / "+strconv.Itoa(daySeconds)+" + 1 AS day, max("+enrolled+") AS enrolled, "+
		"max(CASE WHEN t.responded_at IS NOT NULL AND "+p.seconds("t.responded_at")+" - "+sent+" <= "+window+" THEN 1 ELSE 0 END) AS answered"+
		ofStudy("prompts")+" AND t.sent_at IS NOT NULL GROUP BY 1, 2, 3) AS days "+
		"WHERE day BETWEEN 1 AND ? AND enrolled + day * "+strconv.Itoa(daySeconds)+" + "+window+" <= ? GROUP BY 1, 2 ORDER BY 1, 2",
		p.study, models.ProgressDays, p.now).Scan(&out.Response).Error
}

func (p progress) countPrompts(out *models.StudyProgress) error {
	var lateness strings.Builder
	late := "(" + p.seconds("t.sent_at") + " - " + p.seconds("t.target_at") + ")"
	lateness.WriteString("CASE WHEN t.sent_at IS NULL THEN 0")
	for i, limit := range models.LatenessLimits() {
		fmt.Fprintf(&lateness, " WHEN %s <= %d THEN %d", late, int(limit.Seconds()), i)
	}
	fmt.Fprintf(&lateness, " ELSE %d END", len(models.LatenessLimits()))
	return p.tx.Raw("SELECT t.sent_at IS NOT NULL AS sent, "+lateness.String()+" AS lateness, CASE WHEN t.sent_at IS NULL THEN t.state ELSE '' END AS state, "+
		"CASE WHEN t.sent_at IS NULL THEN t.reason ELSE '' END AS reason, "+
		"CASE WHEN t.sent_at IS NULL THEN '' ELSE t.outcome END AS outcome, count(*) AS prompts"+ofStudy("prompts")+" GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5",
		p.study).Scan(&out.Prompts).Error
}

func (p progress) countTexts(out *models.StudyProgress) error {
	return p.tx.Raw("SELECT t.status, count(*) AS texts"+ofStudy("outbox")+" AND "+carried("t.channel")+" GROUP BY 1 ORDER BY 1", p.study).
		Scan(&out.Texts).Error
}

func (p progress) countBalance(out *models.StudyProgress) error {
	return p.tx.Raw("SELECT stratum, arm, count(*) AS people FROM allocations WHERE study_id = ? GROUP BY 1, 2 ORDER BY 1, 2", p.study).Scan(&out.Balance).Error
}

func (p progress) countDecisions(out *models.StudyProgress) error {
	return p.tx.Raw("SELECT t.available, t.reason, count(*) AS points"+ofStudy("decisions")+" GROUP BY 1, 2 ORDER BY 1, 2", p.study).Scan(&out.Decisions).Error
}

func (p progress) countCosts(out *models.StudyProgress) error {
	return p.tx.Raw("SELECT t.kind, t.currency, CAST(COALESCE(sum(t.micros), 0) AS bigint) AS micros, "+
		"CAST(sum(CASE WHEN t.micros IS NULL THEN 1 ELSE 0 END) AS bigint) AS unpriced"+ofStudy("costs")+" GROUP BY 1, 2 ORDER BY 1, 2", p.study).Scan(&out.Costs).Error
}

func (p progress) countAttention(out *models.StudyProgress) error {
	return p.tx.Raw("SELECT t.kind, count(*) AS open"+ofStudy("attention")+" AND t.ended_at IS NULL GROUP BY 1 ORDER BY 1", p.study).Scan(&out.Attention).Error
}

func (p progress) countAlerts(out *models.StudyProgress) error {
	return p.tx.Raw("SELECT count(*)"+ofStudy("alarms")+" AND t.pages AND t.acknowledged_at IS NULL AND t.cleared_at IS NULL", p.study).Scan(&out.Alerts).Error
}
