package api

import (
	"time"

	"coachline/models"
)

// Study is a study as the API shows one; its secrets are never shown.
type Study struct {
	ID        string               `json:"id"`
	Name      string               `json:"name"`
	State     models.StudyState    `json:"state" enum:"draft,recruiting,running,closed,archived"`
	Settings  models.StudySettings `json:"settings"`
	Planned   int                  `json:"planned" doc:"How many people are to take part; 0 is not planned."`
	StartsAt  *time.Time           `json:"starts_at,omitempty"`
	EndsAt    *time.Time           `json:"ends_at,omitempty"`
	CreatedBy string               `json:"created_by"`
	CreatedAt time.Time            `json:"created_at"`
	UpdatedAt time.Time            `json:"updated_at"`
	Version   int64                `json:"version"`
}

// StudyList holds every study.
type StudyList struct {
	Studies []Study `json:"studies" nullable:"false"`
}

// NewStudy adds a study in state draft.
type NewStudy struct {
	ID       string               `json:"id" pattern:"^[a-z][a-z0-9-]{1,39}$" doc:"2 to 40 small letters, digits and hyphens, a letter first; it never changes."`
	Name     string               `json:"name" minLength:"1" maxLength:"100"`
	Settings models.StudySettings `json:"settings,omitempty" doc:"What the study changes about the installation's configuration."`
	Planned  int                  `json:"planned,omitempty" minimum:"0" maximum:"1000000"`
	StartsAt *time.Time           `json:"starts_at,omitempty"`
	EndsAt   *time.Time           `json:"ends_at,omitempty"`
}

// StudyChange is a partial update; fields that are left out stay as they are.
type StudyChange struct {
	Name     *string               `json:"name,omitempty" minLength:"1" maxLength:"100"`
	State    *models.StudyState    `json:"state,omitempty" enum:"draft,recruiting,running,closed,archived"`
	Settings *models.StudySettings `json:"settings,omitempty" doc:"Replaces all settings. Arms, randomisation and decision points cannot change once people are enrolled."`
	Planned  *int                  `json:"planned,omitempty" minimum:"0" maximum:"1000000"`
	StartsAt *time.Time            `json:"starts_at,omitempty"`
	EndsAt   *time.Time            `json:"ends_at,omitempty"`
}

// ConsentTextList holds the consent texts of a study, newest version first in each
// language.
type ConsentTextList struct {
	Texts []models.ConsentText `json:"texts" nullable:"false"`
}

// NewConsentText is the next version of a consent text.
type NewConsentText struct {
	Locale string `json:"locale" minLength:"2" maxLength:"35" doc:"Language of the text, such as en."`
	Body   string `json:"body" minLength:"1" maxLength:"20000"`
}

// StudyConsentList holds what a person has agreed to and withdrawn, oldest first.
type StudyConsentList struct {
	Consents []models.StudyConsent `json:"consents" nullable:"false"`
}

// NewStudyConsent records that a person agreed to the newest consent text of their
// language, or withdrew.
type NewStudyConsent struct {
	Given   bool                 `json:"given" doc:"False is a withdrawal: the person leaves the programme and nothing more is sent."`
	Version int                  `json:"version,omitempty" minimum:"0" doc:"Version of the consent text; left out for a withdrawal."`
	Locale  string               `json:"locale,omitempty" maxLength:"35"`
	Method  models.ConsentMethod `json:"method,omitempty" enum:"form,web,operator" default:"operator"`
	At      *time.Time           `json:"at,omitempty" doc:"When the person said so; now where it is left out."`
}

// Consenting is the agreement to a study's consent text in an enrolment.
type Consenting struct {
	Version int                  `json:"version" minimum:"1" doc:"The newest version of the text in that language."`
	Locale  string               `json:"locale" minLength:"2" maxLength:"35"`
	Method  models.ConsentMethod `json:"method,omitempty" enum:"form,web,operator" default:"operator"`
	At      *time.Time           `json:"at,omitempty" doc:"When the person agreed; now where it is left out."`
}
