package openai

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// clockText matches a time of day in words. A bare number counts only after a
// word such as "at", before "o'clock" or a part of the day, alone, or as the
// beginning of a window.
var clockText = regexp.MustCompile(`(?:(\bat|\baround|\babout|\bby|\bbetween|\bfrom|\band|\bto|\bor|-) ?)?\b(\d{1,2})(?:[:.h](\d{2}))? ?(am\b|pm\b|o'clock\b|in the (?:morning|afternoon|evening)\b)?`)

// clockTime is one time found in a text; sure says that it was written with
// minutes or with am or pm.
type clockTime struct {
	hour, minute int
	suffix       string
	sure         bool
	bare         bool // nothing but its place makes it a time
	start, end   int
}

var (
	between  = regexp.MustCompile(`^ ?(-|to|and|until|till) ?$`)
	midnight = regexp.MustCompile(`\bmidnight\b`)
	lateDay  = regexp.MustCompile(`\b(evening|afternoon|at night|tonight)`)
	midday   = regexp.MustCompile(`\b(noon|midday)\b`)
)

// parseTimes reads one time, or a window, out of what a person said; both are
// HH:MM, to is empty for one time. False when there is no time in it.
func parseTimes(said string) (from, to string, found bool) {
	text := plainTimes(said)
	times := clockTimes(text)
	for len(times) > 0 && times[0].bare && !opensWindow(text, times) {
		times = times[1:]
	}
	if len(times) == 0 {
		return "", "", false
	}
	late := lateDay.MatchString(text)
	if !opensWindow(text, times) {
		return times[0].clock(times[0].suffix, late), "", true
	}
	from, to = readWindow(times[0], times[1], late)
	return from, to, true
}

// readWindow reads "9-11 am" and "9 to 5" as they are meant; to is empty when both
// ends are the same.
func readWindow(first, last clockTime, late bool) (from, to string) {
	suffix := first.suffix
	if suffix == "" {
		suffix = last.suffix
	}
	from, to = first.clock(suffix, late), last.clock(last.suffix, late)
	if to < from && !last.sure && last.hour < 12 {
		last.hour += 12
		to = last.clock("", false)
	}
	if from == to {
		to = ""
	}
	return from, to
}

// plainTimes brings the spellings of a time to one.
func plainTimes(said string) string {
	text := strings.ToLower(said)
	text = strings.NewReplacer("\u2013", "-", "\u2019", "'", "a.m.", "am", "p.m.", "pm", "oclock", "o'clock").Replace(text)
	text = midday.ReplaceAllString(midnight.ReplaceAllString(text, "0:00"), "12:00")
	return strings.Join(strings.Fields(text), " ")
}

func opensWindow(text string, times []clockTime) bool {
	return len(times) > 1 && between.MatchString(text[times[0].end:times[1].start])
}

// timeText is how a time or a window is kept in the profile.
func timeText(from, to string) string {
	if to == "" {
		return from
	}
	return from + "-" + to
}

func clockTimes(text string) []clockTime {
	var times []clockTime
	for _, at := range clockText.FindAllStringSubmatchIndex(text, -1) {
		group := func(n int) string {
			if at[2*n] < 0 {
				return ""
			}
			return text[at[2*n]:at[2*n+1]]
		}
		hour, _ := strconv.Atoi(group(2))   // digits only
		minute, _ := strconv.Atoi(group(3)) // digits or nothing
		if hour > 23 || minute > 59 {
			continue
		}
		alone := at[4] == 0 && at[1] == len(text)
		suffix := group(4)
		if suffix != "am" && suffix != "pm" {
			suffix = ""
		}
		times = append(times, clockTime{
			hour: hour, minute: minute, suffix: suffix, sure: group(3) != "" || suffix != "",
			bare:  group(1) == "" && group(3) == "" && group(4) == "" && !alone,
			start: at[4], end: at[1],
		})
	}
	return times
}

// clock is HH:MM; late moves a time before noon to the second half of the day
// when nothing else says which half is meant.
func (t clockTime) clock(suffix string, late bool) string {
	hour := t.hour
	switch {
	case suffix == "pm" && hour < 12, suffix == "" && late && hour > 0 && hour < 12:
		hour += 12
	case suffix == "am" && hour == 12:
		hour = 0
	}
	return fmt.Sprintf("%02d:%02d", hour, t.minute)
}
