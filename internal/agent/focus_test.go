package agent_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent/plan"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

const (
	stress = "---\nname: stress\ndescription: calm on busy days\n---\nSpeak of one breath.\n# Now\nSlowly."
	sleep  = "---\nname: sleep\ndescription: evenings and nights\ntools: [save_user_profile, search_memory]\n---\nSpeak of evenings."
)

// loadFocuses opens the world with an operator's focuses, by the order given.
func (w *world) loadFocuses(texts ...string) *world {
	w.t.Helper()
	dir := w.t.TempDir()
	require.NoError(w.t, os.Mkdir(filepath.Join(dir, "focuses"), 0o700))
	for i, text := range texts {
		file := filepath.Join(dir, "focuses", string(rune('a'+i))+".md")
		require.NoError(w.t, os.WriteFile(file, []byte(text), 0o600))
	}
	library, err := prompts.Load(dir)
	require.NoError(w.t, err)
	w.library = library
	w.offer.Core = []string{"save_user_profile", "scheduler"}
	w.openAgent()
	return w
}

// storeStep stores the steps of the current turn, as the activity does.
func (w *world) storeStep(step models.Step) models.Step {
	w.t.Helper()
	step.CreatedAt = w.now
	_, err := w.people.Turns.SaveStep(w.t.Context(), step)
	require.NoError(w.t, err)
	return step
}

// runTurn runs a whole turn and keeps its steps.
func (w *world) runTurn(text string) models.Step {
	w.t.Helper()
	step := w.storeStep(w.addText(text).runStep())
	w.endTurn()
	return step
}

func focusDecision(t *testing.T, step models.Step) string {
	t.Helper()
	var found []string
	for _, decision := range stageDecisions(t, step) {
		if strings.HasPrefix(decision, "focus ") && !strings.HasPrefix(decision, "focus failed") {
			found = append(found, decision)
		}
	}
	require.Len(t, found, 1)
	return found[0]
}

func TestNoFocus(t *testing.T) {
	w := newWorld(t)
	w.rows.fails["round"] = errors.New("not to be read")
	step := w.runExchange("my days are so busy")
	t.Run("off costs nothing", func(t *testing.T) {
		require.Equal(t, 1, w.model.total())
		require.Zero(t, w.rows.calls["round"])
		require.NotContains(t, w.systemMessage(), "# Focus")
		require.NotContains(t, step.Trace, "focus")
		w.runExchange("and my nights are short")
		require.Zero(t, w.rows.calls["round"], "what is all on offer needs no record of what was")
	})
}

func TestOneFocus(t *testing.T) {
	w := newWorld(t).loadFocuses(stress)
	step := w.runExchange("my days are so busy")
	t.Run("always used, no call", func(t *testing.T) {
		require.Equal(t, 1, w.model.total())
		require.Zero(t, w.rows.calls["round"])
		require.Equal(t, "focus stress only", focusDecision(t, step))
	})
	t.Run("after the mode, and opens no section", func(t *testing.T) {
		require.Contains(t, w.systemMessage(), "\n\n# Focus\nSpeak of one breath.\n## Now\nSlowly.\n\n# Participant\n")
		require.Less(t, strings.Index(w.systemMessage(), "# Mode: INTAKE"), strings.Index(w.systemMessage(), "# Focus"))
	})
}

func TestFocusIsChosen(t *testing.T) {
	w := newWorld(t).loadFocuses(stress, sleep)
	w.model.on(chooser, textAnswers("sleep")...)
	step := w.runTurn("I lie awake at night")
	t.Run("by the small model", func(t *testing.T) {
		require.Equal(t, "focus sleep model", focusDecision(t, step))
		require.Contains(t, w.systemMessage(), "Speak of evenings.")
		require.NotContains(t, w.systemMessage(), "one breath")
		require.Equal(t, "helper", w.lastRequest(chooser).Model)
		require.Equal(t, "sleep", readTrace(t, step).Prepared.Focus)
	})
	t.Run("its tools, inside the mode; the controls stay", func(t *testing.T) {
		want := []string{"save_user_profile", "report_concern", "ask_for_person", "end_exchange", "search_memory"}
		require.ElementsMatch(t, want, allowedTools(t, step))
		require.Equal(t, want, offeredTools(w.lastRequest(chat)))
	})
	t.Run("small talk goes on with it, without a call", func(t *testing.T) {
		w.now = w.now.Add(time.Minute)
		step := w.runTurn("thanks!")
		require.Equal(t, "focus sleep previous: small talk", focusDecision(t, step))
		require.Equal(t, 1, w.model.count(chooser))
	})
	t.Run("another worker knows it", func(t *testing.T) {
		w.openAgent()
		w.model.on(chooser, busyAnswer())
		step := w.runTurn("what else could I do?")
		require.Equal(t, "focus sleep previous: model failed", focusDecision(t, step))
		require.Contains(t, stageDecisions(t, step), "focus failed busy")
		require.Contains(t, w.lastRequest(chooser).Messages[0].Content, "keep sleep.")
	})
	t.Run("an unknown answer", func(t *testing.T) {
		w.model.on(chooser, textAnswers("nutrition")...)
		step := w.runTurn("and what about food?")
		require.Equal(t, "focus sleep previous: unknown answer", focusDecision(t, step))
	})
	t.Run("changes with what is said", func(t *testing.T) {
		w.model.on(chooser, textAnswers("stress")...)
		step := w.runTurn("my days are so busy")
		require.Equal(t, "focus stress model", focusDecision(t, step))
		require.Contains(t, offeredTools(w.lastRequest(chat)), "scheduler")
	})
	t.Run("the same text again is not asked again", func(t *testing.T) {
		asked := w.model.count(chooser)
		require.Equal(t, "focus stress cached", focusDecision(t, w.runTurn("my days are so busy")))
		require.Equal(t, asked, w.model.count(chooser))
	})
	t.Run("after the hot window the first", func(t *testing.T) {
		w.now = w.now.Add(w.settings.Hot + time.Minute)
		w.model.on(chooser, said{err: context.DeadlineExceeded})
		step := w.runTurn("hello, I sleep badly")
		require.Equal(t, "focus stress first: model failed", focusDecision(t, step))
		require.LessOrEqual(t, w.model.left[chooser], 8*time.Second)
	})
}

// What a focus was chosen for is all of text, mode, channel and locale.
func TestFocusCacheKey(t *testing.T) {
	const busyDays = "my days are so busy"
	for _, tt := range []struct {
		name, text string
		change     func(w *world)
		again      int
	}{
		{"nothing", busyDays, func(*world) {}, 0},
		{"text", "my nights are so short", func(*world) {}, 1},
		{"mode", busyDays, func(w *world) { w.mode = wire.ModeFeedback }, 1},
		{"channel", busyDays, func(w *world) {
			w.alter = func(c *models.TurnContext) { c.Participant.Channel = wire.ChannelChat }
		}, 1},
		{"locale", busyDays, func(w *world) {
			w.alter = func(c *models.TurnContext) { c.Participant.Locale = "pt-BR" }
		}, 1},
		{"a new conversation", busyDays, func(w *world) { w.now = w.now.Add(w.settings.Hot + time.Second) }, 1},
	} {
		t.Run("J23 "+tt.name, func(t *testing.T) {
			w := newWorld(t).loadFocuses(stress, sleep)
			w.model.on(chooser, textAnswers("stress")...)
			w.runExchange(busyDays)
			tt.change(w)
			w.runExchange(tt.text)
			require.Equal(t, 1+tt.again, w.model.count(chooser))
		})
	}
	t.Run("one person's entries stay when another's conversation begins", func(t *testing.T) {
		w := newWorld(t).loadFocuses(stress, sleep)
		w.model.on(chooser, textAnswers("stress")...)
		w.runExchange(busyDays)
		w.alter = func(c *models.TurnContext) {
			c.Participant.ID = ann + "_2"
			c.Window = c.Window[len(c.Window)-1:]
		}
		w.runExchange(busyDays)
		require.Equal(t, 2, w.model.count(chooser), "another person is asked for")
		w.alter = nil
		w.runExchange(busyDays)
		require.Equal(t, 2, w.model.count(chooser))
	})
}

func TestFocusStays(t *testing.T) {
	t.Run("from round to round", func(t *testing.T) {
		w := newWorld(t).loadFocuses(stress, sleep)
		w.model.on(chooser, textAnswers("sleep", "stress")...)
		w.model.on(chat, callAnswer("search_memory", `{"query":"night"}`), said{text: "I see."})
		w.addText("I lie awake at night").runStep()
		w.addResults(newResult("search_memory", "nothing"))
		w.runStep()
		require.Equal(t, 1, w.model.count(chooser))
		require.Contains(t, w.systemMessage(), "Speak of evenings.")
		require.NotContains(t, offeredTools(w.lastRequest(chat)), "scheduler")
	})
	t.Run("a call outside of it is not carried out", func(t *testing.T) {
		w := newWorld(t).loadFocuses(sleep)
		w.model.on(chat, callAnswer("scheduler", `{"action":"list"}`))
		step := w.addText("when do you text me?").runStep()
		require.NotEmpty(t, calls(t, step)[0].Refused)
	})
	t.Run("a retry does not pay twice", func(t *testing.T) {
		w := newWorld(t).loadFocuses(stress, sleep)
		w.model.on(chooser, textAnswers("sleep", "stress")...)
		w.model.on(chat, busyAnswer(), said{text: "Fine."})
		_, err := w.addText("I lie awake at night").callStep(wire.CallModelInput{})
		require.Error(t, err)
		w.openAgent()
		require.Equal(t, "focus sleep model", focusDecision(t, w.runStep()))
		require.Equal(t, 1, w.model.count(chooser))
	})
	t.Run("the record cannot be read", func(t *testing.T) {
		w := newWorld(t).loadFocuses(stress, sleep)
		w.rows.fails["round"] = errors.New("away")
		w.model.on(chooser, textAnswers("sleep")...)
		step := w.runTurn("I lie awake at night")
		require.Equal(t, "focus sleep model", focusDecision(t, step))
		require.Contains(t, stageDecisions(t, step), "focus failed")
	})
	t.Run("no text, no call", func(t *testing.T) {
		w := newWorld(t).loadFocuses(stress, sleep)
		w.kind = wire.TurnGreeting
		w.beginTurn(ann)
		require.Equal(t, "focus stress first: no text", focusDecision(t, w.runStep()))
		require.Zero(t, w.model.count(chooser))
	})
}

// TestPlaybooksOfATurn checks that the list is there exactly where the tool is
// on offer.
func TestPlaybooksOfATurn(t *testing.T) {
	shelved := func(t *testing.T, w *world) *world {
		registry, err := tools.New(tools.PlaybookTools(w.library)...)
		require.NoError(t, err)
		w.offer.Specs = plan.PermittedTools(registry.For(w.mode), append(registry.Core(w.mode, models.Profile{}), registry.Playbook())) // so few that words tell them apart
		w.offer.Core = registry.Core(w.mode, models.Profile{})
		w.offer.Playbook, w.settings.Router = registry.Playbook(), "auto"
		w.openAgent()
		return w
	}
	t.Run("listed", func(t *testing.T) {
		w := shelved(t, newWorld(t))
		w.runExchange("I missed my walk and feel guilty")
		require.Contains(t, w.systemMessage(), "# Playbooks\n")
		require.Contains(t, offeredTools(w.lastRequest(chat)), "read_playbook")
		require.NotContains(t, w.systemMessage(), "Guilt makes people")
	})
	t.Run("tool and list stay in every later turn of the conversation", func(t *testing.T) {
		w := shelved(t, newWorld(t))
		w.runTurn("I missed my walk and feel guilty")
		first := w.systemMessage()
		w.runTurn("text me every day at 9am")
		require.Contains(t, offeredTools(w.lastRequest(chat)), "read_playbook")
		require.Greater(t, commonLength(first, w.systemMessage()), strings.Index(first, "# Participant"))
	})
	t.Run("where the router leaves the tool out there is no list", func(t *testing.T) {
		w := shelved(t, newWorld(t).useSmallModel())
		w.runExchange("text me every day at 9am")
		require.NotContains(t, w.systemMessage(), "read_playbook")
		require.NotContains(t, strings.ToLower(w.systemMessage()), "playbook")
	})
	t.Run("small talk costs one call", func(t *testing.T) {
		w := shelved(t, newWorld(t))
		w.runExchange("thanks!")
		require.Equal(t, 1, w.model.total())
	})
	t.Run("no tool, no list", func(t *testing.T) {
		w := newWorld(t)
		w.runExchange("I missed my walk and feel guilty")
		require.NotContains(t, w.systemMessage(), "# Playbooks")
	})
	t.Run("a focus without it has no list", func(t *testing.T) {
		w := shelved(t, newWorld(t).loadFocuses(sleep))
		w.runExchange("I missed my walk and feel guilty")
		require.NotContains(t, w.systemMessage(), "# Playbooks")
		require.False(t, slices.Contains(offeredTools(w.lastRequest(chat)), "read_playbook"))
	})
}
