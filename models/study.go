package models

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"coachline/internal/wrap"
)

// DefaultStudy is the study of people for whom none was named. It exists in every
// installation and follows the installation's configuration.
const DefaultStudy = "default"

// StudyState is how far a study is.
type StudyState string

// States of a study, in their order. Only a study that recruits takes people in;
// only one that recruits or runs starts messages of its own.
const (
	StudyDraft      StudyState = "draft"
	StudyRecruiting StudyState = "recruiting"
	StudyRunning    StudyState = "running"
	StudyClosed     StudyState = "closed"
	StudyArchived   StudyState = "archived"
)

// StudyStates lists every state in its order.
func StudyStates() []StudyState {
	return []StudyState{StudyDraft, StudyRecruiting, StudyRunning, StudyClosed, StudyArchived}
}

// CanEnrol reports whether people can be enrolled.
func (s StudyState) CanEnrol() bool { return s == StudyRecruiting }

// CanFollow reports whether a study may go from s to next. A running study may
// recruit again; nothing leaves the archive.
func (s StudyState) CanFollow(next StudyState) bool {
	switch s {
	case StudyDraft:
		return next == StudyRecruiting || next == StudyArchived
	case StudyRecruiting:
		return next == StudyRunning || next == StudyClosed
	case StudyRunning:
		return next == StudyRecruiting || next == StudyClosed
	case StudyClosed:
		return next == StudyArchived
	case StudyArchived:
		return false
	}
	return false
}

// Study is one row of table studies. Settings is the JSON of StudySettings. Seed
// draws allocations and decisions, PseudonymKey makes the pseudonyms of exports;
// both are 32 random bytes, made when the study is.
type Study struct {
	ID           string `gorm:"primaryKey"`
	Name         string
	State        StudyState
	Settings     string
	Planned      int    // people; 0 is not planned
	Seed         []byte `gorm:"serializer:sealed"`
	PseudonymKey []byte `gorm:"serializer:sealed"`
	StartsAt     *time.Time
	EndsAt       *time.Time
	CreatedBy    string
	CreatedAt    time.Time
	UpdatedAt    time.Time
	Version      int64
}

var studyID = regexp.MustCompile(`^[a-z][a-z0-9-]{1,39}$`)

// CheckStudyID refuses a text that cannot be a study's id.
func CheckStudyID(id string) error {
	if !studyID.MatchString(id) {
		return BadField("id", "must be 2 to 40 small letters, digits and hyphens, a letter first")
	}
	return nil
}

// StudySettings is what a study changes about the installation's configuration.
// An empty field leaves it as it is.
type StudySettings struct {
	// Programme is the name that texts and the coach give the programme.
	Programme string `json:"programme,omitempty"`
	// From is the number that sends, or MessagingService the service.
	From             string `json:"from,omitempty"`
	MessagingService string `json:"messaging_service,omitempty"`
	// Locales are the languages that people may be enrolled with.
	Locales []string `json:"locales,omitempty"`
	// RequireConsent refuses an enrolment without a consent to the newest text.
	RequireConsent bool `json:"require_consent,omitempty"`
	// Support and TermsURL are what COACH_SUPPORT and COACH_TERMS_URL are.
	Support  string `json:"support,omitempty"`
	TermsURL string `json:"terms_url,omitempty"`
	// SafetyURL is the address of a page about safety, such as /safety of this installation,
	// which the first text names.
	SafetyURL string `json:"safety_url,omitempty"`
	// AdultsOnly refuses an enrolment of a person of whom a birth year says that they are
	// not 18, and pauses who says so; nil: it does.
	AdultsOnly *bool `json:"adults_only,omitempty"`
	// CloseOut is sent to each person who is coached when the study is closed.
	CloseOut string `json:"close_out,omitempty"`
	// CloseOuts are the same text by language, such as "de" or "pt-BR"; CloseOut is for
	// the others.
	CloseOuts map[string]string `json:"close_outs,omitempty"`
	// Join are the keywords by which people join by text, one for each language.
	Join []StudyJoin `json:"join,omitempty"`
	StudyOverlay
	Arms []StudyArm `json:"arms,omitempty"`
	// Randomisation says how arms are allocated; required where there are arms.
	Randomisation Randomisation `json:"randomisation,omitzero"`
	// DecisionPoints randomises each prompt slot; nil where there are none.
	DecisionPoints *DecisionPoints `json:"decision_points,omitempty"`
}

// IsForAdults reports whether the study is for people of 18 and more.
func (s StudySettings) IsForAdults() bool { return s.AdultsOnly == nil || *s.AdultsOnly }

// StudyOverlay is what a study or an arm may change of how people are coached.
type StudyOverlay struct {
	Model      string `json:"model,omitempty"`
	SmallModel string `json:"small_model,omitempty"`
	// AdviceCheck is what COACH_ADVICE_CHECK is.
	AdviceCheck string `json:"advice_check,omitempty" enum:"auto,on,off"`
	// PromptsDir is a folder of texts, as COACH_PROMPTS_DIR.
	PromptsDir string `json:"prompts_dir,omitempty"`
	// ToolsOff names tools that the model is not offered.
	ToolsOff []string `json:"tools_off,omitempty"`
	// QuietHours is "HH:MM-HH:MM" in the person's zone, or "off".
	QuietHours string `json:"quiet_hours,omitempty"`
	// Reminders and CheckIns turn these messages on or off.
	Reminders *bool `json:"reminders,omitempty"`
	CheckIns  *bool `json:"check_ins,omitempty"`
	// ReminderDelay is a duration such as 5h, as COACH_REMINDER_DELAY; 0 or less is no
	// reminder. Reminders set to false goes before it.
	ReminderDelay string `json:"reminder_delay,omitempty"`
	// HistoryLimit bounds the messages that the model reads, as COACH_HISTORY_LIMIT.
	HistoryLimit *int `json:"history_limit,omitempty"`
	// FeedbackHistory is what COACH_FEEDBACK_HISTORY_LIMIT is.
	FeedbackHistory *int `json:"feedback_history_limit,omitempty"`
	// MaxPerDay bounds what we start on a person's local day, as
	// COACH_MAX_INITIATED_PER_DAY; 0 is no limit. BackOff turns on or off that people who
	// do not answer are texted less often; nil: where there is a limit.
	MaxPerDay *int  `json:"max_per_day,omitempty"`
	BackOff   *bool `json:"back_off,omitempty"`
}

// StudyArm is one arm of a study.
type StudyArm struct {
	Name string `json:"name" minLength:"1"`
	// Weight is the arm's share of the people, 1 to 100.
	Weight  int          `json:"weight" minimum:"1" maximum:"100"`
	Overlay StudyOverlay `json:"overlay,omitzero"`
}

// RandomisationMethod is how people are allocated to arms.
type RandomisationMethod string

// The methods; see package trial.
const (
	RandomSimple       RandomisationMethod = "simple"
	RandomBlocks       RandomisationMethod = "blocks"
	RandomMinimisation RandomisationMethod = "minimisation"
)

// RandomisationMethods lists every method.
func RandomisationMethods() []RandomisationMethod {
	return []RandomisationMethod{RandomSimple, RandomBlocks, RandomMinimisation}
}

// Randomisation says how people are allocated to arms.
type Randomisation struct {
	Method RandomisationMethod `json:"method,omitempty" enum:"simple,blocks,minimisation"`
	Strata []Stratum           `json:"strata,omitempty"`
}

// Stratum is one baseline factor. A person is allocated when the value of each is
// known.
type Stratum struct {
	Name   string   `json:"name" minLength:"1"`
	Levels []string `json:"levels" minItems:"2" nullable:"false"`
}

// CheckStrata refuses levels that a study does not have, and strata. The error is a
// *FieldError.
func CheckStrata(known []Stratum, levels map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		i := slices.IndexFunc(known, func(s Stratum) bool { return s.Name == name })
		if i < 0 {
			return BadField("strata."+name, "is not a stratum of the study")
		}
		if !slices.Contains(known[i].Levels, levels[name]) {
			return BadField("strata."+name, "must be one of %q", known[i].Levels)
		}
	}
	return nil
}

// DecisionPoints says how each prompt slot of a person is randomised.
type DecisionPoints struct {
	// Policy names the rule in records and exports.
	Policy string `json:"policy" minLength:"1"`
	// Options are what may be done, with probabilities that add up to 1; each is
	// between 0.05 and 0.95. With Thompson they have none.
	Options []DecisionOption `json:"options" minItems:"2" nullable:"false"`
	// OutcomeHours is within how many hours of the decision an answer counts; 0 is 4.
	OutcomeHours int `json:"outcome_hours,omitempty" minimum:"0" maximum:"168"`
	// Thompson has the probabilities follow the outcomes; nil is fixed ones.
	Thompson *Thompson `json:"thompson,omitempty"`
}

// DecisionOption is one thing that may be done at a decision point.
type DecisionOption struct {
	Name        string  `json:"name" minLength:"1"`
	Probability float64 `json:"probability" minimum:"0" maximum:"0.95"`
	// Send is whether the prompt goes out.
	Send bool `json:"send,omitempty"`
	// Instruction is added to what the model is told of the prompt.
	Instruction string `json:"instruction,omitempty"`
}

// StudyPatch is a partial update of a study; a nil field stays as it is.
type StudyPatch struct {
	Name     *string
	State    *StudyState
	Settings *string
	Planned  *int
	StartsAt *time.Time
	EndsAt   *time.Time
}

// Apply returns the study as it is after the patch.
func (p StudyPatch) Apply(s Study) Study {
	s.Name, s.State, s.Settings = valueOr(p.Name, s.Name), valueOr(p.State, s.State), valueOr(p.Settings, s.Settings)
	s.Planned = valueOr(p.Planned, s.Planned)
	if p.StartsAt != nil {
		s.StartsAt = timeOrNil(*p.StartsAt)
	}
	if p.EndsAt != nil {
		s.EndsAt = timeOrNil(*p.EndsAt)
	}
	return s
}

// timeOrNil is nil for the zero instant, which takes an instant away.
func timeOrNil(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

func valueOr[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}

// StudyUpdate changes a study.
type StudyUpdate struct {
	ID    string
	Patch StudyPatch
	// IfMatch, when not nil, must equal the row's version (ErrStale otherwise).
	IfMatch *int64
	Actor   string
	Now     time.Time
}

// ReadSettings returns the settings of a row.
func (s Study) ReadSettings() (StudySettings, error) {
	var out StudySettings
	if s.Settings == "" {
		return out, nil
	}
	err := json.Unmarshal([]byte(s.Settings), &out)
	return out, wrap.Errorf(err, "reading the settings of study %s", s.ID)
}

// Check refuses settings that do not fit together. The error is a *FieldError.
func (s StudySettings) Check() error {
	if s.From != "" && s.MessagingService != "" {
		return BadField("from", "must be empty where messaging_service is set")
	}
	if err := s.checkJoin(); err != nil {
		return err
	}
	if err := s.checkArms(); err != nil {
		return err
	}
	if s.DecisionPoints != nil {
		return s.DecisionPoints.check()
	}
	return nil
}

func (s StudySettings) checkArms() error {
	if len(s.Arms) == 0 {
		if s.Randomisation.Method != "" || len(s.Randomisation.Strata) > 0 {
			return BadField("randomisation", "must be empty where there are no arms")
		}
		return nil
	}
	if len(s.Arms) == 1 {
		return BadField("arms", "must be two or more, or none")
	}
	var names []string
	for i, arm := range s.Arms {
		if strings.TrimSpace(arm.Name) == "" || slices.Contains(names, arm.Name) {
			return BadField(fmt.Sprintf("arms[%d].name", i), "must be given and differ from the others")
		}
		if arm.Weight < 1 || arm.Weight > 100 {
			return BadField(fmt.Sprintf("arms[%d].weight", i), "must be between 1 and 100")
		}
		names = append(names, arm.Name)
	}
	return s.Randomisation.check()
}

func (r Randomisation) check() error {
	if !slices.Contains(RandomisationMethods(), r.Method) {
		return BadField("randomisation.method", "must be one of simple, blocks, minimisation")
	}
	if r.Method == RandomMinimisation && len(r.Strata) == 0 {
		return BadField("randomisation.strata", "must name at least one factor for minimisation")
	}
	var names []string
	for i, stratum := range r.Strata {
		field := fmt.Sprintf("randomisation.strata[%d]", i)
		if strings.TrimSpace(stratum.Name) == "" || slices.Contains(names, stratum.Name) {
			return BadField(field+".name", "must be given and differ from the others")
		}
		if len(stratum.Levels) < 2 || len(slices.Compact(slices.Sorted(slices.Values(stratum.Levels)))) != len(stratum.Levels) {
			return BadField(field+".levels", "must be two or more that differ")
		}
		names = append(names, stratum.Name)
	}
	return nil
}

// The least and the greatest probability of an option, so that each can be
// estimated, and how far their sum may be from 1.
const (
	leastProbability    = 0.05
	greatestProbability = 0.95
	probabilityError    = 1e-9
)

// defaultOutcomeHours is within how many hours an answer counts where a study does
// not say it.
const defaultOutcomeHours = 4

// Hours returns within how many hours of a decision an answer counts.
func (d DecisionPoints) Hours() int {
	if d.OutcomeHours == 0 {
		return defaultOutcomeHours
	}
	return d.OutcomeHours
}

func (d DecisionPoints) check() error {
	if d.Policy == "" {
		return BadField("decision_points.policy", "must be given")
	}
	if len(d.Options) < 2 {
		return BadField("decision_points.options", "must be two or more")
	}
	if d.OutcomeHours < 0 || d.OutcomeHours > 168 {
		return BadField("decision_points.outcome_hours", "must be between 0 and 168")
	}
	if d.Thompson != nil {
		if err := d.Thompson.check(d.Options); err != nil {
			return err
		}
	}
	var names []string
	sum := 0.0
	for i, option := range d.Options {
		field := fmt.Sprintf("decision_points.options[%d]", i)
		if option.Name == "" || slices.Contains(names, option.Name) {
			return BadField(field+".name", "must be given and differ from the others")
		}
		if err := d.checkProbability(field+".probability", option.Probability); err != nil {
			return err
		}
		names = append(names, option.Name)
		sum += option.Probability
	}
	if d.Thompson == nil && (sum < 1-probabilityError || sum > 1+probabilityError) {
		return BadField("decision_points.options", "must have probabilities that add up to 1, they add up to %g", sum)
	}
	return nil
}

func (d DecisionPoints) checkProbability(field string, probability float64) error {
	switch {
	case d.Thompson != nil && probability != 0:
		return BadField(field, "must be empty where thompson is set: it follows the outcomes")
	case d.Thompson == nil && (probability < leastProbability || probability > greatestProbability):
		return BadField(field, "must be between %g and %g", leastProbability, greatestProbability)
	}
	return nil
}

// ConsentText is one row of table consent_texts: what people in a study agree to,
// in one language. A version that was used is never changed.
type ConsentText struct {
	Version   int       `gorm:"primaryKey" json:"version"`
	Locale    string    `gorm:"primaryKey" json:"locale"`
	Body      string    `json:"body"`
	CreatedBy string    `json:"created_by"`
	CreatedAt time.Time `json:"created_at"`
	StudyID   string    `gorm:"primaryKey" json:"-"`
}

// StudyConsent is one row of table study_consents: a person's agreement to take
// part in a study, or its withdrawal. Rows are only added.
type StudyConsent struct {
	StudyID       string        `json:"study"`
	Given         bool          `json:"given" doc:"False is a withdrawal."`
	Version       int           `json:"version,omitempty" doc:"Version of the consent text."`
	Locale        string        `json:"locale,omitempty"`
	Method        ConsentMethod `json:"method" enum:"form,web,operator,keyword"`
	RecordedBy    string        `json:"recorded_by"`
	At            time.Time     `json:"at"`
	ID            int64         `gorm:"primaryKey" json:"-"`
	ParticipantID string        `json:"-"`
}

// CanStart reports whether messages are started that no participant has asked for:
// prompts, reminders, check-ins, greetings.
func (s StudyState) CanStart() bool {
	switch s {
	case StudyRecruiting, StudyRunning:
		return true
	case StudyDraft, StudyClosed, StudyArchived:
	}
	return false
}

// OverlayFor returns what changes for the people of an arm: what the arm says,
// and where it says nothing what the study says. Tools that either leaves out are
// left out. An unknown arm changes nothing more than the study.
func (s StudySettings) OverlayFor(arm string) StudyOverlay {
	out := s.StudyOverlay
	out.ToolsOff = slices.Clone(out.ToolsOff)
	i := slices.IndexFunc(s.Arms, func(a StudyArm) bool { return a.Name == arm })
	if i < 0 {
		return out
	}
	over := s.Arms[i].Overlay
	for _, field := range []struct{ own, arm *string }{
		{&out.Model, &over.Model}, {&out.SmallModel, &over.SmallModel}, {&out.AdviceCheck, &over.AdviceCheck}, {&out.PromptsDir, &over.PromptsDir}, {&out.QuietHours, &over.QuietHours},
		{&out.ReminderDelay, &over.ReminderDelay},
	} {
		if *field.arm != "" {
			*field.own = *field.arm
		}
	}
	out.Reminders = cmp.Or(over.Reminders, out.Reminders)
	out.CheckIns = cmp.Or(over.CheckIns, out.CheckIns)
	out.HistoryLimit = cmp.Or(over.HistoryLimit, out.HistoryLimit)
	out.FeedbackHistory = cmp.Or(over.FeedbackHistory, out.FeedbackHistory)
	out.MaxPerDay = cmp.Or(over.MaxPerDay, out.MaxPerDay)
	out.BackOff = cmp.Or(over.BackOff, out.BackOff)
	for _, name := range over.ToolsOff {
		if !slices.Contains(out.ToolsOff, name) {
			out.ToolsOff = append(out.ToolsOff, name)
		}
	}
	return out
}

// CloseOutFor returns the last text for people of a locale: of the locale, else of its
// language, else the one for all; empty for none.
func (s StudySettings) CloseOutFor(locale string) string {
	language, _, _ := strings.Cut(locale, "-")
	for _, want := range []string{locale, language} {
		for own, text := range s.CloseOuts {
			if want != "" && strings.EqualFold(own, want) {
				return text
			}
		}
	}
	return s.CloseOut
}

// Sender is a number (E.164) or a messaging service that texts come from; the
// zero value is the installation's.
type Sender struct {
	From             string `json:"from,omitempty"`
	MessagingService string `json:"messaging_service,omitempty"`
}

// Name is the number or the service; empty for the installation's sender.
func (s Sender) Name() string { return s.From + s.MessagingService }

// IsZero reports whether the sender is the installation's.
func (s Sender) IsZero() bool { return s == Sender{} }
