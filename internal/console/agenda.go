package console

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
)

const (
	holdsPath = "/holds"
	// untilLayout is how browsers write a local time; the console's are in UTC.
	untilLayout = "2006-01-02T15:04"
)

// showAgenda lists the next prompts by hour, and the holds that stop them.
func showAgenda(v *viewer) (page, error) {
	span := 24 * time.Hour
	if v.query("span") == "week" {
		span = 7 * 24 * time.Hour
	}
	query := url.Values{"limit": {"50"}, "from": {v.now.Format(time.RFC3339)}, "until": {v.now.Add(span).Format(time.RFC3339)}}
	for _, name := range []string{"participant_id", "cursor", "from", "until"} {
		if value := v.query(name); value != "" {
			query.Set(name, value)
		}
	}
	agenda, err := get[api.Agenda](v, "/agenda", query)
	if err != nil {
		return page{}, err
	}
	body := []g.Node{h.H1(g.Text("Agenda")), agendaSpans(v), agendaHours(agenda), agendaList(v, agenda, query)}
	body = append(body, resumptions(v, agenda), leftOutSection(v, agenda.LeftOut))
	if v.can(auth.HoldRead) {
		holds, err := holdSection(v)
		if err != nil {
			return page{}, err
		}
		body = append(body, holds)
	}
	return page{title: "Agenda", section: "agenda", follow: followAll, body: body}, nil
}

func agendaSpans(v *viewer) g.Node {
	who := ""
	if id := v.query("participant_id"); id != "" {
		who = " of " + id
	}
	return h.P(g.Text("The next prompt of each schedule"+who+". Reminders, check-ins and replies are not listed. Show "),
		h.A(h.Href(Path+"agenda"), g.Text("the next 24 hours")), g.Text(" or "), h.A(h.Href(Path+"agenda?span=week"), g.Text("the next 7 days")), g.Text("."))
}

// agendaHours draws the counts of each hour as bars, with a table of the same
// numbers.
func agendaHours(a api.Agenda) g.Node {
	if a.Total == 0 {
		return h.P(h.ID("no-prompts"), g.Text("No prompts are planned in this time."))
	}
	bars, most := hourBars(a.Hours)
	return h.Section(h.ID("by-hour"), h.Aria("labelledby", "hours"), h.H2(h.ID("hours"), g.Text("By hour (UTC)")),
		drawBars(fmt.Sprintf("Prompts by hour: %d in all, at most %d in an hour", a.Total, most), bars),
		h.Details(h.ID("hour-table"), h.Summary(g.Text("The same as a table")), h.Table(
			h.Caption(g.Text("Prompts by hour, in UTC")), h.THead(h.Tr(h.Th(g.Text("Hour")), h.Th(h.Class("number"), g.Text("Prompts")))),
			h.TBody(g.Map(a.Hours, func(hour models.PlannedHour) g.Node {
				return h.Tr(idOf("hour", hour.At.Unix()), h.Td(instantOf(&hour.At, time.UTC)), h.Td(h.Class("number"), g.Text(strconv.Itoa(hour.Prompts))))
			})))))
}

// hourBars are the bars of all hours from the first one to the last, those without a
// prompt too. More than two days are marked by their dates.
func hourBars(hours []models.PlannedHour) (bars []bar, most int) {
	prompts := map[time.Time]int{}
	for _, hour := range hours {
		prompts[hour.At.UTC()] = hour.Prompts
		most = max(most, hour.Prompts)
	}
	first, last := hours[0].At.UTC(), hours[len(hours)-1].At.UTC()
	isLong := last.Sub(first) > 48*time.Hour
	for at := first; !at.After(last); at = at.Add(time.Hour) {
		mark := at.Format("15:04")
		if isLong {
			mark = ""
			if at.Hour() == 0 {
				mark = at.Format("Mon 2")
			}
		}
		bars = append(bars, bar{value: prompts[at], mark: mark})
	}
	return bars, most
}

func agendaList(v *viewer, a api.Agenda, query url.Values) g.Node {
	if len(a.Prompts) == 0 {
		return nil
	}
	return h.Section(h.ID("next"), h.Aria("labelledby", "planned"), h.H2(h.ID("planned"), g.Text("What goes out next")),
		h.Div(h.Class("scroll"), h.Role("region"), h.Aria("label", "List of planned prompts"), h.TabIndex("0"), h.Table(
			h.THead(h.Tr(h.Th(g.Text("Person")), h.Th(g.Text("Local time")), h.Th(g.Text("UTC")), h.Th(g.Text("Not sent because")))),
			h.TBody(g.Map(a.Prompts, func(p api.PlannedPrompt) g.Node {
				return h.Tr(idOf("prompt", p.ParticipantID, p.ScheduleID), h.Td(personLink(v, p.ParticipantID, p.Name)), h.Td(instantOf(&p.At, zoneOf(p.Timezone)), g.Text(" "+p.Timezone)), h.Td(instantOf(&p.At, time.UTC)), h.Td(stopsOf(p)))
			})),
		)),
		g.Iff(a.NextCursor != nil, func() g.Node {
			query.Set("cursor", *a.NextCursor)
			return h.P(h.A(h.Href(Path+"agenda?"+query.Encode()), g.Text("Later prompts")))
		}))
}

// resumptions lists the pauses that end by themselves in the span.
func resumptions(v *viewer, a api.Agenda) g.Node {
	if len(a.Resumptions) == 0 {
		return nil
	}
	return h.Section(h.ID("ending-pauses"), h.Aria("labelledby", "resumptions"), h.H2(h.ID("resumptions"), g.Text("Pauses that end")),
		tableOf("List of pauses that end", []string{"Person", "Local time", "UTC"}, g.Map(a.Resumptions, func(p api.PlannedResumption) g.Node {
			return h.Tr(idOf("resumption", p.ParticipantID), h.Td(personLink(v, p.ParticipantID, p.Name)), h.Td(instantOf(&p.At, zoneOf(p.Timezone)), g.Text(" "+p.Timezone)), h.Td(instantOf(&p.At, time.UTC)))
		})))
}

// leftOutSection lists what of ours was not sent, and why; nil for nothing.
func leftOutSection(v *viewer, list []api.LeftOut) g.Node {
	if len(list) == 0 {
		return nil
	}
	return h.Section(h.ID("left-out"), h.Aria("labelledby", "not-sent"), h.H2(h.ID("not-sent"), g.Text("Not sent")),
		tableOf("List of what was not sent", []string{"Person", "Their day", "What", "Why"}, g.Map(list, func(l api.LeftOut) g.Node {
			return h.Tr(idOf("left-out", l.ParticipantID, l.At.Unix()), h.Td(personLink(v, l.ParticipantID, l.Name)), h.Td(g.Text(l.Date)),
				h.Td(g.Text(wordsOf(l.What))), h.Td(g.Text(whyLeftOut(l.Reason))))
		})))
}

// whyLeftOut says in words why something was not sent.
func whyLeftOut(reason string) string {
	switch reason {
	case "daily_limit":
		return "the most texts of a day had gone out"
	case "backed_off":
		return "they have not answered for days, so they get fewer"
	case "one_follow_up":
		return "a prompt has one follow-up"
	case "next_day":
		return "it was due on the next day"
	}
	return wordsOf(reason)
}

// personLink names a person and leads to their page where the viewer may see it.
func personLink(v *viewer, id, name string) g.Node {
	if name == "" {
		name = id
	}
	if !v.can(auth.ParticipantRead) {
		return bdi(name)
	}
	return h.A(h.Href(Path+"people/"+id), bdi(name))
}

// bdi shows a person's name, whose direction of writing does not turn what is around it.
func bdi(name string) g.Node { return g.El("bdi", g.Text(name)) }

// stopsOf lists why a planned prompt will not be sent.
func stopsOf(p api.PlannedPrompt) g.Node {
	var tags []g.Node
	for _, stop := range []struct {
		on          bool
		text, class string
	}{{p.Crisis, "crisis", "tag bad"}, {p.Unreachable, "unreachable", "tag bad"}, {p.Held, "held", "tag warn"}, {p.Paused, "paused", "tag warn"}} {
		if stop.on {
			tags = append(tags, h.Span(h.Class(stop.class), g.Text(stop.text)), g.Text(" "))
		}
	}
	return g.Group(tags)
}

// holdSection lists the holds that are in force and offers a new one.
func holdSection(v *viewer) (g.Node, error) {
	holds, err := get[api.HoldPage](v, holdsPath, url.Values{"active": {"true"}, "limit": {"200"}})
	if err != nil {
		return nil, err
	}
	section := []g.Node{h.ID("hold-section"), h.Aria("labelledby", "holds"), h.H2(h.ID("holds"), g.Text("Holds"))}
	if len(holds.Holds) == 0 {
		section = append(section, h.P(g.Text("No prompts are held.")))
	} else {
		section = append(section, h.Ul(g.Map(holds.Holds, func(one models.Hold) g.Node { return holdItem(v, one) })))
	}
	if !v.can(auth.HoldChange) {
		return h.Section(section...), nil
	}
	form, err := holdForm(v)
	return h.Section(append(section, form)...), err
}

func holdItem(v *viewer, one models.Hold) g.Node {
	whose := g.Text("Everybody's prompts")
	switch one.Scope {
	case models.HoldParticipant:
		whose = g.Group{g.Text("Prompts of "), h.A(h.Href(Path+"people/"+one.ScopeID), g.Text(one.ScopeID))}
	case models.HoldStudy:
		whose = g.Text("Prompts of study " + one.ScopeID)
	case models.HoldAll:
	}
	id := strconv.FormatInt(one.ID, 10)
	return h.Li(idOf("hold", id), whose, g.Text(" until "), instantOf(&one.Until, time.UTC), g.Text(" UTC, by "+one.CreatedBy),
		g.If(one.Reason != "", g.Text(": "+one.Reason)),
		g.Iff(v.can(auth.HoldChange), func() g.Node {
			return h.Details(idOf("release", id), h.Summary(g.Text("Release hold "+id)),
				h.P(g.Text("Prompts go on with their next slot. What was missed meanwhile is not sent later.")),
				postForm("agenda/holds/"+id+"/release", h.Class("stack"),
					reasonField(v, "release-reason-"+id), h.Button(h.Type("submit"), g.Text("Release"))))
		}))
}

// holdForm asks for a hold. Its first step shows what it will stop, its second
// step makes it.
func holdForm(v *viewer) (g.Node, error) {
	who, study, until, reason := v.value("scope_id"), v.value("study"), v.value("until"), v.value("reason")
	asked := v.value("step") == "preview" || v.value("step") == "hold"
	if who == "" && !asked {
		who = v.query("participant_id")
	}
	nodes := []g.Node{h.Class("stack"),
		h.P(g.Text("Stops prompts, reminders, feedback questions and check-ins. Replies go on. What falls due meanwhile is recorded as missed and not sent later.")),
		field("scope_id", "Id of one person; empty: everybody", h.Input(h.ID("scope_id"), h.Name("scope_id"), h.MaxLength("64"), h.Value(who))),
		field("study", "Id of one study; empty: every study", h.Input(h.ID("study"), h.Name("study"), h.MaxLength("40"), h.Value(study))),
		field("until", "Until, in UTC", h.Input(h.ID("until"), h.Name("until"), h.Type("datetime-local"), h.Required(), h.Value(until))),
		field("hold-reason", "Reason (kept in the audit)", h.Input(h.ID("hold-reason"), h.Name("reason"), h.Required(), h.MaxLength("500"), h.Value(reason))),
		h.Button(h.Type("submit"), h.Name("step"), h.Value("preview"), h.Class("plain"), g.Text("Show what it stops")),
	}
	if v.value("step") == "preview" && v.problem == previewed {
		count, err := heldBy(v, url.Values{"participant_id": {who}, "study": {study}}, until)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, h.P(h.Role("status"), g.Textf("It stops %d planned prompts; each schedule counts once.", count)))
	}
	nodes = append(nodes, h.Button(h.Type("submit"), h.Name("step"), h.Value("hold"), g.Text("Hold prompts")))
	return h.Details(h.ID("hold"), g.If(asked, g.Attr("open")), h.Summary(g.Text("Hold prompts")), postForm("agenda/holds", nodes...)), nil
}

// previewed is what the page says where only a preview was asked for.
const previewed = "nothing was held yet; look at what it would stop, below"

// heldBy counts the planned prompts that a hold would stop.
func heldBy(v *viewer, whose url.Values, until string) (int, error) {
	end, _ := time.Parse(untilLayout, until) // the API names what is wrong with it
	if !end.After(v.now) {
		return 0, nil
	}
	query := url.Values{"limit": {"1"}, "from": {v.now.Format(time.RFC3339)}, "until": {end.Format(time.RFC3339)}}
	for name := range whose {
		if value := whose.Get(name); value != "" {
			query.Set(name, value)
		}
	}
	agenda, err := get[api.Agenda](v, "/agenda", query)
	return agenda.Total, err
}

func addHold(v *viewer) (string, error) {
	form := v.request.PostForm
	until, err := time.Parse(untilLayout, form.Get("until"))
	if err != nil {
		return "", &refusal{status: http.StatusBadRequest, message: "until: must be a date and a time"}
	}
	if !until.After(v.now) {
		return "", &refusal{status: http.StatusBadRequest, message: "until: must be in the future"}
	}
	if form.Get("step") == "preview" {
		return "", &refusal{status: http.StatusBadRequest, message: previewed}
	}
	body := api.NewHold{Until: until, Reason: form.Get("reason"), Scope: models.HoldAll}
	who, study := form.Get("scope_id"), form.Get("study")
	switch {
	case who != "" && study != "":
		return "", &refusal{status: http.StatusBadRequest, message: "study: must be empty where a person is named"}
	case who != "":
		body.Scope, body.ScopeID = models.HoldParticipant, who
	case study != "":
		body.Scope, body.ScopeID = models.HoldStudy, study
	}
	_, err = send[models.Hold](v, api.Request{Method: http.MethodPost, Path: holdsPath, Body: body, Reason: form.Get("reason")})
	return "agenda", err
}

func releaseHold(v *viewer) (string, error) {
	path := holdsPath + "/" + url.PathEscape(v.path("id"))
	_, err := send[models.Hold](v, api.Request{Method: http.MethodDelete, Path: path, Reason: v.request.PostForm.Get("reason")})
	return "agenda", err
}
