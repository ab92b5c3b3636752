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
	Rows    int64
	Head    string // hash of the newest row that was found right
	BadRow  int64
	Problem string // empty: everything is right
	// Decisions is what the check of the decision points found.
	Decisions DecisionCheck
}
