package console

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
	"coachline/models/wire"
)

// peopleFilters are the parameters of the address that select people; they are those
// of the API.
var peopleFilters = []string{"name", "phone", "status", "attention", "silent_days", "waiting", "unreachable", "taken_over", "taken_over_by", "due_from", "due_until", "sort"}

// filtersOf are the filters of a request, without empty fields.
func filtersOf(v *viewer) url.Values {
	query := url.Values{}
	for _, name := range peopleFilters {
		if value := v.request.FormValue(name); value != "" {
			// Several boxes of one name are divided by commas, as in the API.
			query.Set(name, strings.Join(v.request.Form[name], ","))
		}
	}
	return query
}

// showPeople lists, searches and filters people.
func showPeople(v *viewer) (page, error) {
	filters := url.Values{}
	switch query := v.value("query"); {
	case v.form == nil: // a refused enrolment has fields of the same names
		filters = filtersOf(v)
	case query != "": // saving these filters was refused
		filters, _ = url.ParseQuery(query)
	}
	query := url.Values{"limit": {"50"}}
	for name, values := range filters {
		query[name] = values
	}
	if cursor := v.query("cursor"); cursor != "" {
		query.Set("cursor", cursor)
	}
	list, err := get[api.PeoplePage](v, "/people", query)
	var refused *refusal
	if errors.As(err, &refused) && refused.status == http.StatusBadRequest {
		v.problem, err = refused.message, nil
	}
	if err != nil {
		return page{}, err
	}
	studies, err := recruitingStudies(v)
	if err != nil {
		return page{}, err
	}
	views, err := viewsSection(v, filters)
	if err != nil {
		return page{}, err
	}
	skipTo := ""
	if len(list.People) > 0 {
		skipTo = "people-list"
	}
	return page{title: "People", section: "people", follow: followAll, skipTo: skipTo, skipLabel: "Skip to the list", body: []g.Node{
		h.H1(g.Text("People")),
		g.Iff(v.can(auth.ParticipantEnrol), func() g.Node {
			return g.Group{enrolForm(v, studies), h.P(h.A(h.Href(Path+importPath), g.Text("Import people from a file")))}
		}),
		filterForm(v, filters),
		views,
		foundCount(list),
		peopleTable(v, list, filters),
		nextPage(list, filters),
	}}, nil
}

func foundCount(list api.PeoplePage) g.Node {
	text := peopleCount(len(list.People)) + " found"
	if list.NextCursor != nil {
		text = peopleCount(len(list.People)) + " on this page, more follow"
	}
	return h.P(h.Class("quiet"), g.Text(text))
}

// filterForm searches; what it asks for is in the address, which can be kept as a
// bookmark.
func filterForm(v *viewer, filters url.Values) g.Node {
	text := func(id, label, kind string) g.Node {
		return field("f-"+id, label, h.Input(h.ID("f-"+id), h.Name(id), h.Type(kind), h.Value(filters.Get(id))))
	}
	flag := func(name, label string) g.Node {
		return h.Label(h.Class("pick"), h.Input(h.Type("checkbox"), h.Name(name), h.Value("true"), g.If(filters.Get(name) != "", h.Checked())), g.Text(" "+label))
	}
	personal := v.can(auth.PersonalRead)
	sorts := []option{{"", "Heard last first"}, {string(models.OrderSilent), "Silent longest first"}, {string(models.OrderNextPrompt), "Next prompt first"}}
	if personal {
		sorts = append(sorts, option{string(models.OrderName), "Name"})
	}
	return h.Form(h.Method("get"), h.Action(Path+"people"), h.Role("search"), h.Aria("label", "Find people"), h.Class("row"),
		g.If(personal, g.Group([]g.Node{text("name", "Part of the name", "search"), text("phone", "Whole phone number", "tel")})),
		choice("status", "Status", filters, append([]option{{"", "Any"}}, statusOptions()...)),
		field("f-silent_days", "Silent for days", h.Input(h.ID("f-silent_days"), h.Name("silent_days"), h.Type("number"), h.Min("1"), h.Max("3660"), h.Value(filters.Get("silent_days")))),
		choice("sort", "Order", filters, sorts),
		takerChoice(v, filters),
		attentionBoxes(filters),
		h.FieldSet(h.Legend(g.Text("Only people who")), flag("waiting", "wait for a person"), flag("unreachable", "cannot be reached"), flag("taken_over", "are taken over")),
		dueFields(filters),
		h.Button(h.Type("submit"), g.Text("Find")), h.A(h.Href(Path+"people"), g.Text("Show everybody")),
	)
}

// attentionBoxes choose kinds of attention; a person of one of them is listed.
func attentionBoxes(filters url.Values) g.Node {
	chosen := strings.Split(filters.Get("attention"), ",")
	return h.FieldSet(h.Legend(g.Text("Needs a person because of")), g.Map(attentionOptions(), func(o option) g.Node {
		return h.Label(h.Class("pick"), h.Input(h.Type("checkbox"), h.Name("attention"), h.Value(o.value), g.If(slices.Contains(chosen, o.value), h.Checked())), g.Text(" "+o.label))
	}))
}

// takerChoice chooses who has taken the conversation over.
func takerChoice(v *viewer, filters url.Values) g.Node {
	options := []option{{"", "Any"}, {v.who.Actor, "Me"}, {models.TakenOverByAlert, "A crisis alert"}}
	if by := filters.Get("taken_over_by"); !slices.ContainsFunc(options, func(o option) bool { return o.value == by }) {
		options = append(options, option{by, by})
	}
	return choice("taken_over_by", "Taken over by", filters, options)
}

// dueFields keep the hour of prompts that a link of Today has set.
func dueFields(filters url.Values) g.Node {
	if filters.Get("due_from") == "" {
		return nil
	}
	return g.Group([]g.Node{
		h.Span(g.Text("With a prompt from " + filters.Get("due_from") + " to " + filters.Get("due_until"))),
		hidden("due_from", filters.Get("due_from")),
		hidden("due_until", filters.Get("due_until")),
	})
}

// option is a value of a choice and how it is shown.
type option struct{ value, label string }

func choice(name, label string, filters url.Values, options []option) g.Node {
	return field("f-"+name, label, h.Select(h.ID("f-"+name), h.Name(name), g.Map(options, func(o option) g.Node {
		return h.Option(h.Value(o.value), g.If(o.value == filters.Get(name), h.Selected()), g.Text(o.label))
	})))
}

func statusOptions() []option {
	return []option{
		{string(wire.StatusActive), "Active"}, {string(wire.StatusPaused), "Paused"}, {string(wire.StatusCompleted), "Completed"},
		{string(wire.StatusWithdrawn), "Withdrawn"}, {string(wire.StatusOptedOut), "Opted out"},
	}
}

func attentionOptions() []option {
	return []option{
		{string(wire.AttentionCrisis), "Crisis"}, {string(wire.AttentionPerson), "Asked for a human"}, {string(wire.AttentionUnreachable), "Unreachable"}, {string(wire.AttentionSend), "Failed text"},
		{string(wire.AttentionRefusal), "Fixed text: the model did not answer"}, {string(wire.AttentionStuck), "Text not worked on"}, {string(wire.AttentionUnanswered), "Not answered by the model"}, {string(wire.AttentionLostRows), "Lost by the database"}, {string(wire.AttentionFlood), "Too many texts"}, {string(wire.AttentionWrongNumber), "Wrong number"}, {string(wire.AttentionMinor), "Says they are under 18"}, {string(wire.AttentionErasure), "Erasure"}, {string(wire.AttentionLanguage), "Other language"}, {string(wire.AttentionAdvice), "Advice held back often"},
	}
}

func labelOf(options []option, value string) string {
	for _, o := range options {
		if o.value == value {
			return o.label
		}
	}
	return value
}

// peopleTable lists people, with boxes to choose whom an action is for.
func peopleTable(v *viewer, list api.PeoplePage, filters url.Values) g.Node {
	if len(list.People) == 0 {
		return nil
	}
	picks := v.can(auth.ParticipantChange) || v.can(auth.MessageSend)
	heads := []string{"Name", "Phone", "Status", "Attention", "Taken over", "Last heard", "Next prompt (their time)", "Answered in 7 days", "Mode"}
	return h.Form(h.Method("get"), h.Action(Path+"people/bulk"),
		h.Div(h.ID("people-list"), h.Class("scroll"), h.Role("region"), h.Aria("label", "List of people"), h.TabIndex("0"), h.Table(
			h.THead(h.Tr(g.If(picks, h.Th(h.Scope("col"), g.Text("Choose"))), g.Map(heads, func(head string) g.Node { return h.Th(h.Scope("col"), g.Text(head)) }))),
			h.TBody(g.Map(list.People, func(p api.Person) g.Node { return personRow(v, p, picks) })),
		)),
		g.Iff(picks, func() g.Node { return bulkButtons(v, filters) }),
	)
}

func personRow(v *viewer, p api.Person, picks bool) g.Node {
	name := personName(p)
	next := g.Text("–")
	if p.NextPromptAt != nil {
		next = g.Group([]g.Node{instantOf(p.NextPromptAt, zoneOf(p.Timezone)), g.Text(" " + p.Timezone)})
	}
	return h.Tr(h.ID("row-"+p.ID),
		g.If(picks, h.Td(h.Label(h.Class("pick"), h.Input(h.Type("checkbox"), h.ID("pick-"+p.ID), h.Name("id"), h.Value(p.ID), h.Aria("label", "Choose "+name))))),
		h.Td(h.A(h.Href(Path+"people/"+p.ID), bdi(name))), h.Td(g.Text(p.Phone)),
		h.Td(g.Text(labelOf(statusOptions(), string(p.Status))), g.If(p.UnreachableAt != nil, h.Span(h.Class("tag warn"), g.Text("unreachable")))),
		h.Td(attentionTag(p.Attention)), h.Td(takenOverText(v, p)),
		h.Td(g.Text(ageOf(p.LastInboundAt, v.now))), h.Td(next), h.Td(g.Text(rateOf(p))), h.Td(g.Text(modeName(p.Mode))),
	)
}

func modeName(mode wire.Mode) string { return strings.ToLower(string(mode)) }

// takenOverText says who has a person's conversation, and since when.
func takenOverText(v *viewer, p api.Person) g.Node {
	if p.TakenOver == nil {
		return g.Text("–")
	}
	return g.Text(takerOf(*p.TakenOver) + ", " + ageOf(&p.TakenOver.Since, v.now))
}

// personName is the name under which a list shows a person: the id where there is no
// name, or none that the viewer may see.
func personName(p api.Person) string {
	if p.Name != "" {
		return p.Name
	}
	return p.ID
}

func attentionTag(kind wire.Attention) g.Node {
	if kind == "" {
		return nil
	}
	class := "tag warn"
	if kind == wire.AttentionCrisis {
		class = "tag bad"
	}
	return h.Span(h.Class(class), g.Text(labelOf(attentionOptions(), string(kind))))
}

func rateOf(p api.Person) string {
	if p.Prompts == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d (%d %%)", p.Answered, p.Prompts, 100*p.Answered/p.Prompts)
}

// bulkButtons lead to a page that shows who is meant before anything is done.
func bulkButtons(v *viewer, filters url.Values) g.Node {
	var kept []g.Node
	for _, name := range peopleFilters {
		if value := filters.Get(name); value != "" {
			kept = append(kept, hidden(name, value))
		}
	}
	return g.Group([]g.Node{g.Group(kept), h.Div(h.Class("row"),
		h.Label(h.Input(h.Type("checkbox"), h.ID("all"), h.Name("all"), h.Value("yes")), g.Text(" Everybody whom these filters list, up to "+strconv.Itoa(maxBulk))),
		g.Map(bulkActions, func(a bulkAction) g.Node {
			return g.If(v.can(a.needs), h.Button(h.Type("submit"), h.Class("plain"), h.Name("do"), h.Value(a.name), g.Text(a.label+"…")))
		}),
	)})
}

func nextPage(list api.PeoplePage, filters url.Values) g.Node {
	if list.NextCursor == nil {
		return nil
	}
	query := url.Values{"cursor": {*list.NextCursor}}
	for name, values := range filters {
		query[name] = values
	}
	return h.P(h.A(h.Href(Path+"people?"+query.Encode()), h.Rel("next"), g.Text("Next page")))
}
