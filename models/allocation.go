package models

import "time"

// Allocation is one row of table allocations: a person's arm and how it was drawn.
// Rows are only added. Number counts the rows of a study from 1 without a gap.
type Allocation struct {
	StudyID       string `gorm:"primaryKey" json:"study_id"`
	Number        int64  `gorm:"primaryKey" json:"number"`
	ParticipantID string `json:"participant_id"`
	// Stratum is the person's levels as a JSON object, its names in order.
	Stratum string              `json:"stratum"`
	Method  RandomisationMethod `json:"method"`
	// Block numbers the permuted blocks of a stratum from 1; 0 for other methods.
	Block int    `json:"block"`
	Arm   string `json:"arm"`
	// Probabilities is a JSON object of the probability that each arm had.
	Probabilities string `json:"probabilities"`
	// Counter selects the random numbers of this row in the study's sequence.
	Counter int64 `json:"counter"`
	// Algorithm is the version of the algorithm that drew the row.
	Algorithm   int       `json:"algorithm"`
	AllocatedBy string    `json:"allocated_by"`
	AllocatedAt time.Time `json:"allocated_at"`
	// Hash covers the row and the hash before it, keyed by the study's seed.
	Hash string `json:"hash"`
}

// AllocationRequest allocates a person who is enrolled. Strata holds the level of
// each stratum by its name.
type AllocationRequest struct {
	StudyID, ParticipantID string
	Strata                 map[string]string
	Actor                  string
	Now                    time.Time
}

// AllocationCheck is what a check of a study's allocations found. BadRow is the
// number of the first bad row, 0 where a problem is of no row.
type AllocationCheck struct {
	OK        bool           `json:"ok" doc:"Both are."`
	Rows      int64          `json:"rows" doc:"Rows that are right, from the first."`
	Head      string         `json:"head" doc:"Hash of the newest of them."`
	BadRow    int64          `json:"bad_row,omitempty" doc:"Number of the first bad row."`
	Problem   string         `json:"problem,omitempty"` // empty: everything is right
	Decisions *DecisionCheck `json:"decisions,omitempty" doc:"What the check of the decision points found; absent where there are none."`
}
