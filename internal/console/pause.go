package console

import (
	"net/http"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
	"coachline/models/wire"
)

const (
	// stepPreview is what the button of a form sends that shows what it will do.
	stepPreview = "preview"
	// onlyPreviewed is what the page says then.
	onlyPreviewed = "nothing was done yet; look at what it will do, below"
)

// isPreviewed reports whether a form was sent to show what it will do.
func (p *person) isPreviewed(name, key string) bool {
	return p.isRefused(name, key) && p.viewer.value("step") == stepPreview && p.viewer.problem == onlyPreviewed
}

// pauseForm pauses or resumes; nothing where neither can be done.
func (p *person) pauseForm() g.Node {
	pause := action{name: "pause", needs: auth.ParticipantChange, previews: true, fields: []g.Node{p.pauseEndField(), p.pausePreview()}}
	switch p.Status {
	case wire.StatusActive:
		pause.title, pause.button = "Pause", "Pause"
		pause.says = "No prompts, reminders or replies go out until then, or until the person is resumed by hand. What they write waits, and is answered at the end if it is of that day."
		return p.form(pause)
	case wire.StatusPaused:
		pause.title, pause.button = "Move the end of the pause", "Move the end"
		pause.says = "The person is resumed by themselves at the new time; without one they are resumed by hand only."
		return g.Group{p.form(action{name: "resume", title: "Resume", needs: auth.ParticipantChange, button: "Resume",
			says: "Prompts go on with their next time, and the coach answers again.", fields: []g.Node{p.waitingChoice("resume")}}), p.form(pause)}
	case wire.StatusCompleted, wire.StatusWithdrawn, wire.StatusOptedOut:
	}
	return nil
}

func (p *person) pauseEndField() g.Node {
	was := ""
	if p.PausedUntil != nil {
		was = p.PausedUntil.In(p.zone).Format(untilLayout)
	}
	return field("pause-until", "Until, in the person's time; empty: until resumed by hand",
		h.Input(h.ID("pause-until"), h.Name("until"), h.Type("datetime-local"), h.Value(p.refillField("pause", "until", was))))
}

// pausePreview says what a pause stops that is due now.
func (p *person) pausePreview() g.Node {
	if !p.isPreviewed("pause", "") {
		return nil
	}
	end, _ := time.ParseInLocation(untilLayout, p.viewer.value("until"), p.zone) // refused before where it is none
	var lines []g.Node
	if p.state != nil && p.Status == wire.StatusActive {
		for _, due := range p.state.Due {
			if stopsWithPause(due.Kind) {
				lines = append(lines, h.Li(g.Text("Not sent: "+wordsOf(string(due.Kind))+", "), instantOf(&due.At, p.zone)))
			}
		}
	}
	resumed := h.Li(g.Text("The person stays paused until an operator resumes them."))
	if !end.IsZero() {
		resumed = h.Li(g.Text("The person is resumed on " + end.Format("Mon 2 Jan 15:04") + " in " + p.Timezone + "; prompts go on with the first time after it."))
	}
	return h.Div(h.Role("status"), h.Ul(g.Group(lines), resumed))
}

// stopsWithPause reports whether a pause takes a due time away.
func stopsWithPause(kind wire.DueKind) bool {
	switch kind {
	case wire.DueDailyPrompt, wire.DueReminder, wire.DueAutoFeedback, wire.DueFeedbackTimeout, wire.DueFeedbackFollowup,
		wire.DueCheckIn, wire.DueGreeting, wire.DueResult:
		return true
	case wire.DueDelayedTransition, wire.DueDebounce, wire.DueTakeOverEnd, wire.DuePauseEnd:
	}
	return false
}

// pauseLine says until when a pause lasts.
func (p *person) pauseLine() g.Node {
	if p.PausedUntil == nil {
		return nil
	}
	return h.P(h.Class("failure"), h.ID("paused"), g.Text("Paused until "), instantOf(p.PausedUntil, p.zone), g.Text(" in the person's zone; then resumed by themselves."))
}

func pausePerson(v *viewer) (string, error) {
	body := api.ParticipantChange{ParticipantPatch: models.ParticipantPatch{Status: new(wire.StatusPaused)}}
	text := v.formValue("until")
	end, err := v.parsePersonTime("until", text)
	if err != nil {
		return "", err
	}
	if !end.IsZero() && !end.After(v.now) {
		return "", &refusal{status: http.StatusBadRequest, message: "until: must be in the future"}
	}
	if v.formValue("step") == stepPreview {
		return "", &refusal{status: http.StatusBadRequest, message: onlyPreviewed}
	}
	body.PausedUntil = &end
	v.notice = "Paused"
	return v.change(body)
}

// parsePersonTime reads a local time of the person; zero where the field is empty.
func (v *viewer) parsePersonTime(name, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	row, err := get[api.Participant](v, v.apiPath(), nil)
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.ParseInLocation(untilLayout, text, zoneOf(row.Timezone))
	if err != nil {
		return time.Time{}, &refusal{status: http.StatusBadRequest, message: name + ": must be a date and a time"}
	}
	return at, nil
}
