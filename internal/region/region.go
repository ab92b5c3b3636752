// Package region knows where a phone number is from: its country and, in the United States,
// its state, on which laws of texting and of coaches depend.
package region

import (
	"strings"

	"github.com/nyaruka/phonenumbers"
	"golang.org/x/text/language"
)

const countryLetters = 2

// CountryOf returns the country of a phone number in E.164, else the region that a locale
// names itself ("fr-CA", not "fr"), else nothing.
func CountryOf(phone, locale string) string {
	if number, err := phonenumbers.Parse(phone, ""); err == nil {
		region := phonenumbers.GetRegionCodeForNumber(number)
		if region == "" {
			region = phonenumbers.GetRegionCodeForCountryCode(int(number.GetCountryCode()))
		}
		if len(region) == countryLetters && region != phonenumbers.UNKNOWN_REGION {
			return region
		}
	}
	if _, _, region := language.Make(locale).Raw(); region.IsCountry() {
		return region.String()
	}
	return ""
}

// stateNames are the states as libphonenumber names them where it names no city, each with
// its letters.
const stateNames = "Alabama AL|Alaska AK|Arizona AZ|Arkansas AR|California CA|Colorado CO|Connecticut CT|Delaware DE|Washington D.C. DC|Florida FL|Georgia GA|Hawaii HI|Idaho ID|Illinois IL|Indiana IN|Iowa IA|Kansas KS|Kentucky KY|Louisiana LA|Maine ME|Maryland MD|Massachusetts MA|Michigan MI|Minnesota MN|Mississippi MS|Missouri MO|Montana MT|Nebraska NE|Nevada NV|New Hampshire NH|New Jersey NJ|New Mexico NM|New York NY|North Carolina NC|North Dakota ND|Ohio OH|Oklahoma OK|Oregon OR|Pennsylvania PA|Rhode Island RI|South Carolina SC|South Dakota SD|Tennessee TN|Texas TX|Utah UT|Vermont VT|Virginia VA|Washington State WA|West Virginia WV|Wisconsin WI|Wyoming WY"

// StateOf returns the two letters of the state that a number of the United States was given
// out in, by its area code; empty for other numbers and where that is not known. People
// take their numbers along when they move, so it is a guess.
func StateOf(phone string) string {
	number, err := phonenumbers.Parse(phone, "")
	if err != nil || phonenumbers.GetRegionCodeForNumber(number) != "US" {
		return ""
	}
	place, err := phonenumbers.GetGeocodingForNumber(number, "en")
	if err != nil {
		return ""
	}
	if _, state, hasCity := strings.Cut(place, ", "); hasCity && len(state) == countryLetters {
		return state
	}
	for entry := range strings.SplitSeq(stateNames, "|") {
		if state, isNamed := strings.CutPrefix(entry, place+" "); isNamed && len(state) == countryLetters {
			return state
		}
	}
	return ""
}
