package openai

import (
	"regexp"
	"strings"
)

var (
	// moving is a wish for another time, movedTo the zone it is in.
	moving  = regexp.MustCompile(`\bmove my texts?\b|\b(?:text|message|write|remind) me\b.*\binstead\b`)
	movedTo = regexp.MustCompile(`\bin ([A-Z]\w+/\w+)`)
	// ids are those of schedules, which nobody is shown who did not ask for a list.
	ids = regexp.MustCompile(`\s*\bsch-\w[\w-]*`)
)

// wantsMove is the time that the person wants their texts at instead; false without a wish.
func (sc parsedRequest) wantsMove() (at string, wants bool) {
	at, to, timed := parseTimes(sc.said)
	return at, timed && to == "" && sc.hasSchedule() && moving.MatchString(plainTimes(sc.said))
}

// answerMove begins with what there is.
func (sc parsedRequest) answerMove() (saying, bool) {
	_, wants := sc.wantsMove()
	return callTools(listCall()), wants
}

// move makes the new schedule and deletes the others; one of that time is kept.
func (sc parsedRequest) move(at string, had []scheduleView) saying {
	args := map[string]any{"action": "create", "type": "fixed", "fixed_time": at}
	if zone := movedTo.FindStringSubmatch(sc.said); zone != nil {
		args["timezone"] = zone[1]
	}
	calls := []call{{toolScheduler, args}}
	for _, one := range had {
		if one.Time != at || args["timezone"] != nil && one.Zone != args["timezone"] {
			calls = append(calls, call{toolScheduler, map[string]any{"action": "delete", "schedule_id": one.ID}})
		}
	}
	return callTools(calls...)
}

// toldBy is what a tool says in words: what was found or noted, without the marks around it.
func toldBy(d completedCall) string {
	if found, isList := d.result["facts"].([]any); isList {
		told := ""
		for _, one := range found {
			line, _ := one.(string)
			told += " " + line
		}
		if told == "" {
			told = d.text("note")
		}
		return strings.TrimSpace(told)
	}
	if web, found := strings.CutPrefix(afterWeb(d).text, foundMark); found && d.result == nil {
		return web
	}
	return d.raw
}
