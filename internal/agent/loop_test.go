package agent_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

func done(name, content string) models.ToolResult {
	return models.ToolResult{Name: name, Content: content}
}

func TestScreenedCalls(t *testing.T) {
	t.Run("A20", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, calling("save_user_profile", `{"habit_domain":"walking","preferred_time":"8am"}`),
			calling("save_user_profile", `{"preferred_time":"8am","habit_domain":"walking"}`), said{text: "Saved."})
		w.says("I want to walk at 8am").respond()
		w.ran(done("save_user_profile", `{"ok":true}`))
		second := calls(t, w.respond())
		require.Contains(t, second[0].Refused, "same arguments already")
		require.Equal(t, "Saved.", w.respond().Text)
		require.Len(t, w.steps, 3, "the refused call cost a round")
	})
	t.Run("A22", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, calling("search_memory", `{"query":"knee"}`), calling("search_memory", `{"query":"sleep"}`), calling("search_memory", `{"query":"work"}`))
		w.says("what did I say about my knee, sleep and work?")
		for range 3 {
			require.Empty(t, calls(t, w.respond())[0].Refused)
			w.ran(done("search_memory", fmt.Sprintf("found %d", len(w.steps))))
		}
	})
	t.Run("A23", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, calling("order_pizza", `{}`), said{text: "I cannot."})
		step := w.says("order me a pizza please").respond()
		require.Contains(t, calls(t, step)[0].Refused, "no tool called order_pizza")
		require.Contains(t, calls(t, step)[0].Refused, allowed(t, step)[0])
		require.Contains(t, decisions(t, step), "tool refused not_allowed")
		require.Equal(t, "I cannot.", w.respond().Text, "the loop goes on")
	})
	t.Run("A53 the agent leaves the count to the workflow", func(t *testing.T) {
		w := newWorld(t)
		var many said
		for i := range 6 {
			many.calls = append(many.calls, calling("search_memory", fmt.Sprintf(`{"query":"word %d"}`, i)).calls[0])
		}
		w.model.on(chat, many)
		for _, call := range calls(t, w.says("look everything up").respond()) {
			require.Empty(t, call.Refused)
		}
	})
	t.Run("W16", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, calling("search_memory", `{"query":"a"}`))
		w.says("look it up for me")
		for range 3 {
			w.respond()
			w.ran(models.ToolResult{Name: "search_memory", Content: "Error: out of order", Failed: true})
		}
		w.respond()
		require.NotContains(t, offered(w.last(chat)), "search_memory")
	})
}

func TestToolSearch(t *testing.T) {
	for _, tt := range []struct {
		name, result string
		added        []string
	}{
		{"A25", "There is a scheduler, and save_user_profile too.", nil},
		{"A26", "delete_everything: not a tool of this mode", nil},
		{"J82", "scheduler: sets daily prompts\nlist_memories: what is known", []string{"scheduler", "list_memories"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.settings.Router = "model"
			w.open()
			w.model.on(router, texts("save_user_profile")...)
			w.offer.Controls = append(w.offer.Controls, models.ToolSpec{Name: w.offer.Search, Schema: []byte(`{"type":"object"}`)})
			w.model.on(chat, calling(w.offer.Search, `{"query":"anything"}`), said{text: "Fine."})
			w.says("can you do something for me").respond()
			before := offered(w.last(chat))
			w.ran(done(w.offer.Search, tt.result))
			w.respond()
			require.ElementsMatch(t, append(before, tt.added...), offered(w.last(chat)))
		})
	}
	t.Run("J83", func(t *testing.T) {
		w := newWorld(t)
		w.offer.Controls = append(w.offer.Controls, models.ToolSpec{Name: w.offer.Search, Schema: []byte(`{"type":"object"}`)})
		w.says("can you do something for me")
		for i := range 4 {
			w.model.on(chat, calling(w.offer.Search, fmt.Sprintf(`{"query":"thing %d"}`, i)))
			refused := calls(t, w.respond())[0].Refused
			require.Equal(t, i == 3, refused != "", refused)
			w.ran(done(w.offer.Search, "nothing fits"))
		}
	})
	t.Run("J83 within one answer", func(t *testing.T) {
		w := newWorld(t)
		w.offer.Controls = append(w.offer.Controls, models.ToolSpec{Name: w.offer.Search, Schema: []byte(`{"type":"object"}`)})
		var many said
		for i := range 4 {
			many.calls = append(many.calls, calling(w.offer.Search, fmt.Sprintf(`{"query":"thing %d"}`, i)).calls[0])
		}
		w.model.on(chat, many)
		for i, call := range calls(t, w.says("can you do something for me").respond()) {
			require.Equal(t, i == 3, call.Refused != "", call.Refused)
		}
	})
}

func TestRoundsUsedUp(t *testing.T) {
	worked := func(t *testing.T) *world {
		w := newWorld(t)
		w.says("hello there, coach of mine").respond()
		w.replied()
		w.model.on(chat, calling("search_memory", `{"query":"knee"}`))
		w.says("what about my knee?").respond()
		w.ran(done("search_memory", "[2026-02-01] Bad knee. (f1)"))
		return w
	}
	last := models.CallModelInput{NoTools: true, Last: true}
	t.Run("A27", func(t *testing.T) {
		w := worked(t)
		w.model.on(limiter, texts("This may be incomplete: your knee is bad.")...)
		step, err := w.round(last)
		require.NoError(t, err)
		require.Equal(t, "This may be incomplete: your knee is bad.", step.Text)
		asked := w.last(limiter).Messages[0].Content
		require.Equal(t, "helper", w.last(limiter).Model)
		require.Contains(t, asked, "result of search_memory: [2026-02-01] Bad knee. (f1)")
		require.NotContains(t, asked, "hello there", "what was said before is no work of this turn")
	})
	t.Run("J86 what the rounds said is told where the model does not answer", func(t *testing.T) {
		w := worked(t)
		w.model.on(chat, said{text: "Your knee is bad, as you said."})
		w.respond()
		w.model.on(limiter, busy())
		step, err := w.round(last)
		require.NoError(t, err)
		require.Contains(t, step.Text, "Your knee is bad, as you said.")
		require.Contains(t, decisions(t, step), "limit digest")
	})
	t.Run("J86 words beside a call are none to tell", func(t *testing.T) {
		w := newWorld(t)
		beside := calling("search_memory", `{"query":"knee"}`)
		beside.text = "I shall look that up for you."
		w.model.on(chat, beside)
		w.says("what about my knee?").respond()
		w.ran(done("search_memory", "[2026-02-01] Bad knee. (f1)"))
		w.model.on(limiter, busy())
		step, err := w.round(last)
		require.NoError(t, err)
		require.Empty(t, step.Text)
	})
	t.Run("A28", func(t *testing.T) {
		w := worked(t)
		w.model.on(limiter, busy())
		step, err := w.round(last)
		require.NoError(t, err)
		require.Empty(t, step.Text, "the workflow apologises in fixed words")
		require.Contains(t, decisions(t, step), "limit apology")
	})
	t.Run("J86 nothing was done", func(t *testing.T) {
		w := newWorld(t)
		_, err := w.says("what about my knee?").round(last)
		require.NoError(t, err)
		require.Zero(t, w.model.total())
	})
}

func TestToolsRefusedByTheEndpoint(t *testing.T) {
	w := newWorld(t)
	w.model.on(chat, said{err: &models.ModelError{Class: models.ModelNoTools, Status: 400, Message: "tools"}}, said{text: "Hello."})
	step := w.says("what can you do for me?").respond()
	t.Run("A29", func(t *testing.T) {
		require.Equal(t, "Hello.", step.Text)
		asked := w.model.asked[chat]
		require.Len(t, asked, 2)
		require.NotEmpty(t, asked[0].Tools)
		require.Empty(t, asked[1].Tools)
		require.Contains(t, asked[1].Messages[0].Content, "```tool_call")
		w.open()
		w.says("and what else can you do?").respond()
		require.Empty(t, w.last(chat).Tools, "remembered for every worker")
	})
	t.Run("J65 a call in text", func(t *testing.T) {
		w.model.on(chat, said{text: "```tool_call\n{\"name\":\"search_memory\",\"arguments\":{\"query\":\"knee\"}}\n```"})
		got := calls(t, w.says("look up my knee for me").respond())
		require.Len(t, got, 1)
		require.Equal(t, "search_memory", got[0].Name)
		require.Empty(t, got[0].Refused)
	})
	t.Run("W1 refused twice is an error", func(t *testing.T) {
		w.model.on(chat, said{err: &models.ModelError{Class: models.ModelNoTools, Message: "tools"}})
		_, err := w.says("and now what should I do?").round(models.CallModelInput{})
		require.Error(t, err)
	})
}

func TestGuard(t *testing.T) {
	for _, tt := range []struct{ name, answer, want string }{
		{"A31", "tool_calls: []", ""},
		{"A32", `{"reply":"Nice walk!"}`, "Nice walk!"},
		{"A34", `He wrote "location": park`, `He wrote "location": park`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.model.on(chat, texts(tt.answer)...)
			step := w.says("I went for a walk").respond()
			require.Equal(t, tt.want, step.Text)
			require.Empty(t, step.Calls)
			if tt.want != "" {
				return
			}
			again, err := w.round(models.CallModelInput{NoTools: true})
			require.NoError(t, err)
			require.Empty(t, w.last(chat).Tools, "one plain retry")
			require.Empty(t, again.Text, "then the workflow's fixed words")
			require.NotContains(t, again.Trace, tt.answer)
		})
	}
	t.Run("A35", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, said{thinking: "secret musing"}, said{text: "Well done."})
		first := w.says("I went for a walk").respond()
		require.Empty(t, first.Text+first.Calls)
		second := w.respond()
		require.Equal(t, "Well done.", second.Text)
		require.Equal(t, 2, second.Number, "two turns used")
		require.NotContains(t, fmt.Sprint(w.steps), "secret musing")
		require.NotContains(t, w.model.everything(), "secret musing")
	})
}

func TestOneSystemMessage(t *testing.T) {
	w := newWorld(t)
	w.says("what did I say about my knee?")
	for i := range 4 {
		w.model.on(chat, calling("search_memory", fmt.Sprintf(`{"query":"knee %d"}`, i)))
		w.respond()
		w.ran(done("search_memory", "nothing"))
		w.now = w.now.Add(time.Minute)
	}
	t.Run("A47", func(t *testing.T) {
		require.Len(t, w.model.asked[chat], 4)
		for i, request := range w.model.asked[chat] {
			systems := 0
			for _, message := range request.Messages {
				if message.Role == "system" {
					systems++
				}
			}
			require.Equal(t, 1, systems)
			require.Equal(t, "system", request.Messages[0].Role)
			require.Equal(t, 1, strings.Count(fmt.Sprint(request.Messages), "Local time:"))
			require.True(t, strings.HasSuffix(request.Messages[0].Content, fmt.Sprintf("UTC: 2026-03-02T09:0%d:00Z", i)), "D4 the last line, of now")
		}
	})
}

func TestUnknownZone(t *testing.T) {
	for _, tt := range []struct{ name, zone string }{{"A46", ""}, {"A46 not readable", "Mars/Olympus"}} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.alter = func(c *models.TurnContext) { c.Participant.Timezone = tt.zone }
			require.Equal(t, "Fine.", w.says("what time is it there?").respond().Text)
			require.Contains(t, w.system(), "the person's own zone is not known")
			require.Contains(t, decisions(t, w.steps[0]), "model without time zone")
		})
	}
}

func TestOverflow(t *testing.T) {
	overflow := said{err: &models.ModelError{Class: models.ModelOverflow, Message: "too long"}}
	talked := func(t *testing.T) *world {
		w := newWorld(t)
		for i := range 6 {
			w.exchange(fmt.Sprintf("this is story number %d", i))
		}
		w.model.asked = map[string][]models.ChatRequest{}
		return w
	}
	t.Run("drops the oldest turns once", func(t *testing.T) {
		w := talked(t)
		w.model.on(chat, overflow, said{text: "Fine."})
		step := w.says("and the newest one").respond()
		require.Equal(t, "Fine.", step.Text)
		require.Contains(t, decisions(t, step), "model again after overflow")
		asked := w.model.asked[chat]
		require.Len(t, asked, 2)
		require.Contains(t, fmt.Sprint(asked[0].Messages), "number 0")
		require.NotContains(t, fmt.Sprint(asked[1].Messages), "number 0")
		require.Contains(t, fmt.Sprint(asked[1].Messages), "and the newest one")
		require.Equal(t, asked[0].Messages[0], asked[1].Messages[0])
	})
	t.Run("twice is an error", func(t *testing.T) {
		w := talked(t)
		w.model.on(chat, overflow)
		_, err := w.says("and the newest one").round(models.CallModelInput{})
		var failed *models.ModelError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, models.ModelOverflow, failed.Class)
		require.Equal(t, 2, w.model.count(chat))
	})
	t.Run("in two phases too", func(t *testing.T) {
		w := talked(t)
		w.learnt(models.ProtocolTwoPhase)
		w.model.on(chat, overflow, said{text: `{"tool":null}`}, said{text: "Fine."})
		require.Equal(t, "Fine.", w.says("and the newest one").respond().Text)
		require.NotContains(t, fmt.Sprint(w.last(chat).Messages), "number 0")
	})
}

// learnt puts a protocol on record for the chat model.
func (w *world) learnt(protocol models.Protocol) {
	w.t.Helper()
	off := false
	w.settings.Planner = &off
	require.NoError(w.t, w.rows.Store.SaveCapability(w.t.Context(), models.Capability{
		Model: w.settings.ChatModel, Endpoint: w.settings.Endpoint, Protocol: protocol, Size: models.SizeLarge, LearntAt: w.now,
	}))
	w.open()
}

func TestTwoPhase(t *testing.T) {
	begin := func(t *testing.T, answers ...string) *world {
		w := newWorld(t)
		w.learnt(models.ProtocolTwoPhase)
		w.model.on(chat, texts(answers...)...)
		w.says("what did I say about my knee?")
		return w
	}
	t.Run("O16 O17", func(t *testing.T) {
		w := begin(t, `{"tool":"search_memory"}`, `{"query":"knee"}`)
		step := w.respond()
		require.Equal(t, []models.ToolCall{{Name: "search_memory", Arguments: `{"query":"knee"}`}}, calls(t, step))
		require.Contains(t, decisions(t, step), "model two_phase")
	})
	t.Run("O17 a tool without arguments is not asked about", func(t *testing.T) {
		w := begin(t, `{"tool":"list_memories"}`, "hm")
		w.offer.Specs = append(w.offer.Specs[:0:0], models.ToolSpec{Name: "list_memories", Schema: []byte(`{"type":"object"}`)})
		require.Equal(t, []models.ToolCall{{Name: "list_memories", Arguments: `{}`}}, calls(t, w.respond()))
		require.Equal(t, 1, w.model.count(chat))
	})
	t.Run("O24 a second try is told what was wrong, and no other", func(t *testing.T) {
		w := begin(t, "hm", `{"tool":"search_memory"}`, "hm", `{"query":"knee"}`)
		require.Len(t, calls(t, w.respond()), 1)
		asked := w.model.asked[chat]
		require.Len(t, asked, 4)
		require.NotEqual(t, asked[0].Messages, asked[1].Messages)
		require.NotEqual(t, asked[2].Messages, asked[3].Messages)
		plain := begin(t, `{"tool":"search_memory"}`, `{"query":"knee"}`)
		require.Len(t, calls(t, plain.respond()), 1)
		require.Equal(t, plain.model.asked[chat][1].Messages, asked[2].Messages)
	})
	t.Run("O23", func(t *testing.T) {
		w := begin(t, `{"tool":null}`, "A bad knee.")
		require.Equal(t, "A bad knee.", w.respond().Text)
	})
	t.Run("O24", func(t *testing.T) {
		w := begin(t, "hm", "hm", "Tell me more.")
		require.Equal(t, "Tell me more.", w.respond().Text)
		require.Equal(t, 3, w.model.count(chat), "one retry, then the words")
	})
	t.Run("O24 arguments", func(t *testing.T) {
		w := begin(t, `{"tool":"search_memory"}`, "hm", "hm", "hm", "Tell me more.")
		require.Equal(t, "Tell me more.", w.respond().Text)
	})
}

func TestDirectExecution(t *testing.T) {
	w := newWorld(t).small()
	w.model.on(planner, texts("search_memory query='knee'\nsearch_memory query='<what hurts>'\nTell the person.")...)
	w.model.on(resolver, texts(`{"name":"search_memory","arguments":{"query":"stairs"}}`)...)
	w.says("what did I say about my knee and what hurts?")
	t.Run("J35", func(t *testing.T) {
		step := w.respond()
		require.Equal(t, "direct", step.FinishReason)
		require.Contains(t, decisions(t, step), "plan step direct")
		require.JSONEq(t, `{"query":"knee"}`, calls(t, step)[0].Arguments)
		require.Zero(t, w.model.count(chat))
		w.ran(done("search_memory", "Stairs hurt."))
	})
	t.Run("J36", func(t *testing.T) {
		step := w.respond()
		require.JSONEq(t, `{"query":"stairs"}`, calls(t, step)[0].Arguments)
		require.Contains(t, decisions(t, step), "plan step resolved")
		require.Contains(t, w.last(resolver).Messages[0].Content, "Stairs hurt.")
		w.ran(done("search_memory", "Down more than up."))
	})
	t.Run("J38", func(t *testing.T) {
		require.Equal(t, "Fine.", w.respond().Text, "the chat model puts it into words")
		require.Contains(t, fmt.Sprint(w.last(chat).Messages), "[plan] All 2 tool steps done.")
		require.Equal(t, 1, w.model.count(planner), "the plan is kept with the round")
	})
}

// A native model makes its calls itself, and the last round makes none.
func TestNoDirectExecution(t *testing.T) {
	planned := func(t *testing.T, w *world) *world {
		w.settings.Planner = on()
		w.open()
		w.model.on(planner, texts("search_memory query='knee'\nTell the person.")...)
		w.says("what did I say about my knee and what hurts?")
		return w
	}
	t.Run("J35 a native model", func(t *testing.T) {
		w := planned(t, newWorld(t))
		step := w.respond()
		require.Empty(t, step.Calls)
		require.Equal(t, 1, w.model.count(chat))
		require.Zero(t, w.model.count(resolver))
	})
	for name, in := range map[string]models.CallModelInput{"J86 the last round": {Last: true}, "A31 no tools": {NoTools: true}} {
		t.Run(name, func(t *testing.T) {
			w := planned(t, newWorld(t).small())
			step, err := w.round(in)
			require.NoError(t, err)
			require.Empty(t, step.Calls)
			require.Zero(t, w.model.count(resolver))
		})
	}
}

func TestHabitPrompt(t *testing.T) {
	w := newWorld(t)
	w.kind = models.KindPrompt
	w.begin(ann)
	w.model.on(chat, texts("After coffee, walk five minutes.")...)
	require.Equal(t, "After coffee, walk five minutes.", w.respond().Text)
	require.Equal(t, 1, w.model.total())
	w.model.on(chat, busy())
	_, err := w.round(models.CallModelInput{})
	var failed *models.ModelError
	require.ErrorAs(t, err, &failed)
}
