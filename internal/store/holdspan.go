package store

import (
	"slices"
	"time"
	_ "time/tzdata" // the carrier's day ends at the same instant on every host

	"coachline/models"
)

// carrierZone is where the carriers' daily limits end at midnight.
const carrierZone = "America/Los_Angeles"

// rollingWindow is the limit over any 24 hours: it ends at no known instant and
// is tried every hour.
const (
	rollingWindow = "63038"
	rollingLook   = time.Hour
)

// destinations are faults of the account that are about where a text goes (a
// region that is not enabled, a trial account's unverified number): one person
// abroad must not stop all the others.
var destinations = []string{"21408", "21608"}

// sendersFaults are faults of the account's class that are the sender's alone: other
// senders of the account may text. The daily limit of the account holds them all.
var sendersFaults = []string{"21212", "21603", "21606", "21703", "21704", "21705"}

// holdUntil returns how long a refusal stops the sender; false where it does
// not.
func (s *Outbox) holdUntil(r models.Refusal) (time.Time, bool) {
	switch r.Class.Spec().HoldEnd {
	case models.HoldEndQuota:
		if r.Code == rollingWindow {
			return r.Now.Add(rollingLook), true
		}
		year, month, day := r.Now.In(s.carrierZone).Date()
		return time.Date(year, month, day+1, 0, 0, 0, 0, s.carrierZone), true
	case models.HoldEndProbe:
		return r.Now.Add(probeEvery), !slices.Contains(destinations, r.Code)
	case models.HoldEndNone:
	}
	return time.Time{}, false
}
