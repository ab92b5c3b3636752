// Package memory keeps what is known of a person beside the profile: facts and
// what they said before, daily notes, the summary of the conversation. It also
// keeps what the stages of a reply decided, and what is known of models.
//
// Texts and vectors are sealed, so the database can search neither: a search
// reads one participant's facts, at most 500, and compares them here. Every
// write that concerns a participant takes that participant's row lock first.
package memory

import (
	"context"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
)

const (
	// maxFacts bounds what is kept of one person, and with it every search.
	maxFacts = 500
	// recentNotes is how many daily notes belong to a reply.
	recentNotes = 3
)

// Store is safe for concurrent use, by several processes too.
type Store struct {
	db *database.Database
	// embedding is the model of vectors in use; empty where the process makes none.
	embedding string
}

// New builds a store on an open database, which stays the caller's to close.
func New(db *database.Database) *Store { return &Store{db: db} }

// WithVectorsOf returns the store for a process whose vectors are those of a model.
// Vectors of another one are not compared with them.
func (s *Store) WithVectorsOf(model string) *Store { return &Store{db: s.db, embedding: model} }

// Recall returns everything that is known of an enrolled participant, as of one
// instant: all facts, the last three notes, the summary. Notes and summary may
// be blank after the participant had them forgotten. ErrNotFound also after
// removal.
func (s *Store) Recall(ctx context.Context, participantID string) (models.Memory, error) {
	var out models.Memory
	err := s.runReads(ctx, participantID, func(tx *gorm.DB) error {
		facts, err := currentFacts(tx.Omit("vector"), participantID)
		if err != nil {
			return err
		}
		notes, err := lastNotes(tx, participantID, recentNotes)
		if err != nil {
			return err
		}
		summary, err := summaryOf(tx, participantID)
		out = models.Memory{Facts: plainFacts(facts), Notes: notes, Summary: summary}
		return err
	})
	return out, wrap.Error(err, "recalling")
}

// runReads runs reads of one participant that see one state of the database. After
// removal the rows are kept, like the conversation, and not shown.
func (s *Store) runReads(ctx context.Context, participantID string, fn func(tx *gorm.DB) error) error {
	return s.db.Snapshot(ctx, func(tx *gorm.DB) error {
		var enrolled string
		err := tx.Model(&models.Participant{}).Select("id").
			Where("id = ? AND removed_at IS NULL", participantID).Take(&enrolled).Error
		if err != nil {
			return err
		}
		return fn(tx)
	})
}
