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

// StudySeed is the secret of which a study's arms are drawn.
type StudySeed struct {
	Seed string `json:"seed" doc:"Base64. Who knows it can foretell the next arm."`
}
