package api

import (
	"time"

	"coachline/models"
	"coachline/models/wire"
)

// Participant is a participant as the API shows one. It holds personal data.
type Participant struct {
	ID    string `json:"id"`
	Phone string `json:"phone_number"`
	models.PersonShown
	Timezone    string       `json:"timezone"`
	ZoneAssumed bool         `json:"timezone_assumed" doc:"The zone is the programme's default, not the person's statement."`
	Locale      string       `json:"locale"`
	Channel     wire.Channel `json:"channel"`
	Status      wire.Status  `json:"status"`
	Mode        wire.Mode    `json:"mode"`
	Tester      bool         `json:"tester"`
	Debug       bool         `json:"debug"`
	// UnreachableAt is set while the carrier cannot reach the number.
	UnreachableAt   *time.Time `json:"unreachable_at,omitempty" doc:"Since then the carrier cannot reach the number; no prompts are sent until the person texts or an operator updates the participant."`
	UnreachableCode string     `json:"unreachable_code,omitempty" doc:"The carrier's error code."`
	// Attention is set while an operator should look at the person.
	Attention   wire.Attention `json:"attention,omitempty" enum:"crisis,person,unreachable,send,refusal,stuck,unanswered,lost_rows,flood,wrong_number,minor,erasure,language,advice" doc:"The most urgent reason why an operator should look at the person; GET /attention lists all. While it is crisis no prompts are sent."`
	AttentionAt *time.Time     `json:"attention_at,omitempty" doc:"Since when."`
	PausedUntil *time.Time     `json:"paused_until,omitempty" doc:"When the pause ends by itself; left out where an operator ends it."`
	TakenOver   *TakeOver      `json:"taken_over,omitempty" doc:"The operator who writes in the place of the coach."`
	EnrolledAt  time.Time      `json:"enrolled_at"`
	GreetingAt  *time.Time     `json:"greeting_at,omitempty" doc:"When the greeting was set to go out at enrolment; a text from the person before then is answered in its place."`
	Study       string         `json:"study" doc:"Id of the person's study."`
	Signup      bool           `json:"signup,omitempty" doc:"The person enrolled themselves."`
	// LastInboundAt is missing before the first text.
	LastInboundAt *time.Time `json:"last_inbound_at,omitempty" doc:"When the newest text of the person came."`
	CreatedAt     time.Time  `json:"created_at"`
	UpdatedAt     time.Time  `json:"updated_at"`
	Version       int64      `json:"version"`
	// Unreadable is set in lists only.
	Unreadable []string `json:"unreadable,omitempty" doc:"Stored fields that could not be opened with the payload keys; they are shown empty."`
}

// ParticipantPage is one page of participants; NextCursor is null on the last.
type ParticipantPage struct {
	Participants []Participant `json:"participants" nullable:"false"`
	NextCursor   *string       `json:"next_cursor"`
}

// NewParticipant is an enrolment; fields that are left out take the server's
// defaults. The order of the fields is part of what an Idempotency-Key is
// compared with, so it does not change.
type NewParticipant struct {
	Phone string `json:"phone_number" minLength:"1" maxLength:"40" doc:"Any usual notation; a national number belongs to the programme's default region."`
	models.PersonTexts[string]
	Timezone *string      `json:"timezone,omitempty" maxLength:"64" doc:"IANA name; the programme's default when absent."`
	Locale   string       `json:"locale,omitempty" maxLength:"35" doc:"BCP 47 tag such as es-MX, in a language that is screened: de, en, es, fr, pt."`
	Tester   bool         `json:"tester,omitempty"`
	Debug    bool         `json:"debug,omitempty" doc:"Testers only."`
	Channel  wire.Channel `json:"channel,omitempty" enum:"sms,terminal" default:"sms"`
	Signup   bool         `json:"signup,omitempty" doc:"The person has just signed up themselves: they are greeted at once, also in quiet hours."`
	Study    string       `json:"study,omitempty" maxLength:"40" doc:"Id of a study that recruits; the study default where it is left out. It never changes."`
	Consent  *Consenting  `json:"consent,omitempty" doc:"The agreement to the study's consent text; required where the study says so."`
	// Strata holds the levels of the study's strata that are known, by name.
	Strata map[string]string `json:"strata,omitempty" doc:"Levels of the study's strata by name, as far as they are known. The person is allocated to an arm at once when all are."`
}

// ParticipantChange is a partial update; fields that are left out stay as they
// are.
type ParticipantChange struct {
	models.ParticipantPatch
	// Waiting is what becomes of texts that came while the participant was paused.
	Waiting models.WaitingAction `json:"waiting_messages,omitempty" enum:"answer,read" doc:"What becomes of texts that came while the participant was paused: answered in one turn, or marked as read. When the participant is resumed without it they are answered if the newest is of today in the participant's zone, and marked as read otherwise."`
}

// Removed names a participant who was removed.
type Removed struct {
	ID string `json:"id"`
}
