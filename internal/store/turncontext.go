package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// fewestEntries are enough of the conversation to hold what a turn that ends has
// said itself; more texts of it than that are read as well.
const fewestEntries = 16

// contextOfTurn loads everything a reply is composed from: the newest window entries of
// the conversation (a negative window means all) and before them the texts of the
// turn that are older, the turn's steps so far, the
// outstandingPrompt prompt, the schedules. gorm.ErrRecordNotFound for an unknown turn;
// a participant who has left is still found.
func contextOfTurn(tx *gorm.DB, turnID string, window int) (models.TurnContext, error) {
	out, err := baseContext(tx, turnID)
	if err != nil {
		return out, err
	}
	if out.Turn.Kind == wire.TurnPrompt {
		if out.Instruction, err = readInstruction(tx, out.Turn.PromptID); err != nil {
			return out, err
		}
	}
	return withConversation(tx, out, window)
}

// contextOfBegun is contextOfTurn for a turn that the transaction has just
// created, and so without steps.
func contextOfBegun(tx *gorm.DB, b begunTurn, window int) (models.TurnContext, error) {
	out := models.TurnContext{Turn: b.turn, Participant: b.participant, Instruction: b.instruction}
	return withConversation(tx, out, window)
}

func withConversation(tx *gorm.DB, out models.TurnContext, window int) (models.TurnContext, error) {
	id := out.Participant.ID
	var err error
	if out.Profile, err = readProfile(tx, id); err != nil {
		return out, err
	}
	if out.Window, err = readConversation(tx, id, window); err != nil {
		return out, err
	}
	if out.Window, err = withOwnTexts(tx, out, window); err != nil {
		return out, err
	}
	out.Talk = models.TalkOf(out.Window, out.Turn)
	if out.Outstanding, err = outstandingPrompt(tx, id); err != nil {
		return out, err
	}
	if out.Turn.Kind == wire.TurnPrompt {
		if out.Recent, err = recentPrompts(tx, id); err != nil {
			return out, err
		}
	}
	err = tx.Where("participant_id = ?", id).Order("id").Find(&out.Schedules).Error
	if err != nil || len(out.Schedules) == 0 {
		return out, err
	}
	var holds []models.Hold
	err = holdsOf(activeHolds(tx.Select("until_at"), out.Turn.StartedAt), id).Order("until_at DESC").Limit(1).Find(&holds).Error
	for _, hold := range holds {
		out.HeldUntil = hold.Until
	}
	return out, err
}

// readWindow reads the newest entries of a conversation, and for a text that ended
// before the carrier took it how. It is plain SQL because each turn reads so many.
const readWindow = `SELECT messages.id, messages.turn_id, messages.key, messages.role, messages.kind, messages.text, messages.outbox_id,
	messages.danger, messages.channel, messages.at,
	CASE WHEN outbox.accepted_at IS NULL AND outbox.status IN ('canceled', 'failed') THEN outbox.status ELSE '' END
FROM messages LEFT JOIN outbox ON messages.outbox_id <> '' AND outbox.id = messages.outbox_id
WHERE messages.participant_id = ? ORDER BY messages.id DESC`

func readConversation(tx *gorm.DB, participantID string, size int) (entries []models.Message, err error) {
	if size == 0 {
		return nil, nil
	}
	query := readWindow
	if size > 0 {
		query += " LIMIT " + strconv.Itoa(size)
	}
	rows, err := tx.Raw(query, participantID).Rows()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	m := models.Message{ParticipantID: participantID}
	var sealed string
	var ended wire.OutboxStatus
	for rows.Next() {
		err := rows.Scan(&m.ID, &m.TurnID, &m.Key, &m.Role, &m.Kind, &sealed, &m.OutboxID, &m.Danger, &m.Channel, &m.At, &ended)
		if err != nil {
			return nil, err
		}
		cell := database.Cell{Table: "messages", Column: "text", Row: []any{m.ParticipantID, m.Key}}
		if m.Text, err = database.OpenText(tx.Statement.Context, cell, sealed); err != nil {
			return nil, err
		}
		m.Undelivered = ended != ""
		m.Refused = m.Kind == models.KindReply && ended == wire.OutboxCanceled
		if !m.Refused {
			entries = append(entries, m)
		}
	}
	slices.Reverse(entries)
	return entries, rows.Err()
}

// readConversation reads the newest entries, oldest first; all where size is negative.
// A reply that was called off is not among them: what it answered is answered anew.
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
	var latest []models.Message
	if err = newestEntries(tx, out.Participant.ID, fewestEntries).Find(&latest).Error; err != nil {
		return out, err
	}
	slices.Reverse(latest)
	out.Talk = models.TalkOf(latest, out.Turn)
	out.Window = slices.DeleteFunc(latest, func(m models.Message) bool { return m.TurnID != turnID })
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
	if out.Participant.Attention == wire.AttentionCrisis {
		err := tx.Model(&models.Alert{}).Select("safety").Where("participant_id = ? AND pages", id).Order("created_at DESC").Limit(1).Scan(&out.Safety).Error
		if err != nil {
			return out, err
		}
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

func readProfile(tx *gorm.DB, participantID string) (models.Profile, error) {
	var profile models.Profile
	err := tx.Where("participant_id = ?", participantID).Take(&profile).Error
	return profile, err
}

// newestEntries returns the newest entries of a conversation, the newest first.
func newestEntries(tx *gorm.DB, participantID string, size int) *gorm.DB {
	return tx.Where("messages.participant_id = ?", participantID).Order("messages.id DESC").Limit(size)
}

// outstandingPrompt returns the newest prompt that was sent and neither voided nor failed;
// nil when there is none.
func outstandingPrompt(tx *gorm.DB, participantID string) (*models.Prompt, error) {
	var row models.Prompt
	err := tx.Where("participant_id = ? AND sent_at IS NOT NULL AND state IN ?", participantID,
		[]models.PromptState{models.PromptPending, models.PromptReminded, models.PromptResponded}).
		Order("sent_at DESC, id DESC").Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, nil
	}
	return &row, err
}

// recentCount is how many prompts the next one is told apart from.
const recentCount = 5

// RecentPrompts returns the last prompts that were sent to a participant, the newest first.
func (s *Turns) RecentPrompts(ctx context.Context, participantID string) (out []models.PastPrompt, err error) {
	err = s.db.Snapshot(ctx, func(tx *gorm.DB) error {
		out, err = recentPrompts(tx, participantID)
		return err
	})
	return out, wrap.Error(err, "reading the last prompts")
}

func recentPrompts(tx *gorm.DB, participantID string) ([]models.PastPrompt, error) {
	var rows []models.Prompt
	err := tx.Where("participant_id = ? AND sent_at IS NOT NULL", participantID).Order("sent_at DESC, id DESC").Limit(recentCount).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	ids := make([]string, 0, len(rows))
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	var turns []models.Turn
	if err := tx.Select("id", "prompt_id").Where("prompt_id IN ? AND kind = ?", ids, wire.TurnPrompt).Find(&turns).Error; err != nil {
		return nil, err
	}
	promptOf := map[string]string{}
	for _, turn := range turns {
		promptOf[turn.ID] = turn.PromptID
	}
	var texts []models.Message
	err = tx.Where("turn_id IN ? AND kind = ?", slices.Collect(maps.Keys(promptOf)), models.KindPrompt).Find(&texts).Error
	out := make([]models.PastPrompt, 0, len(rows))
	for _, row := range rows {
		past := models.PastPrompt{Prompt: row}
		for _, text := range texts {
			if promptOf[text.TurnID] == row.ID {
				past.Text = text.Text
			}
		}
		out = append(out, past)
	}
	return out, err
}
