package console

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
	"coachline/models/wire"
)

// showToday is the first screen: what needs a person now. Every number leads to the
// list behind it.
func (c *Console) showToday(v *viewer) (page, error) {
	today, err := get[api.Today](v, "/today", nil)
	if err != nil {
		return page{}, err
	}
	if today.People == 0 {
		return page{title: "Today", follow: followAll, body: append(c.welcome(v), strangerQueue(v, today), strangersFlood(v, today))}, nil
	}
	budgets, err := crossedBudgets(v)
	if err != nil {
		return page{}, err
	}
	asked, err := askedQueue(v, today)
	if err != nil {
		return page{}, err
	}
	return page{title: "Today", follow: followAll, body: []g.Node{
		h.H1(g.Text("Today")),
		g.Map(budgets, func(b models.Budget) g.Node {
			return h.P(idOf("budget", b.ID), h.Class("problem"), h.A(h.Href(Path+"cost"), g.Text("Budget: "+budgetName(b))), g.Text(". "+budgetAlert(b.State)))
		}),
		crisisQueue(v, today),
		strangerQueue(v, today),
		asked,
		strangersFlood(v, today),
		g.Map(today.SenderHolds, func(hold api.SenderHold) g.Node { return senderHold(v, hold) }),
		h.H2(h.ID("look"), g.Text("People who need a look")),
		tiles(today),
		hourChart(today.Hours),
	}}, nil
}

// peopleLink is the list of people behind a filter.
func peopleLink(pairs ...string) string {
	query := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		query.Set(pairs[i], pairs[i+1])
	}
	return Path + "people?" + query.Encode()
}

// crisisQueue lists the open crises, oldest first, with the time since each text.
func crisisQueue(v *viewer, today api.Today) g.Node {
	if len(today.Crises) == 0 {
		return h.P(h.ID("no-crisis"), g.Text("No open crisis."))
	}
	total := attentionOf(today, wire.AttentionCrisis)
	return g.Group([]g.Node{
		h.H2(h.ID("crises"), h.A(h.Href(peopleLink("attention", string(wire.AttentionCrisis), "sort", "silent")), g.Text("Crisis: "+peopleCount(total)))),
		h.Ol(h.ID("crisis-list"), h.Class("queue"), h.Aria("label", "Crises, oldest first"), g.Map(today.Crises, func(a api.Attention) g.Node {
			name := cmp.Or(a.Name, a.ParticipantID)
			return h.Li(idOf("crisis", a.ParticipantID), h.Data("urgent", name+" wrote a text that may be a crisis"), h.A(h.Href(Path+"people/"+a.ParticipantID), h.B(g.Text(name))),
				g.Text(" wrote "+ageOf(&a.Since, v.now)+", "), instantOf(&a.Since, time.UTC), g.Text(" UTC. "), seenTo(v, a))
		})),
	})
}

// strangerQueue lists the alerts of numbers that are not enrolled, oldest first.
func strangerQueue(v *viewer, today api.Today) g.Node {
	if len(today.Strangers) == 0 {
		return nil
	}
	return g.Group([]g.Node{
		h.H2(h.ID("strangers"), g.Text("Crisis: numbers that are not enrolled")),
		h.Ol(h.ID("stranger-list"), h.Class("queue"), h.Aria("label", "Alerts of numbers that are not enrolled, oldest first"), g.Map(today.Strangers, func(a models.Alert) g.Node {
			return h.Li(idOf("alert", a.ID), h.Data("urgent", "An unknown number wrote a text that may be a crisis"), h.A(h.Href(Path+"alerts/"+a.ID), h.B(g.Text("An unknown number"))), g.Text(" wrote "+ageOf(&a.CreatedAt, v.now)+", "), instantOf(&a.CreatedAt, time.UTC),
				g.Text(" UTC. "), h.Span(h.Class("tag bad"), g.Text("not acknowledged")))
		})),
	})
}

// strangersFlood says that numbers which are not enrolled text more than a person may.
func strangersFlood(v *viewer, today api.Today) g.Node {
	if today.Flood == nil {
		return nil
	}
	return h.P(h.ID("flood"), h.Class("problem"), h.B(g.Text("Too many texts from numbers that are not enrolled. ")),
		g.Text("The newest is from "+cmp.Or(today.Flood.Phone, "an unknown number")+", "+ageOf(&today.Flood.Since, v.now)+". Such texts reach no coach; this goes a day after the last."))
}

// askedQueue lists the people who asked for a human, oldest first, with the reason.
func askedQueue(v *viewer, today api.Today) (g.Node, error) {
	if attentionOf(today, wire.AttentionPerson) == 0 {
		return nil, nil
	}
	asked, err := get[api.AttentionPage](v, "/attention", url.Values{"kind": {string(wire.AttentionPerson)}})
	return g.Group([]g.Node{
		h.H2(h.ID("asked"), g.Text("Asked for a human")),
		h.Ol(h.ID("asked-list"), h.Class("queue"), h.Aria("label", "People who asked for a human, oldest first"), g.Map(asked.Attention, func(a api.Attention) g.Node {
			return h.Li(idOf("asked", a.ParticipantID), h.A(h.Href(Path+"people/"+a.ParticipantID), h.B(g.Text(cmp.Or(a.Name, a.ParticipantID)))),
				g.Text(" "+ageOf(&a.Since, v.now)+": "+cmp.Or(a.Reason, "no reason given")))
		})),
	}), err
}

// seenTo says who has taken the conversation of a crisis over, and who has
// acknowledged it.
func seenTo(v *viewer, a api.Attention) g.Node {
	var parts g.Group
	if t := a.TakenOver; t != nil {
		parts = append(parts, g.Text(takerOf(*t)+" took the conversation over "+ageOf(&t.Since, v.now)+". "))
	}
	if a.AcknowledgedBy != "" {
		return append(parts, g.Text(a.AcknowledgedBy+" acknowledged the alert "+ageOf(a.AcknowledgedAt, v.now)+"."))
	}
	return append(parts, h.Span(h.Class("tag bad"), g.Text("not acknowledged")))
}

// senderHold says that the carrier has a sender wait.
func senderHold(v *viewer, hold api.SenderHold) g.Node {
	who := "the whole account"
	if hold.Sender != "" {
		who = hold.Sender
	}
	return h.P(idOf("sender", hold.Sender), h.Class("problem"), h.B(g.Text("The carrier has stopped us sending: "+who+". ")),
		g.Text("Code "+hold.Code+", since "+ageOf(&hold.Since, v.now)+"; the next text may go at "), instantOf(&hold.Until, time.UTC), g.Text(" UTC."))
}

func attentionOf(today api.Today, kind wire.Attention) int {
	for _, count := range today.Attention {
		if count.Kind == kind {
			return count.People
		}
	}
	return 0
}

func peopleCount(n int) string {
	if n == 1 {
		return "1 person"
	}
	return strconv.Itoa(n) + " people"
}

func tiles(today api.Today) g.Node {
	attention := func(kind wire.Attention, label string) g.Node {
		return tile(attentionOf(today, kind), label, "warn", peopleLink("attention", string(kind)))
	}
	return h.Ul(h.Class("tiles"),
		tile(today.Unreachable, "cannot be reached by the carrier", "warn", peopleLink("unreachable", "true")),
		attention(wire.AttentionPerson, "who asked for a human"),
		attention(wire.AttentionSend, "with a text that failed"),
		tile(today.Silent, fmt.Sprintf("silent for %d days or more", today.SilentDays), "",
			peopleLink("status", string(wire.StatusActive), "silent_days", strconv.Itoa(today.SilentDays), "sort", string(models.OrderSilent))),
		tile(today.Waiting, "waiting for a person to answer", "warn", peopleLink("waiting", "true")),
		attention(wire.AttentionRefusal, "sent a fixed text: the model did not answer"),
		attention(wire.AttentionStuck, "with a text that could not be worked on"),
		attention(wire.AttentionUnanswered, "whom the model left without an answer"),
		attention(wire.AttentionLostRows, "of whom the database has lost something"),
		attention(wire.AttentionFlood, "with more texts than are answered"),
		attention(wire.AttentionWrongNumber, "who said it is a wrong number"),
		attention(wire.AttentionMinor, "who said they are under 18"),
		tile(today.People, "enrolled in all", "", Path+"people"),
	)
}

// tile is a number that leads to its list; class marks it where it is not zero.
func tile(n int, label, class, href string) g.Node {
	if n == 0 {
		class = ""
	}
	return h.Li(idOf("tile", shortHash([]byte(label))), h.A(h.Class("tile "+class), h.Href(href), h.B(g.Text(strconv.Itoa(n))), g.Text(label)))
}

// hourChart shows how many people have a prompt in each of the next hours, as bars
// and as a table.
func hourChart(hours []models.HourCount) g.Node {
	most := 0
	var bars []bar
	for _, hour := range hours {
		most = max(most, hour.People)
		bars = append(bars, bar{value: hour.People, mark: hour.From.UTC().Format("15:04")})
	}
	heading := h.H2(h.ID("next-hours"), g.Text("Prompts in the next 24 hours"))
	if most == 0 {
		return g.Group([]g.Node{heading, h.P(h.ID("no-prompts"), g.Text("No prompt is planned."))})
	}
	return g.Group([]g.Node{heading, drawBars(fmt.Sprintf("People with a prompt by hour (UTC); at most %d in one", most), bars), hourTable(hours)})
}

func hourTable(hours []models.HourCount) g.Node {
	return h.Details(h.ID("hours"), h.Summary(g.Text("The same as a table")), h.Table(
		h.Caption(g.Text("People with a prompt, by hour (UTC)")),
		h.THead(h.Tr(h.Th(h.Scope("col"), g.Text("Hour")), h.Th(h.Scope("col"), h.Class("number"), g.Text("People")))),
		h.TBody(g.Map(hours, func(hour models.HourCount) g.Node {
			from, until := hour.From.UTC(), hour.From.UTC().Add(time.Hour)
			link := peopleLink("due_from", from.Format(time.RFC3339), "due_until", until.Format(time.RFC3339), "sort", string(models.OrderNextPrompt))
			return h.Tr(idOf("hour", from.Unix()), h.Td(g.Text(from.Format("Mon 2 Jan 15:04"))), h.Td(h.Class("number"), h.A(h.Href(link),
				h.Aria("label", fmt.Sprintf("%s at %s UTC", peopleCount(hour.People), from.Format("15:04"))), g.Text(strconv.Itoa(hour.People)))))
		})),
	))
}

// welcome is what an empty installation shows: the first step.
func (c *Console) welcome(v *viewer) []g.Node {
	return []g.Node{
		h.H1(g.Text("Nobody is enrolled yet")),
		g.If(v.can(auth.ParticipantEnrol), h.P(h.A(h.Href(Path+"people?enrol=1#enrol"), g.Text("Enrol the first person")), g.Text(": they are greeted by text, and the conversation appears here."))),
		g.If(c.cfg.PhonesURL != "", h.P(h.A(h.Href(c.cfg.PhonesURL), h.Target("_blank"), h.Rel("noopener"), g.Text("Open a simulated phone")), g.Text(" to answer as that person (opens in a new tab)."))),
	}
}
