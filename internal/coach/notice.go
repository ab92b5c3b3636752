package coach

import (
	"slices"
	"time"

	"coachline/internal/region"
)

const (
	// noticeSilence is the silence of a person after which everybody is told again that an
	// AI writes (Utah), noticeTalk the length of a conversation after which those are told
	// whose state asks for it (New York, Washington).
	noticeSilence = 7 * 24 * time.Hour
	noticeTalk    = 3 * time.Hour
)

// noticeStates ask that people are told again each day on which they talk with an AI: New
// York GBL 1702, Utah 13-72a-203, Washington HB 2225.
var noticeStates = []string{"NY", "UT", "WA"}

// AsksNotice reports whether the law where a number is from asks that its owner is told
// each day.
func AsksNotice(phone string) bool { return slices.Contains(noticeStates, region.StateOf(phone)) }

// NoticeInput is what says whether a text has to tell again that an AI writes. Last is when
// the person was told last, zero for never; Talk when the conversation began, and Heard when
// the person wrote last before it, or enrolled. IsDaily: the law asks for it each day, as it
// does everywhere for minors (California B&P 22602(c)).
// IsStarted: the programme begins the conversation. Zone is the person's.
type NoticeInput struct {
	Now, Last, Talk, Heard time.Time
	IsDaily, IsStarted     bool
	Zone                   *time.Location
}

// IsSilent reports whether the person has been silent for so long that everybody is told.
func (in NoticeInput) IsSilent() bool {
	return !in.Heard.IsZero() && in.Now.Sub(in.Heard) >= noticeSilence
}

// NeedsNotice reports whether a text has to tell again that an AI writes: after a week of
// silence, at the first text of a conversation on each day, and every three hours of a long
// one.
func NeedsNotice(in NoticeInput) bool {
	switch {
	case in.IsSilent() && in.IsStarted && in.Now.Sub(in.Last) >= noticeSilence, in.IsSilent() && !in.IsStarted && in.Last.Before(in.Talk):
		return true
	case !in.IsDaily:
		return false
	case in.Last.In(in.Zone).Format(time.DateOnly) != in.Now.In(in.Zone).Format(time.DateOnly):
		return true
	}
	return in.Now.Sub(in.Last) >= noticeTalk && in.Now.Sub(in.Talk) >= noticeTalk
}
