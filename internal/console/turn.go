package console

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/models"
)

// showTurn says why the coach said what it said: the record of a turn.
func showTurn(v *viewer) (page, error) {
	turn, err := get[api.Turn](v, v.apiPath()+"/turns/"+url.PathEscape(v.path("n")), nil)
	if err != nil {
		return page{}, err
	}
	raw, err := json.MarshalIndent(turn, "", "  ")
	if err != nil {
		return page{}, err
	}
	title := "Why, turn " + strconv.Itoa(turn.Turn.Number)
	return page{title: title, section: "people", body: []g.Node{
		h.P(h.A(h.Href(Path+v.personPath()), g.Text("Back to the conversation"))),
		h.H1(g.Text(title)),
		turnFacts(turn),
		textsOf("What came in", turn.In), textsOf("What went out", turn.Out),
		g.If(len(turn.Steps) > 0, h.Section(h.H2(g.Text("Steps of the model")), g.Map(turn.Steps, stepOf))),
		g.If(len(turn.Stages) > 0, h.Section(h.H2(g.Text("Beside the steps")), stagesOf("Stages beside the steps", turn.Stages))),
		g.If(len(turn.Subagents) > 0, h.Section(h.H2(g.Text("Tasks given away")), g.Map(turn.Subagents, subagentOf))),
		g.If(len(turn.Sent) > 0, h.Section(h.H2(g.Text("Delivery")), deliveriesOf(turn.Sent))),
		h.Details(h.Summary(g.Text("The whole record as JSON")), h.Pre(h.Class("raw"), h.TabIndex("0"), h.Role("region"), h.Aria("label", "JSON of the turn"), g.Text(string(raw)))),
	}}, nil
}

func turnFacts(turn api.Turn) g.Node {
	t := turn.Turn
	took := "still running"
	if t.FinishedAt != nil {
		took = t.FinishedAt.Sub(t.StartedAt).String()
	}
	return h.Dl(h.Class("facts"),
		factOf("Kind", wordsOf(string(t.Kind))), factOf("Mode", strings.ToLower(string(t.Mode))), factOf("Words came from", t.Outcome),
		factOf("Started", t.StartedAt.UTC().Format("Mon 2 Jan 2006 15:04:05")+" UTC"), factOf("Took", took),
		factOf("Prompt version", t.PromptVersion), factOf("Arm", t.Arm), factOf("Version of the study", versionOf(t.StudyVersion)), factOf("Steps", strconv.Itoa(t.Steps)), factOf("Tools", strings.Join(t.Tools, ", ")), factOf("Tokens", tokensOf(t.Tokens)),
	)
}

// versionOf writes a version; empty for none.
func versionOf(version int64) string {
	if version == 0 {
		return ""
	}
	return strconv.FormatInt(version, 10)
}

func tokensOf(u models.Usage) string {
	return strconv.Itoa(u.Prompt) + " read (" + strconv.Itoa(u.Cached) + " from the cache), " + strconv.Itoa(u.Completion) + " written"
}

func textsOf(title string, list []api.Text) g.Node {
	if len(list) == 0 {
		return nil
	}
	return h.Section(h.H2(g.Text(title)), h.Ul(g.Map(list, func(t api.Text) g.Node {
		return h.Li(g.Text(t.Text+" "), h.Small(g.Text(t.At.UTC().Format("15:04:05")+" UTC")))
	})))
}

func stepOf(r api.Round) g.Node {
	name := "Step " + strconv.Itoa(r.Number)
	return h.Article(h.H3(g.Text(name)),
		h.Dl(h.Class("facts"), factOf("Model", r.Model), factOf("Ended with", wordsOf(r.Finish)), factOf("Tokens", tokensOf(r.Tokens)), factOf("Said", r.Text)),
		g.Iff(r.Given != nil, func() g.Node { return givenOf(*r.Given) }),
		stagesOf("Stages of step "+strconv.Itoa(r.Number), r.Stages),
		g.If(len(r.Calls) > 0, tableOf("Tools of step "+strconv.Itoa(r.Number), []string{"Tool", "Came to", "Arguments", "Result"}, g.Map(r.Calls, func(c api.Call) g.Node {
			return h.Tr(h.Td(g.Text(c.Name)), h.Td(g.Text(string(c.State))), h.Td(h.Code(g.Text(c.Arguments))), h.Td(g.Text(c.Result)))
		}))),
	)
}

func givenOf(given api.Given) g.Node {
	return h.Details(h.Summary(g.Text("What the model was given")), h.Dl(h.Class("facts"),
		factOf("Tools on offer", strings.Join(given.Tools, ", ")), factOf("Chosen by", given.ChosenBy), factOf("Plan", strings.Join(given.Plan, "; ")), factOf("Memory", given.Memory),
		g.Iff(given.Older != nil, func() g.Node {
			return factOf("Summary of "+strconv.Itoa(given.Older.Count)+" messages", given.Older.Text)
		}),
	))
}

func stagesOf(label string, list []api.Stage) g.Node {
	if len(list) == 0 {
		return nil
	}
	return tableOf(label, []string{"Stage", "Decided", "Model", "Tokens", "Time"}, g.Map(list, func(s api.Stage) g.Node {
		tokens := ""
		if s.Tokens != (models.Usage{}) {
			tokens = tokensOf(s.Tokens)
		}
		return h.Tr(h.Td(g.Text(wordsOf(string(s.Name)))), h.Td(g.Text(s.Decision)), h.Td(g.Text(s.Model)), h.Td(g.Text(tokens)), h.Td(g.Text(strconv.FormatInt(s.Millis, 10)+" ms")))
	}))
}

func subagentOf(s api.Subagent) g.Node {
	return h.Article(h.H3(g.Text(strings.TrimSpace("Task "+s.Label))), h.P(g.Text(s.Task)),
		h.Dl(h.Class("facts"), factOf("Came to", s.Turn.Outcome), factOf("Tokens", tokensOf(s.Turn.Tokens))),
		g.Map(s.Steps, func(r api.Round) g.Node {
			return h.P(g.Text("Step " + strconv.Itoa(r.Number) + ": " + r.Text))
		}))
}

func deliveriesOf(list []api.Delivery) g.Node {
	return tableOf("Delivery", []string{"Part", "Text", "State", "Tries", "Why"}, g.Map(list, func(d api.Delivery) g.Node {
		why := ""
		if d.ErrorCode != "" {
			why = failureOf(d.ErrorCode, d.Meaning, d.NextStep)
		}
		return h.Tr(h.Td(g.Text(strconv.Itoa(d.Part))), h.Td(g.Text(d.Text)), h.Td(g.Text(deliveryOf(d.Status))), h.Td(g.Text(strconv.Itoa(d.Attempts))), h.Td(g.Text(why)))
	}))
}
