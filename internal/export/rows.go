package export

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"coachline/internal/consort"
	"coachline/internal/redact"
	"coachline/models"
	"coachline/models/wire"
)

// names makes the pseudonyms of a study and keeps the zones that were met.
type names struct {
	key   []byte
	zones map[string]*time.Location
}

// pseudonymBytes is how much of the hash a pseudonym keeps.
const pseudonymBytes = 16

// of returns the pseudonym of a row of a table, empty for none.
func (n *names) of(table, id string) string {
	if id == "" {
		return ""
	}
	mac := hmac.New(sha256.New, n.key)
	_, _ = io.WriteString(mac, table+":"+id) // a hash takes everything
	return hex.EncodeToString(mac.Sum(nil)[:pseudonymBytes])
}

// PersonPseudonym returns what stands for a person in the exports of a study; empty
// where the study has no key yet.
func PersonPseudonym(study models.Study, participantID string) string {
	if len(study.PseudonymKey) == 0 {
		return ""
	}
	return (&names{key: study.PseudonymKey}).of(peopleTable, participantID)
}

// zoneOf loads the zone of a person; UTC where it is not known any more.
func (n *names) zoneOf(name string) *time.Location {
	zone, known := n.zones[name]
	if !known {
		var err error
		if zone, err = time.LoadLocation(name); err != nil {
			zone = time.UTC
		}
		n.zones[name] = zone
	}
	return zone
}

// tableWriter turns the rows of a table into the fields of a file.
type tableWriter struct {
	table  table
	fields []field
	in     Input
	names  *names
	out    rowWriter
	count  int64
}

func (w *tableWriter) writeFile(out io.Writer, as fileType, flow *consort.Flow) (err error) {
	if w.out, err = as.open(out, w.fields); err != nil {
		return err
	}
	if err := w.writeRows(w.in.Rows, flow); err != nil {
		return err
	}
	return w.out.close()
}

// write writes a row: a value for each column of the table, in its order. A nil
// pointer, a zero instant and an empty text are missing values. zone is that of the
// row's person.
func (w *tableWriter) write(zone string, values ...any) error {
	if len(values) != len(w.table.columns) {
		return fmt.Errorf("a row of %s has %d values for %d columns", w.table.name, len(values), len(w.table.columns))
	}
	cells := make([]any, 0, len(w.fields))
	for i, c := range w.table.columns {
		if !c.isShown(w.in) {
			continue
		}
		if c.kind == kindInstant {
			cells = append(cells, w.splitInstant(zone, values[i])...)
			continue
		}
		cell, err := toCell(c.kind, values[i])
		if err != nil {
			return fmt.Errorf("%s.%s: %w", w.table.name, c.name, err)
		}
		cells = append(cells, cell)
	}
	w.count++
	return w.out.writeRow(cells)
}

// splitInstant returns an instant in UTC, in the person's zone, and the zone.
func (w *tableWriter) splitInstant(zone string, value any) []any {
	var at time.Time
	switch v := value.(type) {
	case time.Time:
		at = v
	case *time.Time:
		if v != nil {
			at = *v
		}
	}
	if at.IsZero() {
		return []any{nil, nil, nil}
	}
	in := w.names.zoneOf(zone)
	return []any{at.UTC(), at.In(in), in.String()}
}

// toCell returns a value that is no instant as a string, int64, float64 or bool; nil
// where it is missing.
func toCell(k kind, value any) (any, error) {
	switch v := value.(type) {
	case string:
		if v == "" {
			return nil, nil
		}
		return v, nil
	case bool:
		if k == kindFlag {
			return v, nil
		}
		return int64(toNumber(v)), nil
	case int:
		return int64(v), nil
	case int64, float64:
		return v, nil
	case *bool:
		if v != nil {
			return toCell(k, *v)
		}
	case *int:
		if v != nil {
			return int64(*v), nil
		}
	case *int64:
		if v != nil {
			return *v, nil
		}
	default:
		return nil, fmt.Errorf("a %T cannot be written", value)
	}
	return nil, nil
}

func toNumber(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func (w *tableWriter) writeRows(rows models.StudyRows, flow *consort.Flow) error {
	switch w.table.name {
	case peopleTable:
		*flow = consort.Flow{} // the table may be written more than once
		return rows.People(func(p models.StudyPerson) error { return w.writePerson(p, flow) })
	case promptsTable:
		return rows.Prompts(w.writePrompt)
	case turnsTable:
		return rows.Turns(w.writeTurn)
	case messagesTable:
		if err := rows.Outbound(w.writeOutbound); err != nil {
			return err
		}
		return rows.Inbound(w.writeInbound)
	case decisionsTable:
		return rows.Decisions(w.writeDecision)
	case allocationsTable:
		return rows.Allocations(w.writeAllocation)
	case consentsTable:
		return rows.StudyConsents(w.writeConsent)
	case disclosuresTable:
		return rows.Disclosures(w.writeDisclosure)
	case alertsTable:
		return rows.Alerts(w.writeAlert)
	case costsTable:
		return rows.Costs(w.writeCost)
	case auditTable:
		return rows.Audit(w.writeAudit)
	case consortTable:
		return w.writeFlow(flow)
	default:
		return fmt.Errorf("table %s has no rows", w.table.name)
	}
}

func (w *tableWriter) writeFlow(flow *consort.Flow) error {
	for _, step := range flow.Steps(w.in.Arms) {
		if err := w.write("", step.Name, step.People); err != nil {
			return err
		}
	}
	return nil
}

func (w *tableWriter) writePerson(p models.StudyPerson, flow *consort.Flow) error {
	flow.Add(p, 1)
	return w.write(p.Timezone, w.names.of(peopleTable, p.ID), string(p.Status), string(p.Mode), p.Locale, p.Timezone, p.ZoneAssumed,
		string(p.Channel), p.Tester, p.Withdrew, p.Arm, p.EnrolledAt, p.RemovedAt)
}

func (w *tableWriter) writePrompt(p models.StudyPerson, row models.Prompt) error {
	return w.write(p.Timezone, w.names.of(promptsTable, row.ID), w.names.of(peopleTable, p.ID), row.LocalDate, string(row.State), row.Reason, row.LeftOut,
		row.Counted, string(row.Outcome), row.TargetAt, row.SentAt, row.ReminderSentAt, row.RespondedAt)
}

func (w *tableWriter) writeTurn(p models.StudyPerson, row models.Turn) error {
	return w.write(p.Timezone, w.names.of(turnsTable, row.ID), w.names.of(peopleTable, p.ID), row.Number, string(row.Kind), string(row.Mode),
		string(row.Channel), w.names.of(promptsTable, row.PromptID), row.Outcome, row.Arm, row.StudyVersion, row.StartedAt, row.FinishedAt)
}

func (w *tableWriter) writeOutbound(p models.StudyPerson, row models.Outbox) error {
	delivered := row.Status == wire.OutboxDelivered || row.Status == wire.OutboxRead
	turn := row.TurnID
	if _, _, ok := models.ParseTurnID(turn); !ok {
		turn = "" // not written by a turn
	}
	return w.write(p.Timezone, w.names.of(messagesTable, "out:"+row.ID), w.names.of(peopleTable, p.ID), "out", string(row.Kind), string(row.Channel),
		w.names.of(turnsTable, turn), w.names.of(promptsTable, row.PromptID), row.Segments, string(row.Status), delivered, row.ErrorCode,
		"", (*int)(nil), row.CreatedAt, row.AcceptedAt, redact.Scrub(row.Body))
}

func (w *tableWriter) writeInbound(p models.StudyPerson, row models.Inbound) error {
	return w.write(p.Timezone, w.names.of(messagesTable, "in:"+strconv.FormatInt(row.ID, 10)), w.names.of(peopleTable, p.ID), "in", string(row.Intent),
		string(row.Channel), "", "", (*int)(nil), "", (*bool)(nil), "", string(row.Limit), row.MediaCount, row.ReceivedAt, (*time.Time)(nil),
		redact.Scrub(wordsOf(row)))
}

// wordsOf returns what a person wrote and what was heard of voice notes.
func wordsOf(in models.Inbound) string {
	var parts []string
	if in.Body != "" {
		parts = append(parts, in.Body)
	}
	for _, note := range in.VoiceNotes() {
		if note.Text != "" {
			parts = append(parts, note.Text)
		}
	}
	return strings.Join(parts, "\n")
}

func (w *tableWriter) writeDecision(p models.StudyPerson, row models.DecisionOutcome) error {
	return w.write(p.Timezone, w.names.of(decisionsTable, row.ID), w.names.of(peopleTable, p.ID), w.names.of(promptsTable, row.ID), row.Number,
		row.DayInStudy, row.LocalDate, row.Available, row.Reason, row.Policy, row.Option, row.Intervention, row.RandProb, row.Answered,
		row.OutcomeHours, string(row.Reported), row.DecidedAt, row.Posterior, w.names.of(alertsTable, row.AlertID), string(row.AlertMark))
}

func (w *tableWriter) writeAllocation(p models.StudyPerson, row models.Allocation) error {
	return w.write(p.Timezone, w.names.of(allocationsTable, strconv.FormatInt(row.Number, 10)), w.names.of(peopleTable, p.ID), row.Number,
		string(row.Method), row.Stratum, row.Block, row.Arm, row.Probabilities, row.AllocatedAt)
}

func (w *tableWriter) writeConsent(p models.StudyPerson, row models.StudyConsent) error {
	return w.write(p.Timezone, w.names.of(consentsTable, strconv.FormatInt(row.ID, 10)), w.names.of(peopleTable, p.ID), row.Given, row.Version,
		row.Locale, string(row.Method), row.At)
}

func (w *tableWriter) writeDisclosure(p models.StudyPerson, row models.Disclosure) error {
	return w.write(p.Timezone, w.names.of(disclosuresTable, row.OutboxID), w.names.of(peopleTable, p.ID), w.names.of(messagesTable, "out:"+row.OutboxID),
		string(row.Kind), row.Locale, redact.Scrub(row.Words), row.At)
}

func (w *tableWriter) writeAlert(p models.StudyPerson, row models.Alert) error {
	return w.write(p.Timezone, w.names.of(alertsTable, row.ID), w.names.of(peopleTable, p.ID), w.names.of(messagesTable, "in:"+strconv.FormatInt(row.InboundID, 10)),
		string(row.Danger), row.Tier, row.Rule, row.Kind, row.Escalated, string(row.Mark), row.CreatedAt, row.PagedAt, row.AcknowledgedAt, row.ClearedAt)
}

func (w *tableWriter) writeCost(p models.StudyPerson, row models.Cost) error {
	return w.write(p.Timezone, w.names.of(costsTable, row.Ref), w.names.of(peopleTable, p.ID), row.Day, string(row.Kind), string(row.Stage), row.Model,
		row.InputTokens, row.CachedTokens, row.OutputTokens, row.Segments, row.AudioMillis, row.Micros, row.Currency)
}

// writeAudit names no operator: users and tokens have pseudonyms, and parts of the
// system are called by their kind.
func (w *tableWriter) writeAudit(p models.StudyPerson, row models.AuditRow) error {
	kind, name, isNamed := strings.Cut(row.Actor, ":")
	if isNamed {
		name = w.names.of("actors", row.Actor)
	}
	return w.write(p.Timezone, w.names.of(auditTable, strconv.FormatInt(row.ID, 10)), w.names.of(peopleTable, p.ID), row.Action, kind, name, row.At)
}
