package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"

	"coachline/internal/sim/twilio"
	"coachline/models"
)

const (
	// settleLimit bounds the wait until nothing is under way: one fault may cost
	// some time-outs and look-ups, but no half-hour.
	settleLimit = 5 * time.Minute
	settleEvery = 500 * time.Millisecond
	// settleTimes is how often in a row nothing may be under way.
	settleTimes = 6
)

// unsettled are the questions about a person whose answers are zero when
// nothing is under way.
var unsettled = []struct{ what, query string }{
	{"notices not delivered", `SELECT count(*) FROM notices WHERE delivered_at IS NULL AND participant_id = ?`},
	{"texts not sent", `SELECT count(*) FROM outbox WHERE status IN ('ready', 'sending') AND participant_id = ?`},
	{"texts without a final status", `SELECT count(*) FROM outbox WHERE status IN ('accepted', 'queued', 'sent') AND participant_id = ?`},
	{"texts in no turn", `SELECT count(*) FROM inbound i WHERE seq > 0 AND participant_id = ? AND NOT EXISTS
		(SELECT 1 FROM messages m WHERE m.participant_id = i.participant_id AND m.key = 'in-' || i.id)`},
	{"turns not ended", `SELECT count(*) FROM turns WHERE outcome = '' AND kind <> 'message' AND participant_id = ?`},
	{"prompts being written", `SELECT count(*) FROM prompts WHERE state = 'planned' AND participant_id = ?`},
}

// scan reads the one value of a query with one argument.
func (l *installation) scan(into any, query, about string) error {
	return l.db.QueryRowContext(l.ctx, strings.Replace(query, "?", "$1", 1), about).Scan(into)
}

// settle waits until nothing is under way for a person; the error says what
// still was.
func (t *turn) settle() error {
	calm, why := 0, ""
	ctx, cancel := context.WithTimeout(t.ctx, settleLimit)
	defer cancel()
	for again := true; again; again = twilio.Pause(ctx, settleEvery) {
		if why = t.describeUnsettled(); why != "" {
			calm = 0
			continue
		}
		if calm++; calm == settleTimes {
			return nil
		}
	}
	return fmt.Errorf("after %s: %s", settleLimit, why)
}

func (t *turn) describeUnsettled() string {
	if n := t.carrier.Unreported(); n > 0 {
		return fmt.Sprintf("%d texts whose delivery is being reported", n)
	}
	for _, one := range unsettled {
		n := 0
		if err := t.scan(&n, one.query, t.id); err != nil {
			return "the database does not answer: " + err.Error()
		}
		if n > 0 {
			return fmt.Sprintf("%d %s", n, one.what)
		}
	}
	run, err := t.temporal.DescribeWorkflowExecution(t.ctx, models.WorkflowID(t.id), "")
	if err != nil {
		return "the Temporal server does not answer: " + err.Error()
	}
	for _, a := range run.GetPendingActivities() {
		return fmt.Sprintf("activity %s, attempt %d: %s", a.GetActivityType().GetName(), a.GetAttempt(), a.GetLastFailure().GetMessage())
	}
	if run.GetPendingWorkflowTask() != nil {
		return "a workflow task"
	}
	return ""
}

// verdict collects what is wrong with a run.
type verdict []string

func (v *verdict) add(format string, args ...any) { *v = append(*v, fmt.Sprintf(format, args...)) }

// outboxRow is what the judge reads of an outbound text.
type outboxRow struct{ id, kind, status, code string }

// judge compares what the person has on the phone with what was to come, and
// with the rows.
func (t *turn) judge(want expectation) verdict {
	var v verdict
	if t.missing != "" {
		v.add("never sent: %s", t.missing)
	}
	rows, err := t.outbox()
	if err != nil {
		v.add("%v", err)
		return v
	}
	sent := t.sentTexts()
	t.judgeRows(&v, rows, sent)
	counts := map[string]int{}
	var answers []sentText
	for _, text := range sent {
		kind := rows[text.Outbox].kind
		counts[kind]++
		if kind == "reply" {
			answers = append(answers, text)
		}
	}
	late := 0
	for _, row := range rows {
		if row.kind == "reply" && row.code == models.CodeNewerReply {
			late++
		}
	}
	judgeAnswers(&v, want, answers, late)
	if want.stopped {
		t.judgeStop(&v, sent)
	}
	judgeKinds(&v, want, rows, counts)
	t.judgeTables(&v, want)
	t.judgeHistory(&v)
	return v
}

// judgeKinds compares how many texts of each kind came with how many were to come.
func judgeKinds(v *verdict, want expectation, rows map[string]outboxRow, counts map[string]int) {
	expected := map[string]int{
		"greeting": 1, "reply": counts["reply"], "prompt": want.prompts, "reminder": want.reminders, "operator": want.operator, "help": want.help, "consent": 0, "safety": want.safety,
	}
	if want.stopped {
		expected["consent"] = 1
	}
	for kind, n := range counts {
		if n != expected[kind] && !isNudgeLost(kind, rows, n) {
			v.add("%d texts of kind %s instead of %d", n, kind, expected[kind])
		}
	}
	for kind, n := range expected {
		if counts[kind] == 0 && n > 0 && !isNudgeLost(kind, rows, 0) {
			v.add("no text of kind %s", kind)
		}
	}
}

// isNudgeLost: a reminder may rather not come at all than twice. Its row says so.
func isNudgeLost(kind string, rows map[string]outboxRow, taken int) bool {
	if kind != "reminder" || taken != 0 {
		return false
	}
	for _, row := range rows {
		if row.kind == kind && row.status == "unknown" {
			return true
		}
	}
	return false
}

func (t *turn) outbox() (map[string]outboxRow, error) {
	found, err := t.db.QueryContext(t.ctx, `SELECT id, kind, status, error_code FROM outbox WHERE participant_id = $1`, t.id)
	if err != nil {
		return nil, fmt.Errorf("reading the outbox: %w", err)
	}
	defer found.Close()
	rows := map[string]outboxRow{}
	for found.Next() {
		var row outboxRow
		if err := found.Scan(&row.id, &row.kind, &row.status, &row.code); err != nil {
			return nil, fmt.Errorf("reading the outbox: %w", err)
		}
		rows[row.id] = row
	}
	return rows, found.Err()
}

// judgeRows: every row was taken once by the carrier and says so, or was not
// and says that.
func (t *turn) judgeRows(v *verdict, rows map[string]outboxRow, sent []sentText) {
	taken := map[string]int{}
	for _, text := range sent {
		taken[text.Outbox]++
		if _, ok := rows[text.Outbox]; !ok {
			v.add("%q has no row", text.Body)
		}
	}
	for _, row := range rows {
		n := taken[row.id]
		if n > 1 && row.kind != "safety" { // rather twice than not at all
			v.add("%s (%s) was sent %d times", row.id, row.kind, n)
		}
		switch row.status {
		case "delivered":
			if n == 0 {
				v.add("%s (%s) is delivered, and was never sent", row.id, row.kind)
			}
		case "canceled", "failed", "unknown":
			if n > 0 {
				v.add("%s (%s) is %s %s, and was sent", row.id, row.kind, row.status, row.code)
			}
		default:
			v.add("%s (%s) was left as %s %s", row.id, row.kind, row.status, row.code)
		}
	}
}

// judgeAnswers: each text was answered once, by the model, and in order but for late
// answers: a reply that was never taken is not sent after a newer one, and a turn of its
// own answers its texts then.
func judgeAnswers(v *verdict, want expectation, answers []sentText, late int) {
	var order []string
	newest := ""
	for _, text := range answers {
		tokens := tokenPattern.FindAllString(text.Body, -1)
		if !strings.HasPrefix(text.Body, answerMark) {
			v.add("answered by %q", text.Body)
		}
		order = append(order, tokens...)
		if len(tokens) == 0 {
			continue
		}
		if tokens[0] < newest {
			late--
		}
		if late < 0 || !slices.IsSorted(tokens) {
			v.add("answered in the order %v", order)
		}
		newest = max(newest, tokens[len(tokens)-1])
	}
	if want.stopped {
		return
	}
	for n := range want.replies {
		token := fmt.Sprintf("m%04d", n+1)
		times := len(slices.DeleteFunc(slices.Clone(order), func(one string) bool { return one != token }))
		if times != 1 {
			v.add("%s was answered %d times", token, times)
		}
	}
}

// judgeStop: nothing but the confirmation leaves after the STOP was taken.
func (t *turn) judgeStop(v *verdict, sent []sentText) {
	for _, text := range sent {
		var kind string
		_ = t.scan(&kind, `SELECT kind FROM outbox WHERE id = ?`, text.Outbox)
		if text.At.After(t.stopAt) && kind != "consent" {
			v.add("a %s was sent %s after the STOP", kind, text.At.Sub(t.stopAt))
		}
	}
}

// judgeTables: what was counted and saved, once.
func (t *turn) judgeTables(v *verdict, want expectation) {
	status := "active"
	if want.stopped {
		status = "opted_out"
	}
	goals := 0
	if want.goal {
		goals = 1
	}
	for _, one := range []struct {
		what, query string
		want        int
	}{
		{"participants with status " + status, `SELECT count(*) FROM participants WHERE id = ? AND status = '` + status + `'`, 1},
		{"schedules", `SELECT count(*) FROM schedules WHERE participant_id = ?`, want.schedules},
		{"prompts", `SELECT count(*) FROM prompts WHERE participant_id = ?`, want.prompts},
		{"prompts counted in the profile", `SELECT total_prompts FROM profiles WHERE participant_id = ?`, want.prompts},
		{"profiles saved", `SELECT count(*) FROM tool_runs r JOIN turns t ON t.id = r.turn_id WHERE r.name = 'save_user_profile' AND NOT r.failed AND t.participant_id = ?`, goals},
	} {
		n := -1
		if err := t.scan(&n, one.query, t.id); err != nil {
			v.add("%s: %v", one.what, err)
		} else if n != one.want {
			v.add("%d %s instead of %d", n, one.what, one.want)
		}
	}
}

// ordinaryCauses are failures of a workflow task that a killed worker, a late
// signal or a moved shard explains.
var ordinaryCauses = []enums.WorkflowTaskFailedCause{
	enums.WORKFLOW_TASK_FAILED_CAUSE_UNSPECIFIED, enums.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND,
	enums.WORKFLOW_TASK_FAILED_CAUSE_RESET_STICKY_TASK_QUEUE, enums.WORKFLOW_TASK_FAILED_CAUSE_FORCE_CLOSE_COMMAND,
	enums.WORKFLOW_TASK_FAILED_CAUSE_FAILOVER_CLOSE_COMMAND,
}

// judgeHistory: no workflow task failed for a defect of the workflow's code.
func (t *turn) judgeHistory(v *verdict) {
	events := t.temporal.GetWorkflowHistory(t.ctx, models.WorkflowID(t.id), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			v.add("reading the history: %v", err)
			return
		}
		failed := event.GetWorkflowTaskFailedEventAttributes()
		if cause := failed.GetCause(); !slices.Contains(ordinaryCauses, cause) {
			v.add("a workflow task failed: %s: %s", cause, failed.GetFailure().GetMessage())
		}
	}
}
