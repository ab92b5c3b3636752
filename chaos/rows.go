package main

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"go.temporal.io/api/enums/v1"

	"coachline/internal/sim/twilio"
)

// ledger is what the database holds after a run. Words are sealed there, so it
// is joined with the carrier's list by ids.
type ledger struct {
	outbox    map[string]outboxRow
	inbound   map[string]inboundRow // by the carrier's id
	entries   map[int64]string      // turn of an inbound row's entry in the conversation
	sends     map[string][]string   // outbox ids by turn
	schedules []scheduleRow
	prompts   map[string]promptRow
	alarms    map[int64]alarmRow // by inbound row
}

type outboxRow struct {
	id, participant, turn, kind, prompt, status, sid, reason string
	attempted                                                sql.NullTime
	attempts                                                 int
}

type inboundRow struct {
	id, seq     int64
	participant string
	at          time.Time
}

type scheduleRow struct{ participant, id, at string }

type promptRow struct {
	id, participant, schedule, state, reason string
	sent                                     sql.NullTime
}

// eachRow runs a query and calls read for every row.
func eachRow(ctx context.Context, db *sql.DB, query string, read func(scan func(...any) error) error) error {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return fmt.Errorf("asking the database: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := read(rows.Scan); err != nil {
			return fmt.Errorf("reading a row: %w", err)
		}
	}
	return rows.Err()
}

func (s *system) ledger(ctx context.Context) (*ledger, error) {
	l := &ledger{
		outbox: map[string]outboxRow{}, inbound: map[string]inboundRow{}, entries: map[int64]string{},
		sends: map[string][]string{}, prompts: map[string]promptRow{}, alarms: map[int64]alarmRow{},
	}
	readers := []struct {
		query string
		read  func(scan func(...any) error) error
	}{
		{`SELECT id, participant_id, turn_id, kind, prompt_id, status, provider_sid, error_code, attempted_at, attempts FROM outbox ORDER BY turn_id, part`, l.readOutbox},
		{`SELECT provider_sid, id, seq, participant_id, received_at FROM inbound`, l.readInbound},
		{`SELECT substr(key, 4)::bigint, turn_id FROM messages WHERE key LIKE 'in-%'`, l.readEntry},
		{`SELECT participant_id, id, at FROM schedules`, l.readSchedule},
		{`SELECT id, participant_id, schedule_id, state, reason, sent_at FROM prompts`, l.readPrompt},
		{`SELECT inbound_id, id, participant_id, tier, pages, answer, escalated, paged_at IS NOT NULL FROM alarms`, l.readAlarm},
	}
	for _, one := range readers {
		if err := eachRow(ctx, s.db, one.query, one.read); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *ledger) readOutbox(scan func(...any) error) error {
	var r outboxRow
	err := scan(&r.id, &r.participant, &r.turn, &r.kind, &r.prompt, &r.status, &r.sid, &r.reason, &r.attempted, &r.attempts)
	l.outbox[r.id] = r
	l.sends[r.turn] = append(l.sends[r.turn], r.id)
	return err
}

func (l *ledger) readInbound(scan func(...any) error) error {
	var sid string
	var r inboundRow
	err := scan(&sid, &r.id, &r.seq, &r.participant, &r.at)
	l.inbound[sid] = r
	return err
}

func (l *ledger) readEntry(scan func(...any) error) error {
	var id int64
	var turn string
	err := scan(&id, &turn)
	l.entries[id] = turn
	return err
}

func (l *ledger) readSchedule(scan func(...any) error) error {
	var r scheduleRow
	err := scan(&r.participant, &r.id, &r.at)
	l.schedules = append(l.schedules, r)
	return err
}

func (l *ledger) readPrompt(scan func(...any) error) error {
	var r promptRow
	err := scan(&r.id, &r.participant, &r.schedule, &r.state, &r.reason, &r.sent)
	l.prompts[r.id] = r
	return err
}

// unsettledQueries are the questions whose answers must be zero before the ledger can
// be judged.
func unsettledQueries() map[string]string {
	const here = ` (SELECT id FROM participants WHERE removed_at IS NULL AND status = 'active') `
	return map[string]string{
		"notices not told":        `SELECT count(*) FROM notices WHERE delivered_at IS NULL`,
		"alarms not told":         `SELECT count(*) FROM alarms WHERE told_at IS NULL`,
		"pages not taken":         `SELECT count(*) FROM alarms WHERE pages AND paged_at IS NULL`,
		"safety texts not begun":  `SELECT count(*) FROM alarms a WHERE answer AND participant_id IN` + here + `AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.id = a.participant_id || '-safety-' || a.inbound_id)`,
		"texts not sent":          `SELECT count(*) FROM outbox WHERE status IN ('ready', 'sending')`,
		"texts not in a turn":     `SELECT count(*) FROM inbound i WHERE seq > 0 AND participant_id IN` + here + `AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.participant_id = i.participant_id AND m.key = 'in-' || i.id)`,
		"turns not ended":         `SELECT count(*) FROM turns WHERE outcome = '' AND kind <> 'message' AND participant_id IN` + here,
		"prompts due":             `SELECT count(*) FROM schedules WHERE next_at < now() AND participant_id IN` + here,
		"prompts being written":   `SELECT count(*) FROM prompts WHERE state = 'planned' AND participant_id IN` + here,
		"reminders due":           `SELECT count(*) FROM prompts WHERE state = 'pending' AND sent_at > now() - interval '12 seconds' AND participant_id IN` + here,
		"texts without a receipt": `SELECT count(*) FROM outbox WHERE status IN ('accepted', 'queued', 'sent')`,
	}
}

// calmFor is how long nothing may have happened at the carrier.
const calmFor = 4 * time.Second

// waitSettled waits until nothing is under way; unrest says what still was when the
// time was up.
func (s *system) waitSettled(ctx context.Context) (unrest string, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.settings.Calm)
	defer cancel()
	quietSince, texts, last := time.Now(), -1, ""
	for {
		unrest := s.describeUnsettled(ctx)
		if now := len(s.carrier.Sent()); unrest != "" || now != texts {
			quietSince, texts = time.Now(), now
		}
		if unrest != "" && unrest != last {
			s.trace.Note("not calm: %s", unrest)
			last = unrest
		}
		if time.Since(quietSince) > calmFor {
			return "", nil
		}
		if !twilio.Pause(ctx, 2*lookEvery) {
			return last, nil
		}
	}
}

func (s *system) describeUnsettled(ctx context.Context) string {
	if n := s.carrier.Reporting(); n > 0 {
		return fmt.Sprintf("%d texts whose delivery is being reported", n)
	}
	for what, query := range unsettledQueries() {
		var n int
		if err := s.db.QueryRowContext(ctx, query).Scan(&n); err != nil {
			return "the database does not answer: " + err.Error()
		}
		if n > 0 {
			return fmt.Sprintf("%d %s", n, what)
		}
	}
	return s.describeRunning(ctx)
}

// describeRunning names a participant whose workflow is in the middle of something: a
// text that the carrier has may still be sent again by a retry.
func (s *system) describeRunning(ctx context.Context) string {
	var ids []string
	err := eachRow(ctx, s.db, `SELECT id FROM participants`, func(scan func(...any) error) error {
		var id string
		err := scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil {
		return "the database does not answer: " + err.Error()
	}
	for _, id := range ids {
		run, err := s.temporal.DescribeWorkflowExecution(ctx, "participant-"+id, "")
		if err != nil {
			return "the Temporal server does not answer: " + err.Error()
		}
		// A workflow that has ended keeps what it gave up waiting for.
		running := run.GetWorkflowExecutionInfo().GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING
		if running && (len(run.GetPendingActivities()) > 0 || run.GetPendingWorkflowTask() != nil) {
			return "the workflow of " + id + " is at work"
		}
	}
	return ""
}
