package agent_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent/toolcall"
	"coachline/models"
	"coachline/models/wire"
)

func newResult(name, content string) models.ToolResult {
	return models.ToolResult{Name: name, Content: content}
}

func TestScreenedCalls(t *testing.T) {
	t.Run("a repeated call", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, callAnswer("save_user_profile", `{"habit_domain":"walking","preferred_time":"8am"}`),
			callAnswer("save_user_profile", `{"preferred_time":"8am","habit_domain":"walking"}`), said{text: "Saved."})
		w.addText("I want to walk at 8am").runStep()
		w.addResults(newResult("save_user_profile", `{"ok":true}`))
		second := calls(t, w.runStep())
		require.Contains(t, second[0].Refused, "same arguments already")
		require.Equal(t, "Saved.", w.runStep().Text)
		require.Len(t, w.steps, 3, "the refused call cost a round")
	})
	t.Run("three different searches", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, callAnswer("search_memory", `{"query":"knee"}`), callAnswer("search_memory", `{"query":"sleep"}`), callAnswer("search_memory", `{"query":"work"}`))
		w.addText("what did I say about my knee, sleep and work?")
		for range 3 {
			require.Empty(t, calls(t, w.runStep())[0].Refused)
			w.addResults(newResult("search_memory", fmt.Sprintf("found %d", len(w.steps))))
		}
	})
	t.Run("a tool that is not on offer", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, callAnswer("order_pizza", `{}`), said{text: "I cannot."})
		step := w.addText("order me a pizza please").runStep()
		require.Contains(t, calls(t, step)[0].Refused, "no tool called order_pizza")
		require.Contains(t, calls(t, step)[0].Refused, allowedTools(t, step)[0])
		require.Contains(t, stageDecisions(t, step), "tool refused not_allowed")
		require.Equal(t, "I cannot.", w.runStep().Text, "the loop goes on")
	})
	t.Run("the agent leaves the count to the workflow", func(t *testing.T) {
		w := newWorld(t)
		var many said
		for i := range 6 {
			many.calls = append(many.calls, callAnswer("search_memory", fmt.Sprintf(`{"query":"word %d"}`, i)).calls[0])
		}
		w.model.on(chat, many)
		for _, call := range calls(t, w.addText("look everything up").runStep()) {
			require.Empty(t, call.Refused)
		}
	})
	t.Run("W16", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, callAnswer("search_memory", `{"query":"a"}`))
		w.addText("look it up for me")
		for range 3 {
			w.runStep()
			w.addResults(models.ToolResult{Name: "search_memory", Content: "Error: out of order", Failed: true})
		}
		w.runStep()
		require.NotContains(t, offeredTools(w.lastRequest(chat)), "search_memory")
	})
}

// searches is an answer with many calls, each with words of its own.
func searches(from, n int) said {
	var many said
	for i := range n {
		many.calls = append(many.calls, callAnswer("search_memory", fmt.Sprintf(`{"query":"word %d"}`, from+i)).calls[0])
	}
	return many
}

// TestCallsOfAnAnswerAreCut: what one answer may ask for costs the workflow a bounded
// number of events.
func TestCallsOfAnAnswerAreCut(t *testing.T) {
	run := func(kind wire.TurnKind, answers ...said) *world {
		w := newWorld(t)
		w.model.on(chat, answers...)
		w.addText("look everything up")
		w.kind = kind
		return w
	}
	t.Run("a reply", func(t *testing.T) {
		got := calls(t, run(wire.TurnReply, searches(0, 9_500)).runStep())
		require.Len(t, got, 17)
		for _, call := range got[:16] {
			require.Empty(t, call.Refused)
		}
		require.Contains(t, got[16].Refused, "At most 16 tool calls of one answer are carried out; this one and 9483 after it were not.")
	})
	t.Run("sixteen are no more than that", func(t *testing.T) {
		require.Len(t, calls(t, run(wire.TurnReply, searches(0, 16)).runStep()), 16)
	})
	t.Run("a subagent", func(t *testing.T) {
		var answers []said
		for i := range 9 {
			answers = append(answers, searches(1000*i, 200))
		}
		w := run(wire.TurnSubagent, answers...)
		carriedOut := 0
		for range 9 {
			got := calls(t, w.runStep())
			require.Len(t, got, 4, "three and one refusal")
			var results []models.ToolResult
			for _, call := range got {
				if call.Refused == "" {
					carriedOut++
				}
				results = append(results, newResult(call.Name, fmt.Sprintf("found %d", carriedOut)))
			}
			w.addResults(results...)
		}
		require.Equal(t, 20, carriedOut)
	})
}

// TestSilenceIsRefused: an exchange does not end in silence after a question, or twice
// in a row.
func TestSilenceIsRefused(t *testing.T) {
	silence := callAnswer("end_exchange", `{}`)
	for _, text := range []string{"ok, but when is the next one?", "¿y mañana"} {
		w := newWorld(t)
		w.model.on(chat, silence)
		require.Equal(t, models.RefusedSilence, calls(t, w.addText(text).runStep())[0].Refused, text)
	}
	w := newWorld(t)
	w.model.on(chat, silence, silence, said{text: "Sleep well."}, silence)
	require.Empty(t, calls(t, w.addText("thanks, bye").runStep())[0].Refused)
	w.addJSON(models.KindToolCall, models.RoleAssistant, calls(t, w.steps[0]))
	step := w.addText("I am very sad today").runStep()
	require.Equal(t, models.RefusedSilence, calls(t, step)[0].Refused)
	require.Contains(t, stageDecisions(t, step), "tool refused silence")
	w.addResults(newResult("end_exchange", "refused"))
	require.Equal(t, "Sleep well.", w.runStep().Text)
	w.endTurn()
	require.Empty(t, calls(t, w.addText("thanks, bye").runStep())[0].Refused, "an answer was between")
}

func TestToolSearch(t *testing.T) {
	for _, tt := range []struct {
		name, result string
		added        []string
	}{
		{"search answers a sentence", "There is a scheduler, and save_user_profile too.", nil},
		{"search finds a forbidden tool", "delete_everything: not a tool of this mode", nil},
		{"search of tools", "scheduler: sets daily prompts\nlist_memories: what is known", []string{"scheduler", "list_memories"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.settings.Router = "model"
			w.openAgent()
			w.model.on(router, textAnswers("save_user_profile")...)
			w.offer.Controls = append(w.offer.Controls, models.ToolSpec{Name: w.offer.Search, Schema: []byte(`{"type":"object"}`)})
			w.model.on(chat, callAnswer(w.offer.Search, `{"query":"anything"}`), said{text: "Fine."})
			w.addText("can you do something for me").runStep()
			before := offeredTools(w.lastRequest(chat))
			w.addResults(newResult(w.offer.Search, tt.result))
			w.runStep()
			require.ElementsMatch(t, append(before, tt.added...), offeredTools(w.lastRequest(chat)))
		})
	}
	t.Run("three searches", func(t *testing.T) {
		w := newWorld(t)
		w.offer.Controls = append(w.offer.Controls, models.ToolSpec{Name: w.offer.Search, Schema: []byte(`{"type":"object"}`)})
		w.addText("can you do something for me")
		for i := range 4 {
			w.model.on(chat, callAnswer(w.offer.Search, fmt.Sprintf(`{"query":"thing %d"}`, i)))
			refused := calls(t, w.runStep())[0].Refused
			require.Equal(t, i == 3, refused != "", refused)
			w.addResults(newResult(w.offer.Search, "nothing fits"))
		}
	})
	t.Run("within one answer", func(t *testing.T) {
		w := newWorld(t)
		w.offer.Controls = append(w.offer.Controls, models.ToolSpec{Name: w.offer.Search, Schema: []byte(`{"type":"object"}`)})
		var many said
		for i := range 4 {
			many.calls = append(many.calls, callAnswer(w.offer.Search, fmt.Sprintf(`{"query":"thing %d"}`, i)).calls[0])
		}
		w.model.on(chat, many)
		for i, call := range calls(t, w.addText("can you do something for me").runStep()) {
			require.Equal(t, i == 3, call.Refused != "", call.Refused)
		}
	})
}

func TestStepsUsedUp(t *testing.T) {
	worked := func(t *testing.T) *world {
		w := newWorld(t)
		w.addText("hello there, coach of mine").runStep()
		w.endTurn()
		w.model.on(chat, callAnswer("search_memory", `{"query":"knee"}`))
		w.addText("what about my knee?").runStep()
		w.addResults(newResult("search_memory", "[2026-02-01] Bad knee. (f1)"))
		return w
	}
	last := wire.CallModelInput{NoTools: true, Last: true}
	t.Run("rounds used up", func(t *testing.T) {
		w := worked(t)
		w.model.on(limiter, textAnswers("This may be incomplete: your knee is bad.")...)
		step, err := w.callStep(last)
		require.NoError(t, err)
		require.Equal(t, "This may be incomplete: your knee is bad.", step.Text)
		asked := w.lastRequest(limiter).Messages[0].Content
		require.Contains(t, asked, "Begin by saying that this may be incomplete.")
		require.Equal(t, "helper", w.lastRequest(limiter).Model)
		require.Contains(t, asked, "result of search_memory: [2026-02-01] Bad knee. (f1)")
		require.NotContains(t, asked, "hello there", "what was said before is no work of this turn")
	})
	t.Run("what the rounds said is told where the model does not answer", func(t *testing.T) {
		w := worked(t)
		w.model.on(chat, said{text: "Your knee is bad, as you said."})
		w.runStep()
		w.model.on(limiter, busyAnswer())
		step, err := w.callStep(last)
		require.NoError(t, err)
		require.Contains(t, step.Text, "Your knee is bad, as you said.")
		require.Contains(t, stageDecisions(t, step), "limit digest")
	})
	t.Run("words beside a call are none to tell", func(t *testing.T) {
		w := newWorld(t)
		beside := callAnswer("search_memory", `{"query":"knee"}`)
		beside.text = "I shall look that up for you."
		w.model.on(chat, beside)
		w.addText("what about my knee?").runStep()
		w.addResults(newResult("search_memory", "[2026-02-01] Bad knee. (f1)"))
		w.model.on(limiter, busyAnswer())
		step, err := w.callStep(last)
		require.NoError(t, err)
		require.Empty(t, step.Text)
	})
	t.Run("used up and nothing to say", func(t *testing.T) {
		w := worked(t)
		w.model.on(limiter, busyAnswer())
		step, err := w.callStep(last)
		require.NoError(t, err)
		require.Empty(t, step.Text, "the workflow apologises in fixed words")
		require.Contains(t, stageDecisions(t, step), "limit apology")
	})
	t.Run("nothing was done", func(t *testing.T) {
		w := newWorld(t)
		_, err := w.addText("what about my knee?").callStep(last)
		require.NoError(t, err)
		require.Zero(t, w.model.total())
	})
}

func TestToolsRefusedByTheEndpoint(t *testing.T) {
	w := newWorld(t)
	w.model.on(chat, said{err: &models.ModelError{Class: models.ModelNoTools, Status: 400, Message: "tools"}}, said{text: "Hello."})
	step := w.addText("what can you do for me?").runStep()
	t.Run("text protocol after a refusal of tools, kept per model and endpoint", func(t *testing.T) {
		require.Equal(t, "Hello.", step.Text)
		asked := w.model.asked[chat]
		require.Len(t, asked, 2)
		require.NotEmpty(t, asked[0].Tools)
		require.Empty(t, asked[1].Tools)
		require.Contains(t, asked[1].Messages[0].Content, "```tool_call")
		w.openAgent()
		w.addText("and what else can you do?").runStep()
		require.Empty(t, w.lastRequest(chat).Tools, "remembered for every worker")
	})
	t.Run("a call in text", func(t *testing.T) {
		w.model.on(chat, said{text: "```tool_call\n{\"name\":\"search_memory\",\"arguments\":{\"query\":\"knee\"}}\n```"})
		got := calls(t, w.addText("look up my knee for me").runStep())
		require.Len(t, got, 1)
		require.Equal(t, "search_memory", got[0].Name)
		require.Empty(t, got[0].Refused)
	})
	t.Run("refused twice is an error", func(t *testing.T) {
		w.model.on(chat, said{err: &models.ModelError{Class: models.ModelNoTools, Message: "tools"}})
		_, err := w.addText("and now what should I do?").callStep(wire.CallModelInput{})
		require.Error(t, err)
	})
}

func TestGuard(t *testing.T) {
	for _, tt := range []struct{ name, answer, want string }{
		{"malformed text is never shown", "tool_calls: []", ""},
		{"JSON with a reply in it", `{"reply":"Nice walk!"}`, "Nice walk!"},
		{"quotes in prose", `He wrote "location": park`, `He wrote "location": park`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.model.on(chat, textAnswers(tt.answer)...)
			step := w.addText("I went for a walk").runStep()
			require.Equal(t, tt.want, step.Text)
			require.Empty(t, step.Calls)
			if tt.want != "" {
				return
			}
			again, err := w.callStep(wire.CallModelInput{NoTools: true})
			require.NoError(t, err)
			require.Empty(t, w.lastRequest(chat).Tools, "one plain retry")
			require.Empty(t, again.Text, "then the workflow's fixed words")
			require.NotContains(t, again.Trace, tt.answer)
		})
	}
	t.Run("each answer stays in the turn, without its thinking", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, said{thinking: "secret musing"}, said{text: "Well done."})
		first := w.addText("I went for a walk").runStep()
		require.Empty(t, first.Text+first.Calls)
		second := w.runStep()
		require.Equal(t, "Well done.", second.Text)
		require.Equal(t, 2, second.Number, "two turns used")
		require.NotContains(t, fmt.Sprint(w.steps), "secret musing")
		require.NotContains(t, w.model.everything(), "secret musing")
	})
}

func TestOneSystemMessage(t *testing.T) {
	w := newWorld(t)
	w.addText("what did I say about my knee?")
	for i := range 4 {
		w.model.on(chat, callAnswer("search_memory", fmt.Sprintf(`{"query":"knee %d"}`, i)))
		w.runStep()
		w.addResults(newResult("search_memory", "nothing"))
		w.now = w.now.Add(time.Minute)
	}
	t.Run("one line of time, of the turn and not of the call", func(t *testing.T) {
		require.Len(t, w.model.asked[chat], 4)
		for _, request := range w.model.asked[chat] {
			systems := 0
			for _, message := range request.Messages {
				if message.Role == "system" {
					systems++
				}
			}
			require.Equal(t, 1, systems)
			require.Equal(t, "system", request.Messages[0].Role)
			require.Equal(t, 1, strings.Count(fmt.Sprint(request.Messages), "Local time:"))
			require.NotContains(t, request.Messages[0].Content, "Local time:", "it stands behind the conversation")
			require.Contains(t, request.Messages[1].Content, "UTC: 2026-03-02T09:00:00Z\n\n# Your answer\n")
		}
	})
}

func TestUnknownZone(t *testing.T) {
	for _, tt := range []struct{ name, zone string }{{"A46", ""}, {"A46 not readable", "Mars/Olympus"}} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.alter = func(c *models.TurnContext) { c.Participant.Timezone = tt.zone }
			require.Equal(t, "Fine.", w.addText("what time is it there?").runStep().Text)
			require.Contains(t, w.systemMessage(), "the person's own zone is not known")
			require.Contains(t, stageDecisions(t, w.steps[0]), "model without time zone")
		})
	}
}

func TestOverflow(t *testing.T) {
	overflow := said{err: &models.ModelError{Class: models.ModelOverflow, Message: "too long"}}
	talked := func(t *testing.T) *world {
		w := newWorld(t)
		for i := range 6 {
			w.runExchange(fmt.Sprintf("this is story number %d", i))
		}
		w.model.asked = map[string][]models.ChatRequest{}
		return w
	}
	t.Run("is shortened until it fits", func(t *testing.T) {
		w := talked(t)
		w.model.on(chat, overflow, overflow, said{text: "Fine."})
		step := w.addText("and the newest one").runStep()
		require.Equal(t, "Fine.", step.Text)
		decisions := strings.Join(stageDecisions(t, step), ";")
		require.Contains(t, decisions, "model again after overflow")
		require.Contains(t, decisions, "model without old history")
		asked := w.model.asked[chat]
		require.Len(t, asked, 3)
		require.Contains(t, fmt.Sprint(asked[0].Messages), "number 0")
		for i, request := range asked[1:] {
			require.Less(t, toolcall.Tokens(request, 0), toolcall.Tokens(asked[i], 0))
		}
		require.NotContains(t, fmt.Sprint(asked[2].Messages), "number 0")
		require.Contains(t, fmt.Sprint(asked[2].Messages), "number 5", "the last entries stay")
		require.Contains(t, fmt.Sprint(asked[2].Messages), "and the newest one")
	})
	t.Run("once in the life of a person", func(t *testing.T) {
		w := talked(t)
		w.model.limit = 3000
		require.NotEmpty(t, w.addText("and the newest one").runStep().Text)
		require.Greater(t, w.model.count(chat), 1)
		for i := range 4 {
			before := w.model.count(chat)
			w.openAgent() // as a worker that starts now
			require.NotEmpty(t, w.runExchange(fmt.Sprintf("one more %d", i)).Text)
			require.Equal(t, before+1, w.model.count(chat))
		}
		kept, err := w.rows.Store.Capability(t.Context(), largeName, w.settings.Endpoint)
		require.NoError(t, err)
		require.Equal(t, models.FromOverflow, kept.ContextSource)
		require.Equal(t, 3000, kept.ContextTokens)
		require.InDelta(t, 3.5, kept.CharactersPerToken, 0.2)
	})
	t.Run("with nothing left to leave out it is an error", func(t *testing.T) {
		w := talked(t)
		w.model.on(chat, overflow)
		_, err := w.addText("and the newest one").callStep(wire.CallModelInput{})
		var failed *models.ModelError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, models.ModelOverflow, failed.Class)
	})
	t.Run("in two phases too", func(t *testing.T) {
		w := talked(t)
		w.learnProtocol(models.ProtocolTwoPhase)
		w.model.on(chat, overflow, said{text: "Fine."})
		require.Equal(t, "Fine.", w.addText("and the newest one").runStep().Text)
		require.NotContains(t, fmt.Sprint(w.lastRequest(chat).Messages), "number 0")
	})
}

// learnProtocol puts a protocol on record for the chat model.
func (w *world) learnProtocol(protocol models.Protocol) {
	w.t.Helper()
	off := false
	w.settings.Planner = &off
	require.NoError(w.t, w.rows.Store.SaveCapability(w.t.Context(), models.Capability{
		Model: w.settings.ChatModel, Endpoint: w.settings.Endpoint, Protocol: protocol, Size: models.SizeLarge, LearntAt: w.now,
	}))
	w.openAgent()
}

func TestTwoPhase(t *testing.T) {
	begin := func(t *testing.T, answers ...string) *world {
		w := newWorld(t)
		w.learnProtocol(models.ProtocolTwoPhase)
		w.model.on(chat, textAnswers(answers...)...)
		w.addText("what did I say about my knee?")
		return w
	}
	t.Run("one JSON answer picks the tool", func(t *testing.T) {
		w := begin(t, `{"tool":"search_memory"}`, `{"query":"knee"}`)
		step := w.runStep()
		require.Equal(t, []models.ToolCall{{Name: "search_memory", Arguments: `{"query":"knee"}`}}, calls(t, step))
		require.Contains(t, stageDecisions(t, step), "model two_phase")
	})
	t.Run("a tool without arguments is not asked about", func(t *testing.T) {
		w := begin(t, `{"tool":"list_memories"}`, "hm")
		w.offer.Specs = append(w.offer.Specs[:0:0], models.ToolSpec{Name: "list_memories", Schema: []byte(`{"type":"object"}`)})
		require.Equal(t, []models.ToolCall{{Name: "list_memories", Arguments: `{}`}}, calls(t, w.runStep()))
		require.Equal(t, 1, w.model.count(chat))
	})
	t.Run("a second try is told what was wrong, and no other", func(t *testing.T) {
		w := begin(t, "hm", `{"tool":"search_memory"}`, "hm", `{"query":"knee"}`)
		require.Len(t, calls(t, w.runStep()), 1)
		asked := w.model.asked[chat]
		require.Len(t, asked, 4)
		require.NotEqual(t, asked[0].Messages, asked[1].Messages)
		require.NotEqual(t, asked[2].Messages, asked[3].Messages)
		plain := begin(t, `{"tool":"search_memory"}`, `{"query":"knee"}`)
		require.Len(t, calls(t, plain.runStep()), 1)
		require.Equal(t, plain.model.asked[chat][1].Messages, asked[2].Messages)
	})
	t.Run("null ends the choice", func(t *testing.T) {
		w := begin(t, `{"tool":null}`, "A bad knee.")
		require.Equal(t, "A bad knee.", w.runStep().Text)
	})
	t.Run("one retry of the choice, two of the arguments", func(t *testing.T) {
		w := begin(t, "hm", "hm", "Tell me more.")
		require.Equal(t, "Tell me more.", w.runStep().Text)
		require.Equal(t, 3, w.model.count(chat), "one retry, then the words")
	})
	t.Run("arguments", func(t *testing.T) {
		w := begin(t, `{"tool":"search_memory"}`, "hm", "hm", "hm", "Tell me more.")
		require.Equal(t, "Tell me more.", w.runStep().Text)
	})
}

func TestDirectExecution(t *testing.T) {
	w := newWorld(t).useSmallModel()
	w.model.on(planner, textAnswers("search_memory query='knee'\nsearch_memory query='<what hurts>'\nTell the person.")...)
	w.model.on(resolver, textAnswers(`{"name":"search_memory","arguments":{"query":"stairs"}}`)...)
	w.addText("what did I say about my knee and what hurts?")
	t.Run("steps run without the chat model", func(t *testing.T) {
		step := w.runStep()
		require.Equal(t, "direct", step.FinishReason)
		require.Contains(t, stageDecisions(t, step), "plan step direct")
		require.JSONEq(t, `{"query":"knee"}`, calls(t, step)[0].Arguments)
		require.Zero(t, w.model.count(chat))
		w.addResults(newResult("search_memory", "Stairs hurt."))
	})
	t.Run("resolver of steps", func(t *testing.T) {
		step := w.runStep()
		require.JSONEq(t, `{"query":"stairs"}`, calls(t, step)[0].Arguments)
		require.Contains(t, stageDecisions(t, step), "plan step resolved")
		require.Contains(t, w.lastRequest(resolver).Messages[0].Content, "Stairs hurt.")
		w.addResults(newResult("search_memory", "Down more than up."))
	})
	t.Run("note of progress after a result", func(t *testing.T) {
		require.Equal(t, "Fine.", w.runStep().Text, "the chat model puts it into words")
		require.Contains(t, fmt.Sprint(w.lastRequest(chat).Messages), "[plan] All 2 tool steps done.")
		require.Equal(t, 1, w.model.count(planner), "the plan is kept with the round")
	})
}

// A native model makes its calls itself, and the last step makes none.
func TestNoDirectExecution(t *testing.T) {
	planned := func(t *testing.T, w *world) *world {
		w.settings.Planner = trueFlag()
		w.openAgent()
		w.model.on(planner, textAnswers("search_memory query='knee'\nTell the person.")...)
		w.addText("what did I say about my knee and what hurts?")
		return w
	}
	t.Run("a native model", func(t *testing.T) {
		w := planned(t, newWorld(t))
		step := w.runStep()
		require.Empty(t, step.Calls)
		require.Equal(t, 1, w.model.count(chat))
		require.Zero(t, w.model.count(resolver))
	})
	for name, in := range map[string]wire.CallModelInput{"J86 the last round": {Last: true}, "A31 no tools": {NoTools: true}} {
		t.Run(name, func(t *testing.T) {
			w := planned(t, newWorld(t).useSmallModel())
			step, err := w.callStep(in)
			require.NoError(t, err)
			require.Empty(t, step.Calls)
			require.Zero(t, w.model.count(resolver))
		})
	}
}

func TestHabitPrompt(t *testing.T) {
	w := newWorld(t)
	w.kind = wire.TurnPrompt
	w.beginTurn(ann)
	w.model.on(chat, textAnswers("After coffee, walk five minutes.")...)
	require.Equal(t, "After coffee, walk five minutes.", w.runStep().Text)
	require.Equal(t, 1, w.model.total())
	w.model.on(chat, busyAnswer())
	_, err := w.callStep(wire.CallModelInput{})
	var failed *models.ModelError
	require.ErrorAs(t, err, &failed)
}

// TestEveryRequestHasOneSystemMessage: whatever a turn needs, each request has one system
// message, at its head, and rows of tools are neither the person's nor the coach's words.
func TestEveryRequestHasOneSystemMessage(t *testing.T) {
	w := newWorld(t).remembersPollen()
	w.settings.Router = "model"
	w.openAgent()
	w.model.on(router, textAnswers("search_memory")...)
	w.model.on(extractor, textAnswers(`{"keywords":["knee","race","leeds"]}`)...)
	w.model.on(chat, callAnswer("search_memory", `{"query":"knee"}`), said{text: "Rest it."})
	for range 2 {
		w.addText("what about my joints then?").runStep()
		w.addResults(models.ToolResult{Name: "search_memory", Content: "result of a search"})
		w.runStep()
		w.endTurn()
		w.model.on(chat, callAnswer("search_memory", `{"query":"knee"}`), said{text: "Rest it."})
	}
	require.NoError(t, w.finishTurn())
	seen, rows := 0, 0
	for purpose, requests := range w.model.asked {
		for _, request := range requests {
			seen++
			for i, message := range request.Messages {
				require.Equal(t, i == 0, message.Role == "system", "%s, message %d", purpose, i)
				if purpose == chat && strings.Contains(message.Content, "result of a search") {
					rows++
					require.Equal(t, "tool", message.Role)
				}
			}
		}
	}
	require.Greater(t, seen, 5)
	require.Positive(t, rows)
}

// The requests of a turn begin alike, so that a server that has read the first one reads
// little of the next; what a tool saved stands in its result and behind the conversation.
func TestRequestsOfATurnBeginAlike(t *testing.T) {
	w := newWorld(t)
	saved := models.Profile{}
	w.alter = func(c *models.TurnContext) { c.Profile = saved }
	w.model.on(chat, callAnswer("save_user_profile", `{"habit_domain":"walking"}`), said{text: "Why does that matter to you?"})
	w.addText("I want to walk").runStep()
	first := w.lastRequest(chat)
	require.Contains(t, first.Messages[1].Content, "# Profile status\nMissing: habit_domain, ")
	saved.HabitDomain = "walking"
	w.addResults(newResult("save_user_profile", `{"ok":true}`))
	w.runStep()
	second := w.lastRequest(chat)
	require.Equal(t, first.Messages[0], second.Messages[0])
	require.Equal(t, first.Tools, second.Tools)
	require.Contains(t, second.Messages[1].Content, "# Profile status\nMissing: motivational_frame, ")
	w.endTurn()
	w.addText("my knees").runStep()
	require.Contains(t, w.systemMessage(), "habit_domain: walking")
}
