package api

import "coachline/models"

// NewAllocation allocates a person who is enrolled, once all strata are known.
type NewAllocation struct {
	ParticipantID string            `json:"participant_id" minLength:"1" maxLength:"64"`
	Strata        map[string]string `json:"strata,omitempty" doc:"The level of each stratum by its name. A stratum named gender, ethnicity or locale is the person's field where it is left out."`
}

// Allocated says that a person was allocated, and not to which arm.
type Allocated struct {
	ParticipantID string `json:"participant_id"`
	Number        int64  `json:"number" doc:"Number of the row in the study's record."`
}

// AllocationPage is a page of a study's allocations in their order.
type AllocationPage struct {
	Allocations []models.Allocation `json:"allocations" nullable:"false"`
	NextCursor  *string             `json:"next_cursor,omitempty"`
}

// AllocationCheck says whether a study's allocations are as they were drawn, and its
// decision points as they were recorded.
type AllocationCheck struct {
	OK      bool   `json:"ok" doc:"Both are."`
	Rows    int64  `json:"rows" doc:"Rows that are right, from the first."`
	Head    string `json:"head" doc:"Hash of the newest of them."`
	BadRow  int64  `json:"bad_row,omitempty" doc:"Number of the first bad row."`
	Problem string `json:"problem,omitempty"`

	Decisions *DecisionCheck `json:"decisions,omitempty" doc:"What the check of the decision points found; absent where there are none."`
}

// DecisionCheck says whether a study's decision points are as they were recorded.
type DecisionCheck struct {
	OK            bool   `json:"ok"`
	People        int64  `json:"people" doc:"People whose rows are right."`
	Rows          int64  `json:"rows" doc:"Rows that are right."`
	Unchained     int64  `json:"unchained" doc:"People whose rows are all from before rows had hashes; only their draws were checked."`
	ParticipantID string `json:"participant_id,omitempty" doc:"Whose row is the first bad one."`
	BadRow        int64  `json:"bad_row,omitempty" doc:"Number of the row among the person's."`
	Problem       string `json:"problem,omitempty"`
}

// StudySeed is the secret of which a study's arms are drawn.
type StudySeed struct {
	Seed string `json:"seed" doc:"Base64. Who knows it can foretell the next arm."`
}
