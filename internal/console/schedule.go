package console

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models/wire"
)

// scheduleForms move the next prompt of a schedule, change its times, or remove it.
func (p *person) scheduleForms(s api.Schedule) g.Node {
	next := ""
	if s.NextAt != nil {
		next = s.NextAt.In(p.zone).Format(untilLayout)
	}
	what := s.At
	if s.Type == wire.ScheduleRandom {
		what = s.From + " to " + s.To
	}
	return g.Group{
		g.Iff(s.NextAt != nil, func() g.Node {
			return p.form(action{name: "prompt-move", key: s.ID, title: "Move the next prompt of " + what, needs: auth.ParticipantChange, button: "Move the prompt", previews: true,
				says: "Only this one prompt; those after it keep their time. Not into quiet hours, and not beyond the prompt that follows.",
				fields: []g.Node{field("prompt-move"+s.ID+"-to", "New time, in the person's time", h.Input(h.ID("prompt-move"+s.ID+"-to"), h.Name("to"), h.Type("datetime-local"), h.Required(),
					h.Value(p.enteredIn("prompt-move", s.ID, "to", next))))}})
		}),
		p.form(action{name: "schedule-change", key: s.ID, title: "Change the daily prompt of " + what, needs: auth.ParticipantChange, button: "Change the times", previews: true,
			says:   "From the next prompt on. A prompt goes out a little before its time; what is set here must lie outside quiet hours.",
			fields: p.timeFields("schedule-change", s.ID, s)}),
		p.form(action{name: "schedule-remove", key: s.ID, title: "Remove the daily prompt of " + what, needs: auth.ParticipantChange, danger: true, button: "Remove the daily prompt",
			says: "No more prompts of this schedule go out. The coach or an operator can make another."}),
	}
}

// addScheduleForm adds a daily prompt in the person's place.
func (p *person) addScheduleForm() g.Node {
	if !p.Status.Coached() {
		return nil
	}
	return p.form(action{name: "schedule-add", title: "Add a daily prompt", needs: auth.ParticipantChange, button: "Add the daily prompt", previews: true,
		says:   "One prompt a day, at a time or at another one each day within a window, in the person's time and outside quiet hours.",
		fields: p.timeFields("schedule-add", "", api.Schedule{})})
}

func (p *person) timeFields(form, key string, s api.Schedule) []g.Node {
	clock := func(name, label, value string) g.Node {
		id := form + key + "-" + name
		return field(id, label, h.Input(h.ID(id), h.Name(name), h.Type("time"), h.Value(p.enteredIn(form, key, name, value))))
	}
	return []g.Node{
		clock("at", "Every day at", s.At), clock("from", "Or at another time each day from", s.From), clock("to", "until", s.To),
		hidden("timezone", s.Timezone), p.firstChoice(form, key),
	}
}

// firstChoice asks about a prompt that would go out at once.
func (p *person) firstChoice(form, key string) g.Node {
	if !p.isRefused(form, key) || !strings.HasPrefix(p.viewer.problem, "first: ") && p.viewer.value("first") == "" {
		return nil
	}
	return choice("first", "Today's prompt", url.Values{"first": {p.viewer.value("first")}},
		[]option{{"", "Choose"}, {string(api.FirstTomorrow), "None today, begin tomorrow"}, {string(api.FirstNow), "Send it at once"}})
}

func (p *person) enteredIn(form, key, field, value string) string {
	if p.isRefused(form, key) {
		return p.viewer.value(field)
	}
	return value
}

// schedulePath is the path in the API of the schedule that a form is about.
func (v *viewer) schedulePath() string {
	return v.apiPath() + "/schedules/" + url.PathEscape(v.formValue("key"))
}

// changeSchedule sends a change of a daily prompt. Of a preview the page says what
// would come of it.
func (v *viewer) changeSchedule(q api.Request, notice string) (string, error) {
	q.Reason = v.formValue("reason")
	changed, err := send[api.Schedule](v, q)
	if err == nil && v.formValue("step") == stepPreview {
		when := "when the person is active again"
		if changed.NextAt != nil {
			when = "on " + changed.NextAt.In(zoneOf(changed.Timezone)).Format("Mon 2 Jan 15:04") + " in " + changed.Timezone
		}
		err = &refusal{status: http.StatusBadRequest, message: "nothing was done yet; the next prompt would go out " + when}
	}
	v.notice = notice
	return v.personPath(), err
}

func (v *viewer) postedTimes() api.NewSchedule {
	body := api.NewSchedule{Type: wire.ScheduleFixed, At: v.formValue("at"), From: v.formValue("from"), To: v.formValue("to"), Timezone: v.formValue("timezone"),
		First: api.FirstPrompt(v.formValue("first")), DryRun: v.formValue("step") == stepPreview}
	if body.At == "" && body.From != "" {
		body.Type = wire.ScheduleRandom
	}
	return body
}

func addSchedule(v *viewer) (string, error) {
	return v.changeSchedule(api.Request{Method: http.MethodPost, Path: v.apiPath() + "/schedules", Body: v.postedTimes()}, "Added")
}

func replaceSchedule(v *viewer) (string, error) {
	return v.changeSchedule(api.Request{Method: http.MethodPut, Path: v.schedulePath(), Body: v.postedTimes()}, "Changed")
}

func removeSchedule(v *viewer) (string, error) {
	return v.changeSchedule(api.Request{Method: http.MethodDelete, Path: v.schedulePath()}, "Removed")
}

func movePrompt(v *viewer) (string, error) {
	to, err := v.parsePersonTime("to", v.formValue("to"))
	if err != nil {
		return "", err
	}
	body := api.PromptMove{To: to.Truncate(time.Minute), DryRun: v.formValue("step") == stepPreview}
	return v.changeSchedule(api.Request{Method: http.MethodPost, Path: v.schedulePath() + "/move", Body: body}, "Moved")
}
