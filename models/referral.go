package models

// FewestReferrals is the least count of a group that a report shows.
const FewestReferrals = 5

// Referral says of what a referral was.
type Referral struct {
	Month   string     `json:"month" doc:"YYYY-MM, of UTC."`
	Country string     `json:"country" doc:"Two letters, by phone number or else locale; empty where it is not known, as of erased people."`
	State   string     `json:"state" doc:"Two letters, of numbers of the United States by their area code; empty for others."`
	Kind    SafetyKind `json:"kind" enum:"oneself,another,violence,medical" doc:"Which safety text it was."`
}

// ReferralGroup is how often that was.
type ReferralGroup struct {
	Referral
	Count int `json:"count"`
}

// ReferralReport is how often people were told numbers to call in danger, without
// identifiers.
type ReferralReport struct {
	Year          int             `json:"year"`
	Total         int             `json:"total" doc:"All of the year."`
	Groups        []ReferralGroup `json:"groups" nullable:"false" doc:"Groups of 5 and more."`
	InSmallGroups int             `json:"in_small_groups" doc:"Those of smaller groups, together."`
}
