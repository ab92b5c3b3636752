package models

import (
	"regexp"
	"strconv"
	"time"
)

// adultAge is the age from which a person may take part in a study for adults.
const adultAge = 18

var writtenYear = regexp.MustCompile(`\b(?:19|20)\d\d\b`)

// IsMinor reports whether a person born in a year is surely not 18 at an instant; false
// where the text holds no year.
func IsMinor(birthYear string, at time.Time) bool {
	year, err := strconv.Atoi(writtenYear.FindString(birthYear))
	return err == nil && at.Year()-year < adultAge
}
