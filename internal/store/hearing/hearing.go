// Package hearing keeps what was heard of voice notes, sealed in the row of the
// text that they came with.
package hearing

import (
	"context"
	"encoding/json"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"coachline/internal/database"
	"coachline/models"
)

// Desk reads and writes voice notes. It is safe for concurrent use.
type Desk struct{ db *database.Database }

// New builds a Desk on an open database, which stays the caller's to close.
func New(db *database.Database) *Desk { return &Desk{db: db} }

// Unheard returns, by text, the notes of some texts that nobody listened to.
func (d *Desk) Unheard(ctx context.Context, inboundIDs []int64) (map[int64][]models.VoiceNote, error) {
	out := map[int64][]models.VoiceNote{}
	if len(inboundIDs) == 0 {
		return out, nil
	}
	var rows []models.Inbound
	err := d.db.Reader(ctx).Select("id", "voice").Where("id IN ? AND media_count > 0", inboundIDs).Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("reading voice notes: %w", err)
	}
	for _, row := range rows {
		for _, note := range row.VoiceNotes() {
			if !note.Heard {
				out[row.ID] = append(out[row.ID], note)
			}
		}
	}
	return out, nil
}

// Settle stores what was heard of a note. The first result stays, so a retry is
// safe. ErrNotFound for an unknown text.
func (d *Desk) Settle(ctx context.Context, inboundID int64, heard models.VoiceNote) error {
	err := d.db.Write(ctx, func(tx *gorm.DB) error {
		var row models.Inbound
		locked := tx.Clauses(clause.Locking{Strength: "NO KEY UPDATE"})
		if err := locked.Where("id = ?", inboundID).Take(&row).Error; err != nil {
			return err
		}
		notes := row.VoiceNotes()
		for i, note := range notes {
			if note.Index == heard.Index && !note.Heard {
				heard.Heard = true
				notes[i] = heard
			}
		}
		raw, err := json.Marshal(notes)
		if err != nil {
			return err
		}
		row.Voice = string(raw)
		return tx.Select("voice").UpdateColumns(&row).Error
	})
	if err != nil {
		return fmt.Errorf("storing what was heard: %w", err)
	}
	return nil
}
