package coach

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// placeOf names the zone of a place for names that say none: offsets without the
// rules for clock changes of anywhere, and old names.
var placeOf = map[string]string{
	"EST": "America/New_York", "EST5EDT": "America/New_York", "CST6CDT": "America/Chicago", "MST": "America/Denver",
	"MST7MDT": "America/Denver", "PST8PDT": "America/Los_Angeles", "HST": "Pacific/Honolulu", "Navajo": "America/Denver",
	"CET": "Europe/Berlin", "MET": "Europe/Berlin", "EET": "Europe/Athens", "WET": "Europe/Lisbon",
	"GMT": "Europe/London", "GB": "Europe/London", "GB-Eire": "Europe/London", "Eire": "Europe/Dublin", "Greenwich": "Europe/London",
	"Cuba": "America/Havana", "Egypt": "Africa/Cairo", "Hongkong": "Asia/Hong_Kong", "Iceland": "Atlantic/Reykjavik",
	"Iran": "Asia/Tehran", "Israel": "Asia/Jerusalem", "Jamaica": "America/Jamaica", "Japan": "Asia/Tokyo",
	"Kwajalein": "Pacific/Kwajalein", "Libya": "Africa/Tripoli", "NZ": "Pacific/Auckland", "NZ-CHAT": "Pacific/Chatham",
	"PRC": "Asia/Shanghai", "Poland": "Europe/Warsaw", "Portugal": "Europe/Lisbon", "ROC": "Asia/Taipei", "ROK": "Asia/Seoul",
	"Singapore": "Asia/Singapore", "Turkey": "Europe/Istanbul", "W-SU": "Europe/Moscow",
}

// CheckZoneName refuses names that are no zone of a place: clocks change by the
// rules of a place, and a name such as EST has those of none. UTC is allowed,
// because a programme may have it as its default. The error says what to use
// instead and does not repeat the name. Names that were accepted before go on to
// work (Input.loadZone).
func CheckZoneName(name string, zones Zones) error {
	if name == "" || strings.EqualFold(name, "Local") {
		return errors.New("must be an IANA zone name such as Europe/Berlin")
	}
	_, err := zones(name)
	switch place, known := placeOf[name]; {
	case known:
		return fmt.Errorf("names no place, whose clock changes would count; use %s", place)
	case err == nil && (name == time.UTC.String() || strings.Contains(name, "/") && !strings.HasPrefix(name, "Etc/")):
		return nil
	case err == nil:
		return errors.New("names no place, whose clock changes would count; use the IANA zone name of a place such as Europe/Berlin, or UTC")
	}
	return errors.New("unknown zone; use an IANA zone name such as Europe/Berlin")
}
