package console

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
)

// takeOverHours are the choices of how long the coach stays silent.
var takeOverHours = []int{1, 4, 24, 72, 168}

const defaultTakeOver = 4

// takenOver says who has the conversation, above everything else.
func (p *person) takenOver() g.Node {
	taken := p.TakenOver
	if taken == nil {
		return nil
	}
	return h.P(h.Class("problem"), h.ID("taken-over"),
		g.Text(takerOf(*taken)+" took this conversation over "+ageOf(&taken.Since, p.viewer.now)+"; the coach is silent until "), instantOf(&taken.Until, p.zone), g.Text(" in the person's zone."))
}

func takerOf(t api.TakeOver) string {
	if t.By == models.TakenOverByAlert {
		return "A crisis alert"
	}
	return t.By
}

// takeOverSeen names who has a conversation, as a page shows it.
func takeOverSeen(p api.Participant) string {
	if p.TakenOver == nil {
		return "none"
	}
	return p.TakenOver.By + " " + stampOf(&p.TakenOver.Since)
}

// takeOverForms take the conversation over and hand it back.
func (p *person) takeOverForms() g.Node {
	if p.TakenOver == nil {
		if !p.Status.Coached() {
			return nil
		}
		return p.takeOverForm("Take the conversation over", nil)
	}
	forms := g.Group{p.form(action{name: "handback", title: "Hand the conversation back", needs: auth.TakeOver, button: "Hand back", seen: takeOverSeen(p.Participant),
		says:   "The coach answers again and prompts go on. It reads what was written meanwhile, and your note.",
		fields: []g.Node{p.waitingChoice("handback"), p.noteField("handback"), p.forceChoice("handback", "Hand it back all the same")}})}
	if p.TakenOver.By != p.viewer.who.Actor {
		force := hidden("force", "yes")
		return append(forms, p.takeOverForm("Take over from "+p.TakenOver.By, force))
	}
	return append(forms, p.takeOverForm("Move the end", nil))
}

func (p *person) takeOverForm(title string, extra g.Node) g.Node {
	chosen := p.refillField("takeover", "hours", strconv.Itoa(defaultTakeOver))
	return p.form(action{name: "takeover", title: title, needs: auth.TakeOver, button: title, seen: takeOverSeen(p.Participant),
		says: "The coach is silent at once: a reply under way is not sent, prompts are recorded as missed. What the person writes waits for you. STOP, HELP and the safety text work as ever.",
		fields: []g.Node{
			field("takeover-hours", "Hand back by itself after", h.Select(h.ID("takeover-hours"), h.Name("hours"), g.Map(takeOverHours, func(n int) g.Node {
				value := strconv.Itoa(n)
				return h.Option(h.Value(value), g.If(value == chosen, h.Selected()), g.Text(spanOf(time.Duration(n)*time.Hour)))
			}))),
			p.noteField("takeover"), extra,
		}})
}

func (p *person) noteField(form string) g.Node {
	return field(form+"-note", "Note to the coach (never sent to the person)",
		h.Textarea(h.ID(form+"-note"), h.Name("note"), h.MaxLength("1000"), g.Text(p.refillField(form, "note", ""))))
}

func takeOver(v *viewer) (string, error) {
	hours, err := strconv.Atoi(v.formValue("hours"))
	if err != nil || !slices.Contains(takeOverHours, hours) {
		return "", &refusal{status: http.StatusBadRequest, message: "hours: choose one of the list"}
	}
	if err := v.checkSeen(takeOverSeen); err != nil {
		return "", err
	}
	until := v.now.Add(time.Duration(hours) * time.Hour)
	body := api.NewTakeOver{Until: &until, Reason: v.formValue("reason"), Note: v.formValue("note"), Force: v.formValue("force") != ""}
	_, err = send[api.Participant](v, api.Request{Method: http.MethodPost, Path: v.apiPath() + "/takeover", Body: body, Reason: v.formValue("reason")})
	v.notice = "You have the conversation; the coach is silent"
	return v.personPath(), err
}

func handBack(v *viewer) (string, error) {
	if err := v.checkSeen(takeOverSeen); err != nil {
		return "", err
	}
	body := api.TakeOverEnd{Waiting: models.WaitingAction(v.formValue("waiting")), Note: v.formValue("note"), Force: v.formValue("force") != ""}
	_, err := send[api.Participant](v, api.Request{Method: http.MethodDelete, Path: v.apiPath() + "/takeover", Body: body, Reason: v.formValue("reason")})
	v.notice = "Handed back; the coach answers again"
	return v.personPath(), err
}
