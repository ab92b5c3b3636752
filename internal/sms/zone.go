package sms

import (
	"time"

	"github.com/nyaruka/phonenumbers"
)

// SuggestZone returns the zone in which a number (E.164) was given out, as an IANA
// name. It finds none for numbers of several zones, such as mobile numbers of a
// large country, and the person may be elsewhere.
func SuggestZone(phone string) (zone string, found bool) {
	number, err := phonenumbers.Parse(phone, "")
	if err != nil {
		return "", false
	}
	zones, err := phonenumbers.GetTimezonesForNumber(number)
	if err != nil || len(zones) != 1 || zones[0] == phonenumbers.UNKNOWN_TIMEZONE {
		return "", false
	}
	if _, err := time.LoadLocation(zones[0]); err != nil {
		return "", false
	}
	return zones[0], true
}
