package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent"
	"coachline/internal/config"
	"coachline/models"
)

// Facts about a person that only a search finds.
func (w *world) remembersPollen() *world {
	w.storeFacts(ann, models.FactEvent, "Stayed in because of tree pollen in Leeds.", "Ran a race in Leeds with a bad knee.")
	return w
}

// lookedUp is a turn whose tool result is in the window.
func (w *world) lookedUp() *world {
	w.model.on(chat, callAnswer("search_memory", `{"query":"pollen"}`), said{text: "High today."})
	w.addText("pollen count Leeds today").runStep()
	w.addResults(models.ToolResult{Name: "search_memory", Content: "Leeds pollen today: high grass, moderate tree"})
	w.runStep()
	w.endTurn()
	return w
}

func TestSmallTalkCostsOneCall(t *testing.T) {
	for _, tt := range []struct{ name, text string }{
		{"ok", "ok, great!"}, {"J27 short", "hm"}, {"J31 Spanish", "de acuerdo"}, {"J31 German", "Alles klar, danke!"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, strategy := range []string{"model", "embedding"} {
				w := newWorld(t).remembersPollen().useSmallModel()
				w.settings.Router, w.settings.Planner, w.settings.Digests = strategy, trueFlag(), trueFlag()
				w.openAgent()
				step := w.addText(tt.text).runStep()
				require.Equal(t, "Fine.", step.Text)
				require.Equal(t, 1, w.model.total())
				require.Zero(t, w.vectors.calls)
				require.Contains(t, stageDecisions(t, step), "reply_only")
				require.Contains(t, stageDecisions(t, step), "gate skip plan")
				require.Contains(t, stageDecisions(t, step), "guard words")
				require.False(t, w.pipe.Worth(w.turnContext()), "nothing follows the reply either")
			}
		})
	}
}

func TestReplyOnlyPlan(t *testing.T) {
	w := newWorld(t).useSmallModel()
	w.storeFacts(ann, models.FactEvent, "Dreamt of mountains: "+strings.Repeat("x", 500))
	w.model.on(planner, textAnswers("Reply to the user.")...)
	w.addText("I love mountains so much today").runStep()
	t.Run("reply-only plan skips memory search and direct steps", func(t *testing.T) {
		require.Equal(t, 1, w.model.count(planner))
		require.Equal(t, 1, w.model.count(chat))
		require.Equal(t, 2, w.model.total(), "no extractor, no digest")
		require.Zero(t, w.vectors.calls)
	})
	t.Run("the routed tools stay on offer", func(t *testing.T) {
		require.Contains(t, w.systemMessage(), "end_exchange")
	})
}

func TestPlannerFails(t *testing.T) {
	w := newWorld(t).remembersPollen().useSmallModel()
	w.settings.Router = "model"
	w.openAgent()
	w.model.on(planner, said{err: context.DeadlineExceeded})
	w.model.on(router, textAnswers("search_memory")...)
	w.model.on(extractor, textAnswers(`{"keywords":["knee","race","leeds"]}`)...)
	step := w.addText("what did I say about my joints?").runStep()
	t.Run("planner fails, memory is looked up", func(t *testing.T) {
		require.Equal(t, "Fine.", step.Text)
		require.Equal(t, 1, w.model.count(router))
		require.Equal(t, 1, w.model.count(extractor))
		require.Contains(t, w.systemMessage(), "bad knee")
		require.Contains(t, stageDecisions(t, step), "plan failed time limit")
	})
	t.Run("the check decides", func(t *testing.T) {
		require.Contains(t, stageDecisions(t, step), "gate recall no tool row")
	})
}

func TestRecallIsDecided(t *testing.T) {
	const query = "my high grass or moderate outdoors?"
	for _, tt := range []struct {
		name, decision string
		extractors     int
		before         func(w *world)
	}{
		{"the recall gate", "gate skip 0.75", 0, func(w *world) { w.lookedUp() }},
		{"gate recalls without a tool row", "gate recall no tool row", 2, func(w *world) {
			w.addEntry(models.Message{Role: models.RoleUser, Kind: models.KindMessage, Text: "pollen count Leeds today"})
			w.addEntry(models.Message{Role: models.RoleAssistant, Kind: models.KindReply, Text: "Leeds pollen today: high grass, moderate tree"})
		}},
		{"gate fails open", "gate recall error", 2, func(w *world) {
			w.lookedUp()
			w.addEntry(models.Message{Role: models.RoleTool, Kind: models.KindToolResult, Text: "not JSON"})
		}},
		{"a tool row before the hot window", "gate recall no tool row", 2, func(w *world) {
			w.lookedUp()
			w.now = w.now.Add(4 * time.Minute)
			w.runExchange("ok")
			w.now = w.now.Add(4 * time.Minute)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t).remembersPollen()
			tt.before(w)
			w.model.asked = map[string][]models.ChatRequest{}
			step := w.addText(query).runStep()
			require.Equal(t, "High today.", w.lastWords(step), "the turn succeeds")
			require.Contains(t, stageDecisions(t, step), tt.decision)
			require.Equal(t, tt.extractors, w.model.count(extractor))
		})
	}
}

// lastWords is what a step says; worlds without a tool say the default.
func (w *world) lastWords(step models.Step) string {
	if step.Text == "Fine." {
		return "High today."
	}
	return step.Text
}

func TestNewConversation(t *testing.T) {
	carry := func(w *world) {
		w.settings.Router = "model"
		w.openAgent()
		w.model.on(router, textAnswers("save_user_profile")...)
		w.model.on(extractor, textAnswers(`{"keywords":["knee","race","leeds"]}`)...)
		w.model.on(chat, callAnswer("scheduler", `{"action":"create"}`), said{text: "When?"})
		w.addText("what about my joints then?").runStep()
		w.addResults(models.ToolResult{Name: "scheduler", Content: `{"ok":false,"error":"no time given"}`, Failed: true})
		w.runStep()
		w.endTurn()
	}
	t.Run("caches of a worker, by use, outside workflow state", func(t *testing.T) {
		w := newWorld(t).remembersPollen()
		carry(w)
		w.now = w.now.Add(301 * time.Second)
		step := w.addText("what about my joints then?").runStep()
		require.Equal(t, 2, w.model.count(router), "the caches are empty before routing")
		require.Equal(t, 2, w.model.count(extractor))
		require.NotContains(t, allowedTools(t, step), "scheduler")
		for _, message := range w.lastRequest(chat).Messages {
			require.NotEqual(t, "tool", message.Role)
			require.Empty(t, message.ToolCalls)
		}
	})
	for name, ends := range map[string]func(*world){
		"the coach ended the exchange": func(w *world) {
			w.model.on(chat, callAnswer(w.offer.Stop, `{}`))
			w.addText("bye").runStep()
			w.addResults(models.ToolResult{Name: w.offer.Stop, Content: `{"ok":true}`})
			w.endTurn()
		},
		"STOP and START": func(w *world) {
			w.addText("START")
			w.addEntry(models.Message{Role: models.RoleAssistant, Kind: models.KindConsent, Text: "You are back."})
		},
	} {
		t.Run("at once after the end: "+name, func(t *testing.T) {
			w := newWorld(t).remembersPollen()
			carry(w)
			before := w.model.count(router)
			ends(w)
			asked := w.model.count(router)
			w.model.on(chat, said{text: "When?"})
			w.addText("what about my joints then?").runStep()
			require.Equal(t, asked+1, w.model.count(router), "the caches are empty before routing")
			require.Equal(t, 1, before)
		})
	}
	t.Run("at 300 s", func(t *testing.T) {
		w := newWorld(t).remembersPollen()
		carry(w)
		w.now = w.now.Add(300 * time.Second)
		step := w.addText("what about my joints then?").runStep()
		require.Equal(t, 1, w.model.count(router), "J23 kept")
		require.Equal(t, 1, w.model.count(extractor), "J22 kept")
		require.Contains(t, allowedTools(t, step), "scheduler")
	})
}

func TestHotWindowByDefault(t *testing.T) {
	cfg, err := config.Load(nil, nil)
	require.NoError(t, err)
	w := newWorld(t)
	w.settings.Hot, w.settings.Router = cfg.Replies.HotWindow, "model"
	w.openAgent()
	w.model.on(router, textAnswers("scheduler")...)
	w.runExchange("text me at nine")
	t.Run("hot window 30 minutes", func(t *testing.T) {
		w.now = w.now.Add(30 * time.Minute)
		w.runExchange("text me at nine")
		require.Equal(t, 1, w.model.count(router), "the conversation goes on")
		w.now = w.now.Add(30*time.Minute + time.Second)
		w.runExchange("text me at nine")
		require.Equal(t, 2, w.model.count(router))
	})
}

func TestRouterCache(t *testing.T) {
	w := newWorld(t)
	w.settings.Router = "model"
	w.offer.Specs = w.offer.Specs[:4]
	w.openAgent()
	t.Run("whole catalogue asked again", func(t *testing.T) {
		w.model.on(router, textAnswers(strings.Join(names(w.offer.Specs), ", "))...)
		w.runExchange("what can you do for me?")
		w.runExchange("what can you do for me?")
		require.Equal(t, 2, w.model.count(router), "the whole catalogue says that nothing was decided")
	})
	t.Run("the router's pick is cached, with mode, channel and locale", func(t *testing.T) {
		w.model.on(router, textAnswers("scheduler")...)
		w.runExchange("text me at nine")
		w.runExchange("text me at nine")
		require.Equal(t, 3, w.model.count(router))
	})
	t.Run("none leaves what is always offered", func(t *testing.T) {
		w.model.on(router, textAnswers("none")...)
		step := w.runExchange("what a lovely day it is")
		require.Equal(t, []string{"report_concern", "ask_for_person", "end_exchange"}, allowedTools(t, step))
	})
}

func names(specs []models.ToolSpec) []string {
	var out []string
	for _, spec := range specs {
		out = append(out, spec.Name)
	}
	return out
}

func TestRouterByVectors(t *testing.T) {
	w := newWorld(t)
	w.settings.Router = "embedding"
	w.offer.Specs = []models.ToolSpec{{Name: "walks", Description: "plans a walk outside"}, {Name: "meals", Description: "plans food"}}
	w.openAgent()
	t.Run("strategies of the router", func(t *testing.T) {
		step := w.addText("plan me a walk outside").runStep()
		require.Equal(t, []string{"walks", "report_concern", "ask_for_person", "end_exchange"}, allowedTools(t, step))
		require.Equal(t, 1, w.vectors.calls)
	})
	t.Run("from the cache", func(t *testing.T) {
		w.endTurn()
		w.addText("plan me a walk outside").runStep()
		require.Equal(t, 1, w.vectors.calls)
	})
}

func TestLateTextIsPreparedForAnew(t *testing.T) {
	w := newWorld(t).useSmallModel()
	w.model.on(planner, textAnswers("save_user_profile habit_domain='walking'\nTell the person.")...)
	w.model.on(chat, textAnswers("Fine.")...)
	w.addText("I want to walk each day").runStep()
	w.addResults(newResult("save_user_profile", `{"ok":true}`))
	w.addEntry(models.Message{TurnID: w.turnID(), Role: models.RoleUser, Kind: models.KindMessage, Text: "and to sleep well"})
	w.runStep()
	require.Equal(t, 2, w.model.count(planner))
	question := w.lastRequest(planner).Messages
	require.Equal(t, "I want to walk each day\nand to sleep well", question[len(question)-1].Content)
}

func TestWarmProfile(t *testing.T) {
	w := newWorld(t)
	w.settings.Router = "model"
	w.openAgent()
	w.model.on(router, textAnswers("scheduler")...)
	w.storeFacts(ann, models.FactGoal, "Wants to walk each day.")
	w.runExchange("how am I doing with it?")
	w.runExchange("how am I doing with it?")
	require.Equal(t, 1, w.rows.calls["recall"], "J21 kept while nothing changes")
	require.Zero(t, w.rows.calls["find"], "C6 what is shown on every turn is not searched for")
	require.Zero(t, w.vectors.calls)
	t.Run("profile saved", func(t *testing.T) {
		w.alter = func(c *models.TurnContext) { c.Profile.Version++ }
		w.runExchange("how am I doing with it?")
		require.Equal(t, 2, w.rows.calls["recall"])
		require.Equal(t, 1, w.model.count(router), "the router's entry is still there")
	})
	t.Run("a new fact", func(t *testing.T) {
		w.alter = nil
		w.storeFacts(ann, models.FactIdentity, "Lives in Leeds.")
		w.runExchange("how am I doing with it?")
		require.Contains(t, w.systemMessage(), "Lives in Leeds.")
	})
	t.Run("warm profile on every turn", func(t *testing.T) {
		w.runExchange("ok")
		require.Contains(t, w.systemMessage(), "Wants to walk each day.", "on every turn, small talk too")
	})
}

func TestNobodysMemoryIsRead(t *testing.T) {
	w := newWorld(t)
	w.runExchange("what did I tell you about my knee?")
	require.Empty(t, w.rows.calls["recall"])
	require.Empty(t, w.rows.calls["find"])
	require.Zero(t, w.vectors.calls)
	require.Equal(t, 1, w.model.total())
}

func TestCarryOver(t *testing.T) {
	w := newWorld(t)
	w.settings.Router = "model"
	w.openAgent()
	w.model.on(router, textAnswers("save_user_profile")...)
	w.model.on(chat, callAnswer("scheduler", `{"action":"create"}`), said{text: "At what time?"})
	w.offer.Core = []string{"scheduler"}
	w.addText("text me daily").runStep()
	w.addResults(models.ToolResult{Name: "scheduler", Content: `{"ok":false,"error":"no time given"}`, Failed: true})
	w.runStep()
	w.endTurn()
	w.offer.Core = nil
	t.Run("failed tools are carried before the plan is asked for", func(t *testing.T) {
		step := w.addText("8am please").runStep()
		require.Contains(t, allowedTools(t, step), "scheduler")
		require.Equal(t, "model+carryover", readTrace(t, step).Prepared.Label)
		w.endTurn()
	})
	t.Run("nothing carried is cached", func(t *testing.T) {
		routed := w.model.count(router)
		step := w.addText("8am please").runStep()
		require.Equal(t, routed, w.model.count(router), "from the cache")
		require.NotContains(t, allowedTools(t, step), "scheduler")
		require.Equal(t, "model", readTrace(t, step).Prepared.Label)
	})
}

func TestPlanWidensTheOffer(t *testing.T) {
	w := newWorld(t).useSmallModel()
	w.settings.Router = "model"
	w.openAgent()
	w.model.on(router, textAnswers("save_user_profile")...)
	w.model.on(planner, textAnswers("Say which of them to forget\nforget_memory\nTell the person.")...)
	step := w.addText("forget what you know of my knee").runStep()
	t.Run("a step that names a tool adds it", func(t *testing.T) {
		require.Subset(t, allowedTools(t, step), []string{"save_user_profile", "forget_memory"})
		require.Contains(t, stageDecisions(t, step), fmt.Sprintf("route model+plan %d of %d", len(allowedTools(t, step)), len(w.offer.Specs)+len(w.offer.Controls)))
		require.Contains(t, stageDecisions(t, step), "3 steps, 1 tools", "the operator sees that there is one")
		require.Equal(t, "model+plan", readTrace(t, step).Prepared.Label)
	})
	t.Run("plan section only for more than one step", func(t *testing.T) {
		w.addResults(newResult("forget_memory", "which of them?"))
		w.runStep()
		require.Contains(t, w.systemMessage(), "# Plan")
	})
	t.Run("the planner sees the routed tools", func(t *testing.T) {
		require.Contains(t, w.lastRequest(planner).Messages[0].Content, "- save_user_profile:")
		require.NotContains(t, w.lastRequest(planner).Messages[0].Content, "- forget_memory:", "and no other")
	})
}

// TestLimitsAreSettings: what a reply may use follows the settings, and 0 is what is usual.
func TestLimitsAreSettings(t *testing.T) {
	ask := func(limits agent.Limits) (calls, longest int, awaited time.Duration) {
		w := newWorld(t).remembersPollen()
		w.settings.Router, w.settings.Limits = "model", limits
		w.openAgent()
		w.model.on(router, textAnswers("scheduler")...)
		for range 3 {
			w.model.on(chat, callAnswer("scheduler", `{"action":"list"}`), said{text: "When?"})
			w.addText("text me at nine").runStep()
			w.addResults(models.ToolResult{Name: "scheduler", Content: strings.Repeat("w", 3_000)})
			w.runStep()
			w.endTurn()
		}
		w.addText("and at ten?").runStep()
		for _, message := range w.lastRequest(chat).Messages {
			if message.Role == "tool" {
				calls, longest = calls+1, max(longest, len(message.Content))
			}
		}
		return calls, longest, w.model.left[router]
	}
	calls, longest, awaited := ask(agent.Limits{})
	require.Equal(t, 2, calls)
	require.InDelta(t, 1200, longest, 10)
	require.InDelta(t, 8, awaited.Seconds(), 1)
	calls, longest, awaited = ask(agent.Limits{CarryGroups: 3, CarryChars: 2_000, Stage: 20 * time.Second})
	require.Equal(t, 3, calls)
	require.InDelta(t, 2_000, longest, 10)
	require.InDelta(t, 20, awaited.Seconds(), 1)
}
