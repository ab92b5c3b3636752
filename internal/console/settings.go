package console

import (
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/internal/auth"
)

// showSettings is what the starter runs with. The checks ask the model and the
// carrier, so they run when they are asked for.
func showSettings(v *viewer) (page, error) {
	settings, err := get[api.Settings](v, "/settings", nil)
	if err != nil {
		return page{}, err
	}
	health := h.P(h.A(h.Href(Path+"settings?checks=run#health"), g.Text("Run the checks")),
		g.Text(": configuration, database, keys, audit, webhooks, alerts, Temporal, model and carrier. They take up to a minute where something does not answer."))
	if v.query("checks") != "" {
		list, err := get[api.CheckList](v, "/settings/checks", nil)
		if err != nil {
			return page{}, err
		}
		health = checksTable(list.Checks)
	}
	return page{title: "Settings", section: "settings", body: []g.Node{
		h.H1(g.Text("Settings")),
		h.P(g.Text("Settings come from the environment and are changed there. A change needs a restart. Secrets are masked.")),
		g.If(v.can(auth.WebhookRead), h.P(h.A(h.Href(Path+webhooksPath), g.Text("Webhooks")), g.Text(": systems outside that are told of what happens."))),
		h.H2(h.ID("health"), g.Text("Health")),
		health,
		h.H2(g.Text("Versions")),
		h.Dl(h.Class("facts"),
			h.Dt(g.Text("Starter")), h.Dd(g.Text(settings.Version)),
			h.Dt(g.Text("Prompts")), h.Dd(g.Text(settings.PromptVersion)),
			h.Dt(g.Text("Tools")), h.Dd(g.Text(strings.Join(settings.Tools, ", "))),
			h.Dt(g.Text("Memory")), h.Dd(g.Text(settings.Memory)),
			g.If(len(settings.Workspace) > 0, g.Group{h.Dt(g.Text("Workspace files")), h.Dd(g.Text(strings.Join(settings.Workspace, ", ")))}),
		),
		pagesTable("Playbooks", "What the model may read while it answers", settings.Playbooks),
		pagesTable("Focuses", "What coaching may be about", settings.Focuses),
		h.H2(g.Text("Builds of workers")),
		buildsTable(settings.Workers),
		h.H2(g.Text("Configuration")),
		table("Settings in force", []string{"Setting", "Value", "Source", "Meaning"}, g.Map(settings.Settings, func(s api.Setting) g.Node {
			return h.Tr(h.Th(h.Scope("row"), g.Text(s.Name)), h.Td(g.Text(s.Describe())), h.Td(g.Text(s.Source)), h.Td(g.Text(s.Meaning)))
		})),
	}}, nil
}

// table is a table that scrolls sideways on a narrow screen.
func table(caption string, columns []string, rows g.Node) g.Node {
	return h.Div(h.Class("scroll"), h.Role("region"), h.Aria("label", caption), h.TabIndex("0"), h.Table(
		h.Caption(g.Text(caption)),
		h.THead(h.Tr(g.Map(columns, func(name string) g.Node { return h.Th(h.Scope("col"), g.Text(name)) }))),
		h.TBody(rows),
	))
}

// pagesTable lists playbooks or focuses under a heading; nothing where there are
// none.
func pagesTable(heading, caption string, pages []api.PromptPage) g.Node {
	if len(pages) == 0 {
		return nil
	}
	rows := g.Map(pages, func(one api.PromptPage) g.Node {
		return h.Tr(h.Th(h.Scope("row"), g.Text(one.Name)), h.Td(g.Text(one.Description)))
	})
	return g.Group{h.H2(g.Text(heading)), table(caption, []string{"Name", "What it is about"}, rows)}
}

func checksTable(checks []api.Check) g.Node {
	return table("What was checked just now", []string{"Check", "Result", "Detail"}, g.Map(checks, func(one api.Check) g.Node {
		state := tag("failed", "bad")
		switch {
		case one.Warning:
			state = tag("warning", "warn")
		case one.OK:
			state = tag("ok", "good")
		}
		return h.Tr(h.Th(h.Scope("row"), g.Text(one.Name)), h.Td(state), h.Td(g.Text(one.Detail)))
	}))
}

// tag is a word with a colour, which only repeats what the word says.
func tag(text, kind string) g.Node { return h.Span(h.Class("tag "+kind), g.Text(text)) }

func buildsTable(builds []api.WorkerBuild) g.Node {
	if len(builds) == 0 {
		return h.P(g.Text("Temporal lists none: workers run without versions, or it did not answer."))
	}
	return table("Builds that Temporal knows", []string{"Build", "State"}, g.Map(builds, func(b api.WorkerBuild) g.Node {
		state := b.State
		if b.Current {
			state = "current"
		}
		return h.Tr(h.Th(h.Scope("row"), g.Text(b.Build)), h.Td(g.Text(state)))
	}))
}
