package tools

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"coachline/internal/coach"
	"coachline/internal/text"
	"coachline/models"
	"coachline/models/wire"
)

// hourWords are the words of the hours 0 to 12 in five languages.
var hourWords = func() map[string]int {
	out := map[string]int{}
	for _, line := range []string{
		"midnight one two three four five six seven eight nine ten eleven noon", "mitternacht eins zwei drei vier fünf sechs sieben acht neun zehn elf mittag",
		"medianoche una dos tres cuatro cinco seis siete ocho nueve diez once mediodía", "minuit une deux trois quatre cinq six sept huit neuf dix onze midi",
		"meia-noite uma duas três quatro cinco seis sete oito nove dez onze meio-dia",
	} {
		for hour, word := range strings.Fields(line) {
			out[word] = hour
		}
	}
	return out
}()

// hourFigures is a number that may be an hour.
var hourFigures = regexp.MustCompile(`\d{1,2}`)

// saysHour reports whether words name an hour of the day, on either clock.
func saysHour(words string, hour int) bool {
	plain := text.Fold(words)
	for _, word := range hourFigures.FindAllString(plain, -1) {
		if n, _ := strconv.Atoi(word); n == hour || n%12 == hour%12 && n <= 12 {
			return true
		}
	}
	return slices.ContainsFunc(strings.FieldsFunc(plain, func(r rune) bool { return strings.ContainsRune(" .,;:!?\n", r) }), func(word string) bool {
		n, known := hourWords[word]
		return known && n%12 == hour%12
	})
}

// hoursBack is how many of the person's newest texts may have named the hour.
const hoursBack = 2

// IsNightTime reports whether a new daily prompt has a time in quiet hours, which only the
// person may choose.
func IsNightTime(ask wire.ScheduleAsk, quiet coach.QuietHours) bool {
	if ask.Action != wire.ScheduleCreate || ask.Type != wire.ScheduleFixed {
		return false
	}
	at, err := coach.ParseClock(ask.At)
	return err == nil && quiet.ContainsClock(at)
}

// HasChosenHour reports whether the person named the hour of a time in their newest texts,
// or agreed to it when they were asked.
func HasChosenHour(at string, window []models.Message) bool {
	clock, err := coach.ParseClock(at)
	if err != nil {
		return false
	}
	hour, said, agreed := int(clock)/60, 0, false
	for _, entry := range slices.Backward(window) {
		names := saysHour(entry.Text, hour)
		switch {
		case entry.Role == models.RoleAssistant && agreed && names:
			return true
		case entry.Role == models.RoleAssistant:
			agreed = false
		case entry.Role != models.RoleUser:
		case names:
			return true
		default:
			agreed = said == 0 && text.Agrees(entry.Text)
			if said++; said == hoursBack {
				return false
			}
		}
	}
	return false
}
