package models

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"coachline/models/wire"
)

// JoinState is where a person's request to join a study stands.
type JoinState string

// States of a join. Only a pending one waits for the person's yes.
const (
	JoinPending  JoinState = "pending"
	JoinEnrolled JoinState = "enrolled"
	JoinExpired  JoinState = "expired"
	JoinDeclined JoinState = "declined"
	JoinRefused  JoinState = "refused"
)

// JoinStates lists every state of a join.
func JoinStates() []JoinState {
	return []JoinState{JoinPending, JoinEnrolled, JoinExpired, JoinDeclined, JoinRefused}
}

// Why a join was refused or ended without an enrolment; a refused enrolment gives
// the store's own reason.
const (
	JoinNoAnswer   = "no_answer"
	JoinStopped    = "stop"
	JoinOptedOut   = "opted_out"
	JoinStudyLimit = "study_limit"
)

// JoinValidity is how long a person may take to agree.
const JoinValidity = 48 * time.Hour

// Limits of joins in 24 hours, of one number and of one study.
const (
	JoinsPerNumber = 3
	JoinsPerStudy  = 500
)

// StudyJoin is one keyword by which people join a study by text.
type StudyJoin struct {
	// Keyword is the whole text, 3 to 20 letters and digits.
	Keyword string `json:"keyword" minLength:"3"`
	// Locale is that of the consent text and of the texts that the person gets.
	Locale string `json:"locale" minLength:"1"`
	// About says in a sentence what the programme is.
	About string `json:"about" minLength:"1" maxLength:"160"`
	// Link is the address of the consent text; where it is empty the consent text
	// itself is sent, which must be short then.
	Link string `json:"link,omitempty" pattern:"^(https://.+)?$"`
}

// Join is one row of table joins: a person who asked to join a study and has or has
// not agreed. Phone is emptied when the join ends.
type Join struct {
	ID     string    `gorm:"primaryKey" json:"id"`
	State  JoinState `json:"state" enum:"pending,enrolled,expired,declined,refused"`
	Reason string    `json:"reason,omitempty" doc:"Why it ended without an enrolment."`
	// Method is keyword or web: how the person asked.
	Method  ConsentMethod `json:"method" enum:"keyword,web"`
	Keyword string        `json:"keyword,omitempty"`
	Locale  string        `json:"locale"`
	// Version is that of the consent text that the person was shown.
	Version       int               `json:"consent_version"`
	Delivery      wire.OutboxStatus `gorm:"-" json:"delivery,omitempty" doc:"Where the newest text to the person stands."`
	ErrorCode     string            `gorm:"-" json:"error_code,omitempty"`
	ParticipantID string            `json:"participant_id,omitempty"`
	CreatedAt     time.Time         `json:"created_at"`
	ExpiresAt     time.Time         `json:"expires_at"`
	EndedAt       *time.Time        `json:"ended_at,omitempty"`
	StudyID       string            `json:"-"`
	Phone         string            `gorm:"serializer:sealed" json:"-"`
	PhoneIndex    string            `json:"-"`
	About         string            `json:"-"`
	Link          string            `json:"-"`
	// Timezone is empty where the person did not say it.
	Timezone string `json:"-"`
}

// JoinRequest asks for a join on behalf of a person who filled in a form.
type JoinRequest struct {
	// ID is that of the row that may be written.
	ID       string
	StudyID  string
	Phone    string // E.164
	Locale   string
	Timezone string
	Actor    string
	Now      time.Time
}

// HintPurpose says which text a hint is.
type HintPurpose string

// The texts to people who are not enrolled.
const (
	// HintUnknown tells a stranger that the number is not enrolled.
	HintUnknown HintPurpose = ""
	// HintJoin asks for the consent of a person who wants to join.
	HintJoin HintPurpose = "join"
	// HintJoinAgain asks once more for a plain yes.
	HintJoinAgain HintPurpose = "join_again"
	// HintHelp answers a person who has not agreed yet.
	HintHelp HintPurpose = "help"
	// HintCrisis answers a text that may be a crisis.
	HintCrisis HintPurpose = "crisis"
)

// HintText is of what a hint is made. StudyID is empty for a hint that belongs to no
// join, Locale where nothing tells the person's language. Consent is the text that is
// agreed to, where it has no link. Phone is whom it goes to. Safety and Weak say which
// safety text it is, where the purpose is HintCrisis.
type HintText struct {
	Purpose HintPurpose
	Phone   string
	Safety  SafetyKind
	Weak    bool
	StudyID string
	Locale  string
	About   string
	Link    string
	Consent string
	// IsChanged: the person has been asked before, with an older consent text.
	IsChanged bool
	// IsFormer: the number was a participant's. AsksHelp: the text asked for help.
	IsFormer, AsksHelp bool
}

var (
	joinKeyword = regexp.MustCompile(`^[\p{L}\p{N}]{3,20}$`)
	spaces      = regexp.MustCompile(`\s`)
)

// FoldKeyword writes a text as keywords are compared: in lower case, without what
// stands around it.
func FoldKeyword(body string) string {
	return strings.ToLower(strings.Trim(body, " \t\r\n.,!?\"'“”‘’«»#()"))
}

// longestAbout bounds what a join says of the programme, shortConsent a consent text
// that is sent whole.
const (
	longestAbout = 160
	shortConsent = 320
)

// checkJoin refuses keywords that could not be used.
func (s StudySettings) checkJoin() error {
	var keywords, locales []string
	for i, join := range s.Join {
		field := fmt.Sprintf("join[%d]", i)
		keyword := FoldKeyword(join.Keyword)
		switch {
		case !joinKeyword.MatchString(keyword) || slices.Contains(keywords, keyword):
			return BadField(field+".keyword", "must be 3 to 20 letters and digits, and differ from the others")
		case join.Locale == "" || slices.Contains(locales, join.Locale):
			return BadField(field+".locale", "must be given and differ from the others")
		case len(s.Locales) > 0 && !slices.Contains(s.Locales, join.Locale):
			return BadField(field+".locale", "must be one of the study's: %s", strings.Join(s.Locales, ", "))
		case strings.TrimSpace(join.About) == "" || utf8.RuneCountInString(join.About) > longestAbout || strings.ContainsAny(join.About, "\r\n"):
			return BadField(field+".about", "must be a sentence of at most %d characters on one line", longestAbout)
		case !isLink(join.Link):
			return BadField(field+".link", "must be an https address, or empty")
		}
		keywords, locales = append(keywords, keyword), append(locales, join.Locale)
	}
	return nil
}

// isLink reports whether a text is an https address or empty.
func isLink(link string) bool {
	if link == "" {
		return true
	}
	address, err := url.Parse(link)
	return err == nil && address.Scheme == "https" && address.Host != "" && !spaces.MatchString(link)
}

// CheckConsentOf refuses a consent text that a join cannot show: it has no link and is
// too long for a text message.
func (j StudyJoin) CheckConsentOf(body string) error {
	if j.Link == "" && utf8.RuneCountInString(body) > shortConsent {
		return BadField("join.link", "must be given, because the consent text in %s has more than %d characters", j.Locale, shortConsent)
	}
	return nil
}

// JoinBy returns the join of a keyword as a person typed it.
func (s StudySettings) JoinBy(body string) (StudyJoin, bool) {
	keyword := FoldKeyword(body)
	i := slices.IndexFunc(s.Join, func(j StudyJoin) bool { return FoldKeyword(j.Keyword) == keyword })
	if i < 0 {
		return StudyJoin{}, false
	}
	return s.Join[i], true
}

// JoinIn returns the join in a language.
func (s StudySettings) JoinIn(locale string) (StudyJoin, bool) {
	i := slices.IndexFunc(s.Join, func(j StudyJoin) bool { return j.Locale == locale })
	if i < 0 {
		return StudyJoin{}, false
	}
	return s.Join[i], true
}
