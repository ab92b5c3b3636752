package store

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/models"
)

// fewestEntries are enough of the conversation to hold what a turn that ends has
// said itself; more texts of it than that are read as well.
const fewestEntries = 16

// contextOfTurn loads everything a reply is composed from: the newest window entries of
// the conversation (a negative window means all) and before them the texts of the
// turn that are older, the turn's rounds so far, the
// outstandingPrompt prompt, the schedules. gorm.ErrRecordNotFound for an unknown turn;
// a participant who has left is still found.
func contextOfTurn(tx *gorm.DB, turnID string, window int) (models.TurnContext, error) {
	out, err := baseContext(tx, turnID)
	if err != nil {
		return out, err
	}
	around, err := readAround(tx, out.Participant.ID)
	if err != nil {
		return out, err
	}
	if out.Turn.Kind == models.TurnPrompt {
		if out.Instruction, err = readInstruction(tx, out.Turn.PromptID); err != nil {
			return out, err
		}
	}
	return withConversation(tx, out, around, window)
}

// contextOfBegun is contextOfTurn for a turn that the transaction has just
// created, and so without rounds.
func contextOfBegun(tx *gorm.DB, b begunTurn, window int) (models.TurnContext, error) {
	out := models.TurnContext{Turn: b.turn, Participant: b.participant, Instruction: b.instruction}
	if b.around == nil {
		around, err := readAround(tx, b.participant.ID)
		if err != nil {
			return out, err
		}
		b.around = &around
	}
	return withConversation(tx, out, *b.around, window)
}

// personContext is what surrounds a turn: the profile, and whether there is more to read.
type personContext struct {
	profile                 models.Profile
	hasPrompt, hasSchedules bool
}

func readAround(tx *gorm.DB, participantID string) (out personContext, err error) {
	out.profile, err = profileAround.TakeWith(tx, []any{&out.hasPrompt, &out.hasSchedules}, outstandingArgs(participantID, participantID)...)
	return out, err
}

// withConversation adds what surrounds a turn.
func withConversation(tx *gorm.DB, out models.TurnContext, around personContext, window int) (models.TurnContext, error) {
	id := out.Participant.ID
	out.Profile = around.profile
	var err error
	if out.Window, err = readConversation(tx, id, window); err != nil {
		return out, err
	}
	if out.Window, err = withOwnTexts(tx, out, window); err != nil {
		return out, err
	}
	if around.hasPrompt {
		if out.Outstanding, err = outstandingPrompt(tx, id); err != nil {
			return out, err
		}
	}
	if around.hasSchedules {
		out.Schedules, err = schedulesOf.Find(tx, id)
	}
	return out, err
}

const isOutstanding = "participant_id = ? AND sent_at IS NOT NULL AND state IN (?, ?, ?)"

// outstandingArgs returns the arguments of isOutstanding, and more behind them.
func outstandingArgs(participantID string, more ...any) []any {
	return append([]any{participantID, models.PromptPending, models.PromptReminded, models.PromptResponded}, more...)
}

// hasAround tells of what surrounds the participant of a profile.
const hasAround = "EXISTS (SELECT 1 FROM prompts WHERE prompts." + isOutstanding + "), " +
	"EXISTS (SELECT 1 FROM schedules WHERE schedules.participant_id = profiles.participant_id)"

var (
	profileOf     = database.Select[models.Profile]("profiles.participant_id = ?")
	profileAround = profileOf.With(hasAround)
	outstandingOf = database.Select[models.Prompt](isOutstanding + " ORDER BY sent_at DESC, id DESC LIMIT 1")
	schedulesOf   = database.Select[models.ScheduleRow]("participant_id = ? ORDER BY id")
)

// neverTaken holds for the row of a text that ended before the carrier took it.
const neverTaken = "outbox.accepted_at IS NULL AND outbox.status IN ('canceled', 'failed')"

// entryColumns are the columns of an entry that are texts. They are read as one
// with entrySeparator between them, the sealed text last, because a column costs
// more than what is in it; ids and names of kinds hold no control characters.
const (
	entryColumns   = "messages.turn_id, messages.key, messages.role, messages.kind, messages.outbox_id, messages.danger, messages.channel"
	entrySeparator = "\x1f"
)

const entriesOf = "SELECT messages.id, messages.at, concat_ws('" + entrySeparator + "', " +
	"CASE WHEN " + neverTaken + " THEN outbox.status ELSE '' END, " + entryColumns + ", messages.text) " +
	"FROM messages LEFT JOIN outbox ON messages.outbox_id <> '' AND outbox.id = messages.outbox_id " +
	"WHERE messages.participant_id = ? ORDER BY messages.id DESC"

// newestOf are the statements by how many entries they read, of which there are a
// few. SQLite plans a statement anew each time that its limit is an argument.
var newestOf sync.Map

func entriesWithin(size int) *database.Statement {
	if known, ok := newestOf.Load(size); ok {
		return known.(*database.Statement)
	}
	words := entriesOf
	if size > 0 {
		words += " LIMIT " + strconv.Itoa(size)
	}
	known, _ := newestOf.LoadOrStore(size, database.SQL(words))
	return known.(*database.Statement)
}

// readConversation reads the newest entries, oldest first. A reply that was called off
// is not among them: what it answered is answered anew.
func readConversation(tx *gorm.DB, participantID string, size int) (entries []models.Message, err error) {
	if size == 0 {
		return nil, nil
	}
	rows, err := entriesWithin(max(size, -1)).Query(tx, participantID)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	// One entry is read into and copied: its fields' addresses would otherwise
	// put each row on the heap once more.
	m := models.Message{ParticipantID: participantID}
	var texts string
	fields := []any{&m.ID, &m.At, &texts}
	entries = make([]models.Message, 0, min(max(size, 0), 64))
	for rows.Next() {
		if err := rows.Scan(fields...); err != nil {
			return nil, err
		}
		if err := setTexts(tx, &m, texts); err != nil {
			return nil, err
		}
		if !m.Refused {
			entries = append(entries, m)
		}
	}
	if len(entries) == 0 {
		entries = nil
	}
	slices.Reverse(entries)
	return entries, rows.Err()
}

// setTexts sets what entriesOf has joined, and opens the text.
func setTexts(tx *gorm.DB, m *models.Message, texts string) (err error) {
	var parts [9]string
	rest := texts
	for i := range len(parts) - 1 {
		var isWhole bool
		if parts[i], rest, isWhole = strings.Cut(rest, entrySeparator); !isWhole {
			return fmt.Errorf("reading entry %d of a conversation: it has %d joined texts, want %d", m.ID, i+1, len(parts))
		}
	}
	parts[len(parts)-1] = rest
	m.Undelivered, m.TurnID, m.Key = parts[0] != "", parts[1], parts[2]
	m.Role, m.Kind, m.OutboxID = models.Role(parts[3]), models.EntryKind(parts[4]), parts[5]
	m.Danger, m.Channel = models.Danger(parts[6]), models.Channel(parts[7])
	m.Refused = m.Kind == models.KindReply && models.OutboxStatus(parts[0]) == models.OutboxCanceled
	cell := database.Cell{Table: "messages", Column: "text", Row: []any{m.ParticipantID, m.Key}}
	m.Text, err = database.OpenText(tx.Statement.Context, cell, parts[8])
	return err
}

// withOwnTexts puts the texts of a turn that its window does not hold before the
// window: there may be hundreds.
func withOwnTexts(tx *gorm.DB, c models.TurnContext, window int) ([]models.Message, error) {
	if window <= 0 || len(c.Window) < window || isOfEarlierTurn(c.Window[0], c.Turn) {
		return c.Window, nil
	}
	var older []models.Message
	err := tx.Where("participant_id = ? AND turn_id = ? AND role = ? AND id < ?", c.Participant.ID, c.Turn.ID, models.RoleUser, c.Window[0].ID).
		Order("id").Find(&older).Error
	return append(older, c.Window...), err
}

// isOfEarlierTurn reports whether an entry is of an earlier turn: what follows it
// includes all texts of this one.
func isOfEarlierTurn(entry models.Message, turn models.Turn) bool {
	_, number, ok := models.ParseTurnID(entry.TurnID)
	return ok && number < turn.Number
}

// contextOfEnding loads what the end of a turn is made from. It is Turn without the
// outstandingPrompt prompt and the schedules, and its window holds the turn's own
// entries only.
func contextOfEnding(tx *gorm.DB, turnID string) (models.TurnContext, error) {
	out, err := baseContext(tx, turnID)
	if err != nil {
		return out, err
	}
	if out.Profile, err = readProfile(tx, out.Participant.ID); err != nil {
		return out, err
	}
	latest := newestEntries(tx.Model(&models.Message{}), out.Participant.ID, fewestEntries)
	err = tx.Table("(?) AS messages", latest).Where("turn_id = ?", turnID).Order("id").Find(&out.Window).Error
	if err != nil {
		return out, err
	}
	out.Window, err = withOwnTexts(tx, out, fewestEntries/2)
	return out, err
}

// baseContext returns what both need: the turn, whose it is, and what it has come to.
func baseContext(tx *gorm.DB, turnID string) (models.TurnContext, error) {
	var out models.TurnContext
	if err := tx.Where("id = ?", turnID).Take(&out.Turn).Error; err != nil {
		return out, err
	}
	id := out.Turn.ParticipantID
	if err := tx.Where("id = ?", id).Take(&out.Participant).Error; err != nil {
		return out, err
	}
	if err := tx.Where("turn_id = ?", turnID).Order("number").Find(&out.Steps).Error; err != nil {
		return out, err
	}
	called := slices.ContainsFunc(out.Steps, func(step models.Step) bool { return step.Calls != "" })
	if !called {
		return out, nil
	}
	err := tx.Where("turn_id = ?", turnID).Order("step, call").Find(&out.Runs).Error
	return out, err
}

// readProfile reads a participant's profile.
func readProfile(tx *gorm.DB, participantID string) (models.Profile, error) {
	return profileOf.Take(tx, participantID)
}

// newestEntries returns the newest entries of a conversation, the newest first.
func newestEntries(tx *gorm.DB, participantID string, size int) *gorm.DB {
	return tx.Where("messages.participant_id = ?", participantID).Order("messages.id DESC").Limit(size)
}

// outstandingPrompt returns the newest prompt that was sent and neither voided nor failed;
// nil when there is none.
func outstandingPrompt(tx *gorm.DB, participantID string) (*models.Prompt, error) {
	row, err := outstandingOf.Take(tx, outstandingArgs(participantID)...)
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, nil
	}
	return &row, err
}
