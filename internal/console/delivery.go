package console

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models/wire"
)

// deliverySpans are the numbers of days that the screen offers.
var deliverySpans = []string{"1", "7", "30", "90"}

// showDelivery is how texts fared in the last days.
func showDelivery(v *viewer) (page, error) {
	days := v.query("days")
	if days == "" {
		days = "7"
	}
	sender := v.query("sender")
	query := url.Values{"days": {days}}
	if sender != "" {
		query.Set("sender", sender)
	}
	report, err := get[api.DeliveryReport](v, "/delivery", query)
	if err != nil {
		return page{}, err
	}
	return page{title: "Delivery", section: "delivery", body: []g.Node{
		h.H1(g.Text("Delivery")), deliveryForm(days, sender, report.Senders), deliveryFailures(v, report.Failures), deliveryUnknown(v, report.Unknown),
		deliveryDays(report.Days, sender), deliverySenders(report.Senders, days), promptLateness(report.Prompts),
	}}, nil
}

func deliveryForm(days, sender string, senders []api.DeliverySender) g.Node {
	names := []string{""}
	for _, s := range append(slices.Clone(senders), api.DeliverySender{Sender: sender}) {
		if !slices.Contains(names, s.Sender) {
			names = append(names, s.Sender)
		}
	}
	return h.Form(h.Method("get"), h.Action(Path+"delivery"), h.Class("row"),
		field("days", "Days (UTC), today among them", h.Select(h.ID("days"), h.Name("days"), g.Map(deliverySpans, func(span string) g.Node {
			return h.Option(h.Value(span), g.If(span == days, h.Selected()), g.Text(span))
		}))),
		field("sender", "Sender", h.Select(h.ID("sender"), h.Name("sender"), g.Map(names, func(name string) g.Node {
			return h.Option(h.Value(name), g.If(name == sender, h.Selected()), g.Text(textOr(name, "Every sender")))
		}))),
		h.Button(h.Type("submit"), g.Text("Show")))
}

// deliveryFailures lists what the carrier refused or gave up, by its codes.
func deliveryFailures(v *viewer, failures []api.DeliveryFailure) g.Node {
	section := []g.Node{h.Aria("labelledby", "failures"), h.H2(h.ID("failures"), g.Text("Failures"))}
	if len(failures) == 0 {
		return h.Section(append(section, h.P(g.Text("No texts failed in these days.")))...)
	}
	section = append(section, h.Div(h.Class("scroll"), h.Role("region"), h.Aria("label", "Failures by code"), h.TabIndex("0"), h.Table(
		h.THead(h.Tr(g.Map([]string{"Code", "Texts", "Meaning", "What to do", "Newest (UTC)"}, func(label string) g.Node {
			return h.Th(h.Scope("col"), g.If(label == "Texts", h.Class("number")), g.Text(label))
		}))),
		h.TBody(g.Map(failures, func(f api.DeliveryFailure) g.Node {
			return h.Tr(h.Th(h.Scope("row"), g.Text(textOr(f.Code, "none"))), h.Td(h.Class("number"), g.Text(countText(f.Texts))),
				h.Td(g.Text(textOr(f.Meaning, "unknown"))), h.Td(g.Text(textOr(f.NextStep, "–"))), h.Td(instantOf(&f.NewestAt, time.UTC)))
		})))))
	if v.can(auth.ParticipantRead) {
		section = append(section, h.P(g.Text("People "),
			h.A(h.Href(peopleLink("attention", string(wire.AttentionSend))), g.Text("with a text that failed")), g.Text(" and "),
			h.A(h.Href(peopleLink("unreachable", "true")), g.Text("who cannot be reached")), g.Text(".")))
	}
	return h.Section(section...)
}

func textOr(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func deliveryUnknown(v *viewer, unknown api.UnknownSends) g.Node {
	body := h.P(g.Text("The outcome of every text of these days is known or still awaited."))
	if unknown.Texts > 0 {
		body = h.P(h.Class("problem"), g.Textf("Of %d texts it is not known whether the carrier took them; they are never sent again. The oldest was written ", unknown.Texts),
			instantOf(unknown.OldestAt, time.UTC), g.Text(" UTC, "+ageOf(unknown.OldestAt, v.now)+"."))
	}
	return h.Section(h.Aria("labelledby", "unknown"), h.H2(h.ID("unknown"), g.Text("Outcome not known")), body)
}

// deliverySenders is a table of the senders, each of which leads to its own days.
func deliverySenders(senders []api.DeliverySender, days string) g.Node {
	if len(senders) == 0 {
		return nil
	}
	return h.Section(h.Aria("labelledby", "senders"), h.H2(h.ID("senders"), g.Text("By sender")),
		h.Div(h.Class("scroll"), h.Role("region"), h.Aria("label", "Texts by sender"), h.TabIndex("0"), h.Table(
			h.THead(h.Tr(h.Th(h.Scope("col"), g.Text("Sender")), g.Map([]string{"Out", "Segments out", "Delivered", "Failed"}, func(label string) g.Node {
				return h.Th(h.Scope("col"), h.Class("number"), g.Text(label))
			}))),
			h.TBody(g.Map(senders, func(s api.DeliverySender) g.Node {
				name := g.Text("not posted, or sender not kept")
				if s.Sender != "" {
					name = h.A(h.Href(Path+"delivery?"+url.Values{"days": {days}, "sender": {s.Sender}}.Encode()), g.Text(s.Sender))
				}
				return h.Tr(h.Th(h.Scope("row"), name), g.Map([]int{s.Out, s.Segments, s.Delivered, s.Failed}, func(n int) g.Node {
					return h.Td(h.Class("number"), g.Text(countText(n)))
				}))
			})))))
}

// deliveryDays draws the texts written on each day as bars, with a table of these
// and the other numbers. Texts that came are those of every sender.
func deliveryDays(days []api.DeliveryDay, sender string) g.Node {
	most, total, uncounted := 0, 0, 0
	heads := []string{"Day (UTC)", "In", "Out", "Segments out", "Delivered", "Failed"}
	var bars []bar
	var rows [][]string
	for _, day := range days {
		most, total, uncounted = max(most, day.Out), total+day.Out, uncounted+day.Uncounted
		_, date, _ := strings.Cut(day.Day, "-") // without the year
		bars = append(bars, bar{value: day.Out, mark: date})
		rows = append(rows, []string{day.Day, countText(day.In), countText(day.Out), countText(day.Segments), countText(day.Delivered), countText(day.Failed)})
	}
	if sender != "" {
		heads = slices.Delete(heads, 1, 2)
		for i, row := range rows {
			rows[i] = slices.Delete(row, 1, 2)
		}
	}
	return h.Section(h.Aria("labelledby", "volume"), h.H2(h.ID("volume"), g.Text("By day")),
		drawBars(fmt.Sprintf("Texts written by day: %d in all, at most %d in a day", total, most), bars),
		g.If(uncounted > 0, h.P(g.Textf("%d texts have no count of segments yet; each counts as 1.", uncounted))),
		numberTable("Texts by day", heads, rows))
}

func promptLateness(p api.PromptLateness) g.Node {
	section := []g.Node{h.Aria("labelledby", "lateness"), h.H2(h.ID("lateness"), g.Text("Lateness of prompts"))}
	if p.Prompts == 0 {
		return h.Section(append(section, h.P(g.Text("No prompts were sent in these days.")))...)
	}
	seconds := func(s float64) string { return time.Duration(s * float64(time.Second)).Round(time.Second).String() }
	return h.Section(append(section,
		h.P(g.Textf("%s prompts were sent: half of them at most %s after their target, 95 %% at most %s, and %s more than 5 minutes after it. A prompt before its target is not late.",
			countText(p.Prompts), seconds(p.MedianSeconds), seconds(p.P95Seconds), countText(p.Late))),
		g.If(p.Cut, h.P(g.Text("Only the newest 100,000 prompts were looked at."))))...)
}
