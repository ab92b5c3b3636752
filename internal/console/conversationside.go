package console

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
	"coachline/models/wire"
)

// readSection reads what a section shows. Where that fails the section says so,
// and the rest of the page is drawn all the same.
func readSection[T any](p *person, title, path string, query url.Values) (out T, failed g.Node) {
	out, err := get[T](p.viewer, path, query)
	if err == nil {
		return out, nil
	}
	p.viewer.console.cfg.Logger.Warn("a section of a console page cannot be read", "section", title, "participant", p.ID, "error", err)
	return out, h.Section(h.H2(g.Text(title)), h.P(g.Text("Cannot be read now: "+err.Error())))
}

// readState draws profile, schedules and due times, which the workflow knows.
func (p *person) readState() g.Node {
	v := p.viewer
	if !v.can(auth.PersonalRead) {
		return nil
	}
	state, failed := readSection[api.State](p, "Schedules", v.apiPath()+"/state", nil)
	if failed != nil {
		return failed
	}
	p.state = &state
	return g.Group{p.profile(), p.schedules(), p.due(), leftOutSection(p.viewer, p.state.LeftOut)}
}

// factOf is a line of a list of facts; nothing where it is empty.
func factOf(name, value string) g.Node {
	if value == "" {
		return nil
	}
	return g.Group{h.Dt(g.Text(name)), h.Dd(g.Text(value))}
}

func (p *person) profile() g.Node {
	k := p.state.Profile
	var described g.Group
	texts := models.PersonTexts[string](p.PersonShown)
	for field, text := range texts.All() {
		if field.Name != "name" { // it is the title
			described = append(described, factOf(field.Label, *text))
		}
	}
	var learnt g.Group
	habit := models.HabitTexts(k.HabitShown)
	for field, text := range habit.All() {
		learnt = append(learnt, factOf(field.Label, *text))
	}
	return h.Section(h.ID("profile"), h.H2(g.Text("Profile")), h.Dl(h.Class("facts"),
		factOf("Phone", p.Phone), factOf("Time zone", p.Timezone+map[bool]string{true: " (assumed)"}[p.ZoneAssumed]), factOf("Locale", p.Locale),
		described,
		learnt, factOf("Last habit prompt", k.LastHabitPrompt), factOf("Tone", strings.Join(k.ToneTags, ", ")),
		factOf("Successes", strconv.Itoa(p.state.Counters.Successes)+" of "+strconv.Itoa(p.state.Counters.Prompts)+" prompts"),
		factOf("Enrolled", p.EnrolledAt.In(p.zone).Format("2 Jan 2006")),
	))
}

// tableOf is a table that scrolls in itself on a narrow screen.
func tableOf(label string, heads []string, rows g.Node) g.Node {
	return h.Div(h.Class("scroll"), h.Role("region"), h.Aria("label", label), h.TabIndex("0"), h.Table(
		h.THead(h.Tr(g.Map(heads, func(head string) g.Node { return h.Th(g.Attr("scope", "col"), g.Text(head)) }))), h.TBody(rows)))
}

func utcOf(at *time.Time) g.Node {
	if at == nil || at.IsZero() {
		return g.Text("–")
	}
	return g.Text(at.UTC().Format("Mon 2 Jan 15:04"))
}

func (p *person) schedules() g.Node {
	list := p.state.Schedules
	hold := ""
	if p.state.Hold != nil {
		hold = "A hold stops prompts until " + p.state.Hold.Until.In(p.zone).Format("Mon 2 Jan 15:04") + " their time."
	}
	return h.Section(h.ID("schedules"), h.H2(g.Text("Daily prompts")),
		g.If(hold != "", h.P(h.Class("failure"), g.Text(hold))),
		g.If(len(list) == 0, h.P(h.Class("quiet"), g.Text("None."))),
		g.If(len(list) > 0, tableOf("Daily prompts", []string{"At", "Next, their time", "Next, UTC"}, g.Map(list, func(s api.Schedule) g.Node {
			at := s.At
			if s.Type == wire.ScheduleRandom {
				at = s.From + " to " + s.To
			}
			return h.Tr(idOf("schedule", s.ID), h.Td(g.Text(at+" "+s.Timezone)), h.Td(instantOf(s.NextAt, zoneOf(s.Timezone)), g.If(s.Held, g.Text(" (held)"))), h.Td(utcOf(s.NextAt)))
		}))),
		g.Map(list, p.scheduleForms), p.addScheduleForm())
}

// due lists what the workflow waits for; each is a timer of that name in the
// Temporal UI.
func (p *person) due() g.Node {
	list := p.state.Due
	if len(list) == 0 {
		return nil
	}
	return h.Section(h.ID("due"), h.H2(g.Text("Due")), tableOf("Due", []string{"What", "Their time", "UTC"}, g.Map(list, func(d api.Due) g.Node {
		return h.Tr(idOf("due", d.Kind, d.Ref), h.Td(g.Text(wordsOf(string(d.Kind)))), h.Td(instantOf(&d.At, p.zone)), h.Td(utcOf(&d.At)))
	})))
}

// waiting lists the messages that wait for an operator.
func (p *person) waiting() g.Node {
	v := p.viewer
	if !v.can(auth.PersonalRead) {
		return nil
	}
	list, failed := readSection[[]models.WaitingMessage](p, "Waiting messages", v.apiPath()+"/waiting", nil)
	if failed != nil {
		return failed
	}
	if len(list) == 0 {
		return nil
	}
	return h.Section(h.ID("waiting"), h.H2(g.Text("Waiting messages")), h.P(h.Class("quiet"), g.Text("They came while the participant was paused, and nobody has answered them.")),
		h.Ul(g.Map(list, func(m models.WaitingMessage) g.Node {
			return h.Li(idOf("waiting", m.ID), g.Text(m.Text+" "), h.Small(instantOf(&m.At, p.zone)))
		})),
		g.If(p.Status == wire.StatusActive, p.form(action{name: "waiting", title: "Settle waiting messages", needs: auth.ParticipantChange,
			says: "The coach answers them in one reply, or they count as read.", button: "Settle", fields: []g.Node{p.waitingChoice("waiting")}})),
	)
}

// memory shows what is remembered, and where each fact comes from.
func (p *person) memory() g.Node {
	v := p.viewer
	if !v.can(auth.MemoryRead) {
		return nil
	}
	known, failed := readSection[api.Memory](p, "Memory", v.apiPath()+"/memories", nil)
	if failed != nil {
		return failed
	}
	return h.Section(h.ID("memory"), h.H2(g.Text("Memory")),
		g.If(len(known.Facts) == 0, h.P(h.Class("quiet"), g.Text("No facts."))),
		g.Map(known.Facts, p.fact),
		g.If(known.Summary.Text != "", h.Details(h.ID("summary"), h.Summary(g.Text("Summary of older messages")), h.P(g.Text(known.Summary.Text)))),
		g.If(len(known.Notes) > 0, h.Details(h.ID("notes"), h.Summary(g.Text("Notes by day")), h.Dl(h.Class("facts"), g.Map(known.Notes, func(n models.Note) g.Node {
			return g.Group{h.Dt(idOf("day", n.LocalDate), g.Text(n.LocalDate)), h.Dd(idOf("note", n.LocalDate), g.Text(n.Text))}
		})))),
		h.P(h.A(h.Href(Path+v.personPath()+"/memory.zip"), g.Text("Download the memory"))),
		p.form(action{name: "forget", key: "all", title: "Forget everything", needs: auth.MemoryChange, danger: true, button: "Forget everything",
			says: "All facts, notes and the summary are erased at once and cannot be brought back. The conversation stays."}),
	)
}

func (p *person) fact(f models.Fact) g.Node {
	from := "learnt " + ageOf(&f.UpdatedAt, p.viewer.now)
	if f.Version > 1 {
		from += ", version " + strconv.Itoa(f.Version)
	}
	_, number, ok := models.ParseTurnID(f.TurnID)
	return h.Details(h.ID("fact-"+f.ID), g.If(p.isRefused("forget", f.ID), g.Attr("open")),
		h.Summary(g.Text(wordsOf(string(f.Kind))+": "+f.Text)),
		h.P(h.Class("quiet"), g.Text(from+" "), g.Iff(ok && p.viewer.can(auth.TurnRead), func() g.Node {
			n := strconv.Itoa(number)
			return h.A(h.Href(Path+p.viewer.personPath()+"/turns/"+n), g.Text("from turn "+n))
		})),
		g.If(len(f.Before) > 0, h.Ul(g.Map(f.Before, func(old models.FactVersion) g.Node {
			return h.Li(idOf("fact", f.ID, "v", old.Version), g.Text("Before "+old.At.In(p.zone).Format("2 Jan 15:04")+": "+old.Text))
		}))),
		p.formBody(action{name: "forget", key: f.ID, needs: auth.MemoryChange, danger: true, button: "Forget " + f.ID,
			says: "The fact is erased in all its versions and cannot be brought back."}),
	)
}

func (p *person) consents() g.Node {
	v := p.viewer
	if !v.can(auth.ConsentRead) {
		return nil
	}
	list, failed := readSection[[]models.Consent](p, "Consent", v.apiPath()+"/consents", nil)
	if failed != nil {
		return failed
	}
	return h.Section(h.ID("consents"), h.H2(g.Text("Consent")),
		g.If(len(list) == 0, h.P(h.Class("quiet"), g.Text("No opt-out and no return."))),
		g.If(len(list) > 0, tableOf("Consent", []string{"When", "What", "How", "By", "Text"}, g.Map(list, func(e models.Consent) g.Node {
			return h.Tr(idOf("consent", e.At.UnixNano(), e.Action), h.Td(instantOf(&e.At, p.zone)), h.Td(g.Text(wordsOf(string(e.Action)))), h.Td(g.Text(wordsOf(string(e.Method)))), h.Td(g.Text(strings.TrimSpace(e.RecordedBy+" "+e.Caller))), h.Td(g.Text(e.Text)))
		}))))
}

// audit lists the newest actions on this person.
func (p *person) audit() g.Node {
	v := p.viewer
	if !v.can(auth.AuditRead) {
		return nil
	}
	rows, failed := readSection[api.AuditPage](p, "Audit", "/audit", url.Values{"participant_id": {p.ID}, "limit": {"10"}})
	if failed != nil {
		return failed
	}
	return h.Section(h.ID("audit"), h.H2(g.Text("Audit")), tableOf("Audit, newest first", []string{"When", "Who", "What", "Reason"}, g.Map(rows.Rows, func(a models.AuditRow) g.Node {
		return h.Tr(idOf("audit", a.ID), h.Td(instantOf(&a.At, p.zone)), h.Td(g.Text(a.Actor)), h.Td(g.Text(strings.TrimSpace(wordsOf(a.Action)+" "+a.Detail))), h.Td(g.Text(a.Reason)))
	})))
}

// links lead to the workflow in the Temporal UI.
func (p *person) links() g.Node {
	base := p.viewer.console.cfg.TemporalURL
	if base == "" {
		return nil
	}
	return h.P(h.A(h.Href(base+url.PathEscape(models.WorkflowID(p.ID))), h.Target("_blank"), h.Rel("noopener"), g.Text("Workflow in the Temporal UI (opens in a new tab)")))
}
