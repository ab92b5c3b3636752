// Package export writes the rows of a study as files for analysis: tables as CSV and
// Parquet, what describes them (a Frictionless data package, a REDCap data dictionary), loaders for
// Python and R, and the figures of a CONSORT diagram. All of them follow from one
// definition of the tables, so they cannot disagree.
package export

import "slices"

type kind string

const (
	kindText    kind = "string"
	kindWhole   kind = "integer"
	kindNumber  kind = "number"
	kindFlag    kind = "boolean"
	kindDate    kind = "date"
	kindInstant kind = "datetime"
)

// column is a column of a table. An instant becomes three fields of a file.
type column struct {
	name        string
	kind        kind
	description string
	// personal marks what may help to tell who a person is.
	personal bool
	// refers names the table to whose key the column points.
	refers string
	// arm marks what tells a person's arm; it is left out of blinded files.
	arm bool
	// words marks what people and the coach wrote; it is there only where asked for.
	words bool
}

// isShown reports whether the column is in a file for this reader.
func (c column) isShown(in Input) bool { return (in.Arms || !c.arm) && (in.Texts || !c.words) }

// table is a table of the export. Its first column is its key.
type table struct {
	name, description string
	columns           []column
}

func (t table) key() string { return t.columns[0].name }

// field is a field of a file. format is how CSV writes it; isLocal marks an instant
// on the clock of the person's zone.
type field struct {
	column
	format  string
	isLocal bool
}

// Formats of instants; both have microseconds.
const (
	formatUTC   = "%Y-%m-%dT%H:%M:%S.%fZ"
	formatLocal = "%Y-%m-%dT%H:%M:%S.%f%z"
)

// fields lists the fields that the table's file has for this reader.
func (t table) fields(in Input) []field {
	var out []field
	for _, c := range t.columns {
		if !c.isShown(in) {
			continue
		}
		if c.kind != kindInstant {
			out = append(out, field{column: c})
			continue
		}
		for _, part := range []struct {
			suffix, description, format string
			kind                        kind
		}{
			{"_utc", ", in UTC", formatUTC, kindInstant},
			{"_local", ", on the clock of the person's zone", formatLocal, kindInstant},
			{"_zone", ", name of that zone", "", kindText},
		} {
			one := field{column: c, format: part.format, isLocal: part.format == formatLocal}
			one.name, one.description, one.kind = c.name+part.suffix, c.description+part.description, part.kind
			out = append(out, one)
		}
	}
	return out
}

const peopleTable = "participants"

// person is the column that names a row's person.
var person = column{name: "participant", kind: kindText, description: "Pseudonym of the person", refers: peopleTable}

// Names of the other tables.
const (
	turnsTable       = "turns"
	promptsTable     = "prompts"
	messagesTable    = "messages"
	decisionsTable   = "decisions"
	allocationsTable = "allocations"
	consentsTable    = "consents"
	disclosuresTable = "disclosures"
	alertsTable      = "alerts"
	costsTable       = "costs"
	auditTable       = "audit"
	consortTable     = "consort"
)

// tables lists the tables in the order in which they are written.
var tables = []table{
	{peopleTable, "People of the study; erased ones too, without zone and language", []column{
		{name: "participant", kind: kindText, description: "Pseudonym, the same in every export of this study"},
		{name: "status", kind: kindText, description: "active, paused, completed, withdrawn or opted_out"},
		{name: "mode", kind: kindText, description: "Coaching module"},
		{name: "locale", kind: kindText, description: "Language", personal: true},
		{name: "timezone", kind: kindText, description: "IANA name of the person's zone", personal: true},
		{name: "zone_assumed", kind: kindFlag, description: "The zone is the programme's, not the person's own statement"},
		{name: "channel", kind: kindText, description: "Channel; empty is SMS"},
		{name: "tester", kind: kindFlag, description: "A member of the team; leave out of analyses"},
		{name: "withdrew", kind: kindFlag, description: "Took back the consent to the study"},
		{name: "arm", kind: kindText, description: "Arm; empty before allocation", arm: true},
		{name: "enrolled", kind: kindInstant, description: "Enrolment"},
		{name: "removed", kind: kindInstant, description: "Removal from the programme"},
	}},
	{promptsTable, "Daily prompts and their answers", []column{
		{name: "prompt", kind: kindText, description: "Pseudonym of the prompt"}, person,
		{name: "local_date", kind: kindDate, description: "Local date of the slot"},
		{name: "state", kind: kindText, description: "planned, pending, responded, reminded, voided, missed or failed"},
		{name: "reason", kind: kindText, description: "Why it was missed or failed"},
		{name: "left_out", kind: kindText, description: "Why it had no more follow-ups: one_follow_up, next_day, daily_limit, backed_off; empty where none was left out"},
		{name: "counted", kind: kindFlag, description: "Counted as a success"},
		{name: "outcome", kind: kindText, description: "What the person reported: done, partly or not_done; empty where nothing is saved"},
		{name: "target", kind: kindInstant, description: "Instant that the person asked for"},
		{name: "sent", kind: kindInstant, description: "When it was sent"},
		{name: "reminded", kind: kindInstant, description: "When the reminder was sent"},
		{name: "responded", kind: kindInstant, description: "When the answer came"},
	}},
	{turnsTable, "Turns of the coach", []column{
		{name: "turn", kind: kindText, description: "Pseudonym of the turn"}, person,
		{name: "number", kind: kindWhole, description: "Number of the turn, for each person"},
		{name: "kind", kind: kindText, description: "Why it ran"},
		{name: "mode", kind: kindText, description: "Coaching module"},
		{name: "channel", kind: kindText, description: "Channel; empty is SMS"},
		{name: "prompt", kind: kindText, description: "Prompt that it wrote", refers: promptsTable},
		{name: "outcome", kind: kindText, description: "How it ended; empty while it runs"},
		{name: "arm", kind: kindText, description: "Arm when it began", arm: true},
		{name: "study_version", kind: kindWhole, description: "Version of the study's settings that were in force"},
		{name: "started", kind: kindInstant, description: "Begin"},
		{name: "finished", kind: kindInstant, description: "End"},
	}},
	{messagesTable, "Texts to and from people", []column{
		{name: "message", kind: kindText, description: "Pseudonym of the text"}, person,
		{name: "direction", kind: kindText, description: "out or in"},
		{name: "kind", kind: kindText, description: "Out: why it was sent. In: what consent rules found in it; empty for others"},
		{name: "channel", kind: kindText, description: "Channel; empty is SMS"},
		{name: "turn", kind: kindText, description: "Turn that wrote it", refers: turnsTable},
		{name: "prompt", kind: kindText, description: "Prompt that it belongs to", refers: promptsTable},
		{name: "segments", kind: kindWhole, description: "Segments that the carrier counts; empty where not known"},
		{name: "status", kind: kindText, description: "Out: how far the carrier brought it"},
		{name: "delivered", kind: kindFlag, description: "Out: the carrier reported its delivery"},
		{name: "failed_code", kind: kindText, description: "Why it was not delivered"},
		{name: "gate", kind: kindText, description: "In: what kept it from the coach"},
		{name: "media", kind: kindWhole, description: "In: number of attachments"},
		{name: "at", kind: kindInstant, description: "Out: when it was written. In: when it came"},
		{name: "sent", kind: kindInstant, description: "Out: when the carrier took it"},
		{name: "text", kind: kindText, description: "Its words, also spoken ones; numbers, addresses, codes and secrets are masked, names are not", personal: true, words: true},
	}},
	{decisionsTable, "Decision points, also those at which people were not available", []column{
		{name: "decision", kind: kindText, description: "Pseudonym of the decision point"}, person,
		{name: "prompt", kind: kindText, description: "Prompt whose slot it is", refers: promptsTable},
		{name: "time", kind: kindWhole, description: "Number of the point, for each person"},
		{name: "day_in_study", kind: kindWhole, description: "1 on the local date of enrolment"},
		{name: "local_date", kind: kindDate, description: "Local date of the slot"},
		{name: "availability", kind: kindWhole, description: "1: the person could be prompted"},
		{name: "reason", kind: kindText, description: "Why the person was not available"},
		{name: "policy", kind: kindText, description: "Name of the rule"},
		{name: "option", kind: kindText, description: "Option that was drawn"},
		{name: "intervention", kind: kindWhole, description: "1: another option than the last one"},
		{name: "rand_prob", kind: kindNumber, description: "Probability of intervention 1"},
		{name: "outcome", kind: kindWhole, description: "1: the person wrote within outcome_hours; empty while they are not over"},
		{name: "outcome_hours", kind: kindWhole, description: "Hours within which an answer counts"},
		{name: "reported", kind: kindText, description: "What the person reported of the prompt: done, partly or not_done; empty where nothing is saved"},
		{name: "decided", kind: kindInstant, description: "Decision"},
		{name: "posterior", kind: kindText, description: "What Thompson sampling rested on as JSON: day, Beta parameters of the options, probability before and after clipping; empty where probabilities are fixed"},
		{name: "alert", kind: kindText, description: "Alert that held the prompt; empty: none did", refers: alertsTable},
		{name: "alert_mark", kind: kindText, description: "What operators said of that alert: right, wrong or empty"},
	}},
	{allocationsTable, "Allocations to arms", []column{
		{name: "allocation", kind: kindText, description: "Pseudonym of the allocation"}, person,
		{name: "number", kind: kindWhole, description: "Number of the allocation in the study"},
		{name: "method", kind: kindText, description: "simple, blocks or minimisation"},
		{name: "stratum", kind: kindText, description: "Levels of the strata as JSON", personal: true, arm: true},
		{name: "block", kind: kindWhole, description: "Number of the block", arm: true},
		{name: "arm", kind: kindText, description: "Arm", arm: true},
		{name: "probabilities", kind: kindText, description: "Probability of each arm as JSON", arm: true},
		{name: "allocated", kind: kindInstant, description: "Allocation"},
	}},
	{consentsTable, "Consents to the study and their withdrawals", []column{
		{name: "consent", kind: kindText, description: "Pseudonym of the row"}, person,
		{name: "given", kind: kindFlag, description: "0: a withdrawal"},
		{name: "version", kind: kindWhole, description: "Version of the consent text; 0 for a withdrawal"},
		{name: "locale", kind: kindText, description: "Language of the consent text", personal: true},
		{name: "method", kind: kindText, description: "How it was given"},
		{name: "at", kind: kindInstant, description: "When it was given"},
	}},
	{disclosuresTable, "Texts that told people that a program writes", []column{
		{name: "disclosure", kind: kindText, description: "Pseudonym of the row"}, person,
		{name: "message", kind: kindText, description: "Text that said it", refers: messagesTable},
		{name: "kind", kind: kindText, description: "Why the text was sent"},
		{name: "locale", kind: kindText, description: "Language in which the person is addressed", personal: true},
		{name: "words", kind: kindText, description: "The words that said it"},
		{name: "at", kind: kindInstant, description: "When the text was written; the message says when it was sent"},
	}},
	{alertsTable, "Messages that may have been a crisis", []column{
		{name: "alert", kind: kindText, description: "Pseudonym of the alert"}, person,
		{name: "message", kind: kindText, description: "Message that raised it", refers: messagesTable, personal: true},
		{name: "danger", kind: kindText, description: "What it may speak of: self_harm, harm or emergency", personal: true},
		{name: "tier", kind: kindText, description: "A: a person is paged; B: a weak sign", personal: true},
		{name: "rule", kind: kindText, description: "Rule that found it; score: the classifier", personal: true},
		{name: "kind", kind: kindText, description: "Kind of the statement", personal: true},
		{name: "escalated", kind: kindFlag, description: "A weak sign that was not the first of a day"},
		{name: "mark", kind: kindText, description: "What operators said of it: right, wrong or empty"},
		{name: "opened", kind: kindInstant, description: "When the message came"},
		{name: "paged", kind: kindInstant, description: "When the page was taken"},
		{name: "acknowledged", kind: kindInstant, description: "When an operator first saw to it"},
		{name: "cleared", kind: kindInstant, description: "When it was cleared"},
	}},
	{costsTable, "What calls of models and texts used and cost", []column{
		{name: "cost", kind: kindText, description: "Pseudonym of the row"}, person,
		{name: "day", kind: kindDate, description: "Day of UTC"},
		{name: "kind", kind: kindText, description: "model, outbound or inbound"},
		{name: "stage", kind: kindText, description: "Stage of the turn that called the model"},
		{name: "model", kind: kindText, description: "Model, which can tell the arm", arm: true},
		{name: "input_tokens", kind: kindWhole, description: "Tokens that the model read"},
		{name: "cached_tokens", kind: kindWhole, description: "Those of them that were cached"},
		{name: "output_tokens", kind: kindWhole, description: "Tokens that the model wrote"},
		{name: "segments", kind: kindWhole, description: "Segments of a text"},
		{name: "audio_millis", kind: kindWhole, description: "Length of a recording in milliseconds"},
		{name: "micros", kind: kindWhole, description: "Millionths of the currency; empty where no price was known"},
		{name: "currency", kind: kindText, description: "Currency"},
	}},
	auditRows,
	consortFigures,
}

// auditRows are there for those who may read the audit.
var auditRows = table{auditTable, "What was done to the study and its people, without reasons and changes", []column{
	{name: "audit", kind: kindText, description: "Pseudonym of the row"},
	{
		name: "participant", kind: kindText, description: "Pseudonym of the person; empty where it is about the study, its cohorts, budgets or holds",
		refers: peopleTable,
	},
	{name: "action", kind: kindText, description: "What was done"},
	{name: "actor_kind", kind: kindText, description: "user, token, operator, or the part of the system that did it"},
	{name: "actor", kind: kindText, description: "Pseudonym of the user or token", personal: true},
	{name: "at", kind: kindInstant, description: "When"},
}}

// tables lists the tables that the reader may see.
func (in Input) tables() []table {
	if in.Audit {
		return tables
	}
	return slices.DeleteFunc(slices.Clone(tables), func(t table) bool { return t.name == auditTable })
}

var consortFigures = table{consortTable, "Figures of the CONSORT diagram, without testers", []column{
	{name: "step", kind: kindText, description: "Step of the diagram"},
	{name: "people", kind: kindWhole, description: "Number of people"},
}}
