package openai

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Names of the product's tools that the script has answers of its own for; any other
// is called with askedTool.
const (
	toolSave       = "save_user_profile"
	toolScheduler  = "scheduler"
	toolTransition = "transition_state"
	toolPrompt     = "generate_habit_prompt"
	toolList       = "list_memories"
	toolForget     = "forget_memory"
	toolPlaybook   = "read_playbook"
	toolUnknown    = "no_such_tool"
)

const (
	acknowledgement = "Thanks for your message. I am here when you want to talk about your habit."
	outOfTools      = "I can only write now, not save or look up anything. Please tell me again in a moment."
	whichOne        = "Which one shall I delete?"
	longestField    = 500 // characters of a profile field
)

// askedPlaybook is a request for the playbook of some name.
var askedPlaybook = regexp.MustCompile(`read the playbook (\S+)`)

// askedTool is a request to call a tool of some name.
var askedTool = regexp.MustCompile(`call the tool (\w+)(?: with (\{.*\}))?`)

var delayed = regexp.MustCompile(`(?:talk later|feedback) in (\d+(?:\.\d+)?) ?(s|m|h)`)

// answer is the script. It is a function of the scene alone.
func (sc parsedRequest) answer() saying {
	switch {
	case sc.hasSection("Task: habit prompt"):
		return saying{text: sc.habitSentence()}
	case sc.hasSection("Task: greeting"):
		return sc.greeting()
	case sc.hasSection("Task: check-in"):
		return sc.checkIn()
	}
	reply := sc.answerNew()
	if len(sc.steps) > 0 {
		reply = sc.answerAfterTools()
	}
	for _, c := range reply.calls {
		if len(sc.tools) == 0 || c.name != toolUnknown && !slices.Contains(sc.tools, c.name) {
			return saying{text: outOfTools}
		}
	}
	return reply
}

func (sc parsedRequest) greeting() saying {
	name := ""
	if known := sc.value("Participant", "Name"); known != "" {
		name = " " + clipText(known, 40)
	}
	return say("Hi%s! I am your automated habit coach. We start with a short chat, then you get about one text a day. Are you ready to start?", name)
}

// checkIn decides to write once, and then not before the person has answered.
func (sc parsedRequest) checkIn() saying {
	if sc.value("Last contact", "Check-ins since the person wrote") != "0" {
		return saying{text: encode(map[string]any{"send": false, "text": ""})}
	}
	habit := "your habit"
	if known := sc.profile("habit_domain"); known != "" {
		habit = clipText(known, 60)
	}
	return saying{text: encode(map[string]any{"send": true, "text": "Thinking of " + habit + ": what would make it a little easier today?"})}
}

// answerNew answers a turn that has called no tool yet.
func (sc parsedRequest) answerNew() saying {
	for _, try := range []func() (saying, bool){sc.testWords, sc.answerWeb, sc.answerMemories, sc.answerMove, sc.answerCommand, sc.answerFromMemory, sc.fieldAnswer, sc.answerFeedback, sc.answerIntake} {
		if reply, fits := try(); fits {
			return reply
		}
	}
	return sc.acknowledge()
}

// acknowledge answers what asks for nothing, not twice in the same words.
func (sc parsedRequest) acknowledge() saying {
	if strings.Contains(sc.asked, acknowledgement) {
		return saying{text: "Good to hear from you. Tell me how it goes."}
	}
	return saying{text: acknowledgement}
}

// hasPhrase reports whether the person's words hold a phrase, in any case.
func (sc parsedRequest) hasPhrase(phrase string) bool {
	return strings.Contains(strings.ToLower(sc.said), phrase)
}

func listCall() call { return call{toolScheduler, map[string]any{"action": "list"}} }

func (sc parsedRequest) testWords() (saying, bool) {
	switch asked := askedTool.FindStringSubmatch(sc.said); {
	case asked != nil:
		args := map[string]any{}
		_ = json.Unmarshal([]byte(asked[2]), &args) // What cannot be read is left out.
		return callTools(call{asked[1], args}), true
	case sc.hasPhrase("call two tools"):
		return callTools(listCall(), call{toolSave, map[string]any{"additional_info": "asked for two tools"}}), true
	case sc.hasPhrase("loop tools"):
		return callTools(listCall()), true
	case sc.hasPhrase("say nothing once") && len(sc.tools) == 0:
		return saying{text: "Here I am again."}, true
	case sc.hasPhrase("say nothing"):
		return saying{}, true
	case sc.hasPhrase("bad arguments"):
		return callTools(call{toolScheduler, map[string]any{"action": "create", "type": "fixed", "fixed_time": "25:99", "colour": "red"}}), true
	case sc.hasPhrase("text and tool"):
		return saying{
			text:  "Done, I deleted that schedule.",
			calls: []call{{toolScheduler, map[string]any{"action": "delete", "schedule_id": "no-such-schedule"}}},
		}, true
	case sc.hasPhrase("unknown tool"):
		return callTools(call{toolUnknown, map[string]any{}}), true
	}
	return saying{}, false
}

func (sc parsedRequest) answerCommand() (saying, bool) {
	later := delayed.FindStringSubmatch(strings.ToLower(sc.said))
	switch {
	case later != nil:
		return callTools(call{toolTransition, map[string]any{"target_state": "FEEDBACK", "delay_minutes": minutes(later[1], later[2])}}), true
	case sc.hasPhrase("feedback now"):
		return callTools(call{toolTransition, map[string]any{"target_state": "FEEDBACK"}}), true
	case sc.hasPhrase("list my schedules"), sc.wantsDelete():
		return callTools(listCall()), true
	case sc.hasPhrase("give me a prompt"):
		return callTools(call{toolPrompt, map[string]any{"delivery_mode": "immediate"}}), true
	case askedPlaybook.MatchString(strings.ToLower(sc.said)):
		return callTools(call{toolPlaybook, map[string]any{"name": askedPlaybook.FindStringSubmatch(strings.ToLower(sc.said))[1]}}), true
	case sc.hasPhrase("what do you know about me"):
		return sc.sayProfile(700), true
	case sc.hasPhrase("what time is it"):
		local, _, _ := strings.Cut(sc.value("Now", "Local time"), ";")
		return say("Your local time is %s.", local), true
	}
	return saying{}, false
}

func minutes(number, unit string) float64 {
	n, _ := strconv.ParseFloat(number, 64) // The pattern allows numbers only.
	switch unit {
	case "s":
		return n / 60
	case "h":
		return n * 60
	}
	return n
}

func (sc parsedRequest) wantsDelete() bool {
	said := strings.TrimPrefix(normalise(sc.said), "please ")
	return strings.HasPrefix(said, "cancel") || strings.HasPrefix(said, "delete") || strings.Contains(sc.asked, whichOne)
}

// normalise is lower case without punctuation; apostrophes leave no gap.
func normalise(said string) string {
	said = strings.NewReplacer("'", "", "\u2019", "").Replace(strings.ToLower(said))
	return strings.Join(strings.FieldsFunc(said, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
}

var (
	setback = regexp.MustCompile(`^(no|nope|not|never|sorry no)\b|\b(skipped|skip|couldnt|could not|cant|cannot|didnt|did not|missed|forgot|too busy|no time)\b`)
	success = regexp.MustCompile(`^(yes|yep|yeah|done|did it|i did|i have done|finished|i finished|all done|completed)\b`)
)

// answerFeedback takes a report on the outstanding prompt.
func (sc parsedRequest) answerFeedback() (saying, bool) {
	prompt, said := sc.outstanding(), normalise(sc.said)
	if prompt == "" && !sc.inFeedback() {
		return saying{}, false
	}
	var calls []call
	switch {
	case setback.MatchString(said):
		calls = append(calls, call{toolSave, map[string]any{"last_barrier": clipText(sc.said, longestField-3)}})
	case !success.MatchString(said):
		return saying{}, false
	case prompt != "":
		calls = append(calls, call{toolSave, map[string]any{"last_successful_prompt": clipText(prompt, longestField-3)}})
	}
	if sc.inFeedback() {
		calls = append(calls, call{toolTransition, map[string]any{"target_state": "INTAKE"}})
	}
	return callTools(calls...), true
}

// answerAfterTools answers a turn whose tools have run: by what was called and what
// came of it.
func (sc parsedRequest) answerAfterTools() saying {
	step := sc.steps[len(sc.steps)-1]
	if sc.hasPhrase("loop tools") {
		return callTools(listCall())
	}
	for _, d := range step {
		if problem, failed := d.failure(); failed {
			return sc.answerFailure(d, problem)
		}
	}
	if sc.hasPhrase("call two tools") && len(step) > 1 {
		return say("Both are done: %s and %s.", step[0].name, step[1].name)
	}
	return sc.answerAfter(step[0])
}

func (sc parsedRequest) answerAfter(d completedCall) saying {
	switch d.name {
	case toolScheduler:
		return sc.afterScheduler(d)
	case toolSave:
		return sc.afterSave(d)
	case toolPrompt:
		if text := d.text("prompt"); text != "" {
			return saying{text: text}
		}
	case toolTransition:
		// Where one call is made at a time, the save came in a step before.
		if saved, ran := sc.ran(toolSave); ran && d.arg("target_state") == "INTAKE" {
			return sc.afterSave(saved)
		}
		return afterTransition(d)
	case toolList:
		return sc.afterList(d)
	case toolForget:
		return sc.afterForget(d)
	case toolPlaybook:
		return say("The playbook says: %s", clipText(d.text("reference"), 200))
	case toolSearch, toolFetch:
		return afterWeb(d)
	}
	if askedTool.MatchString(sc.said) {
		return say("The tool says: %s", clipText(toldBy(d), 200))
	}
	return sc.acknowledge()
}

func afterTransition(d completedCall) saying {
	if delay, _ := d.args["delay_minutes"].(float64); delay > 0 {
		return say("OK. I will ask you how it went in %s minutes.", strconv.FormatFloat(delay, 'f', -1, 64))
	}
	if d.arg("target_state") == "FEEDBACK" {
		return say("Let us talk about your last prompt. How did it go?")
	}
	return saying{text: acknowledgement}
}

// answerFailure tells the truth about a failed call and asks for what is missing.
func (sc parsedRequest) answerFailure(d completedCall, problem string) saying {
	if which, unsure := whichToForget(d, problem); unsure {
		return which
	}
	if d.name == toolList {
		return sc.afterList(d) // What the profile says is there in any case.
	}
	text := "That did not work: " + strings.TrimRight(clipText(ids.ReplaceAllString(problem, ""), 200), ":;, .") + "."
	switch {
	case d.name == toolPrompt && len(sc.missing()) > 0:
		text += " " + question(sc.missing()[0])
	case d.name == toolScheduler && d.arg("action") == "create" && !sc.hasPhrase("bad arguments"):
		text += " " + clockQuestion
	}
	return saying{text: text}
}

func (sc parsedRequest) afterScheduler(d completedCall) saying {
	switch d.arg("action") {
	case "create":
		return confirmSchedule(d)
	case "delete":
		return say("Done. I deleted the schedule%s.", sc.describeDeleted(d.arg("schedule_id")))
	}
	list := views(d)
	if at, wants := sc.wantsMove(); wants {
		return sc.move(at, list)
	}
	if !sc.wantsDelete() {
		if len(list) == 0 {
			return say("You have no schedules.")
		}
		return say("You have %d: %s.", len(list), describeSchedules(list))
	}
	if len(list) == 0 {
		return say("You have no schedules, so there is nothing to delete.")
	}
	meant, found := sc.findSchedule(list)
	if !found {
		return say("You have %d: %s. %s", len(list), describeSchedules(list), whichOne)
	}
	return callTools(call{toolScheduler, map[string]any{"action": "delete", "schedule_id": meant.ID}})
}

// scheduleView is a schedule as the scheduler's results show it.
type scheduleView struct {
	ID      string `json:"id"`
	Time    string `json:"time"`
	From    string `json:"from"`
	To      string `json:"to"`
	Zone    string `json:"zone"`
	NextRun string `json:"next_run"`
}

func views(d completedCall) []scheduleView {
	var result struct {
		Schedules []scheduleView `json:"schedules"`
	}
	_ = json.NewDecoder(strings.NewReader(d.raw)).Decode(&result) // What cannot be read is not there.
	return result.Schedules
}

// when is "at 08:00 (America/New_York)" or "between ...".
func (v scheduleView) when() string {
	text := "at " + v.Time
	if v.Time == "" {
		text = "between " + v.From + " and " + v.To
	}
	if v.Zone != "" {
		text += " (" + v.Zone + ")"
	}
	return text
}

func describeSchedules(list []scheduleView) string {
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = v.ID + " " + v.when()
		if len(v.NextRun) >= len("2006-01-02T15:04") {
			parts[i] += ", next " + strings.Replace(v.NextRun[:len("2006-01-02T15:04")], "T", " ", 1)
		}
	}
	return strings.Join(parts, "; ")
}

// findSchedule finds the schedule that the person means: by id, by time, or the
// only one.
func (sc parsedRequest) findSchedule(list []scheduleView) (scheduleView, bool) {
	from, _, timed := parseTimes(sc.said)
	for _, v := range list {
		if sc.hasPhrase(strings.ToLower(v.ID)) || timed && (v.Time == from || v.From == from) {
			return v, true
		}
	}
	return list[0], len(list) == 1 && !timed
}

// describeDeleted says which one, as the list of this turn had it.
func (sc parsedRequest) describeDeleted(id string) string {
	if d, found := sc.newest("schedules"); found {
		for _, v := range views(d) {
			if v.ID == id {
				return " " + v.when()
			}
		}
	}
	return " " + id
}
