package agent_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent"
	"coachline/internal/tools"
	"coachline/internal/web/browse"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// install is one set of options that decide which tools exist.
type install struct {
	name                      string
	playbooks, web, subagents bool
	focus                     string
	// steps is a plan that names tools of the installation.
	steps string
}

func installs() []install {
	const steps = "search_memory query='knee'\nlist_memories\nTell them"
	return []install{
		{name: "plain", steps: steps},
		{name: "playbooks", playbooks: true, steps: steps},
		{name: "everything", playbooks: true, web: true, subagents: true, steps: steps},
		{name: "focus", focus: sleep, steps: "search_memory query='knee'\nTell them"},
	}
}

// equip gives the world the tools of an installation, in a mode, on a channel.
func (w *world) equip(i install, mode wire.Mode, channel wire.Channel) *tools.Registry {
	w.t.Helper()
	dir := w.t.TempDir()
	if i.focus != "" {
		require.NoError(w.t, os.Mkdir(filepath.Join(dir, "focuses"), 0o700))
		require.NoError(w.t, os.WriteFile(filepath.Join(dir, "focuses", "a.md"), []byte(i.focus), 0o600))
	}
	var err error
	w.library, err = prompts.Load(dir)
	require.NoError(w.t, err)
	var more []tools.Tool
	if i.playbooks {
		more = tools.PlaybookTools(w.library)
	}
	if i.web {
		browser := browse.New(browse.Config{})
		more = append(more, browser.SearchTool(), browser.FetchTool())
	}
	if i.subagents {
		more = append(more, tools.Subagents()...)
	}
	registry, err := tools.New(more...)
	require.NoError(w.t, err)
	w.mode = mode
	w.offer = agent.NewOffer(registry, mode, models.Profile{}, models.ChannelSpecOf(channel).Rights)
	w.alter = func(c *models.TurnContext) {
		c.Turn.Channel = channel
		c.Profile.HabitDomain = "a walk"
	}
	return registry
}

var toolWord = regexp.MustCompile(`[a-z]+(_[a-z]+)+|scheduler`)

// listed are the tools that a text lists for the model to choose from, one a
// line; that is how a request offers tools outside the native protocol.
var listed = regexp.MustCompile(`(?m)^(?:- )?([a-z_]+): `)

// isInstruction reports whether a message holds the program's own text.
func isInstruction(m models.ChatMessage) bool {
	return m.Role == "system" || strings.Contains(m.Content, "[hint] ") || strings.Contains(m.Content, "[task] ")
}

// requireOffered fails for each tool that the program's own text in a request
// names although the request does not offer it. The section of a fact, a
// profile or a conversation is not the program's text; the test keeps tool
// names out of those.
func requireOffered(t *testing.T, req models.ChatRequest, every []string) {
	t.Helper()
	if last := req.Messages[len(req.Messages)-1]; strings.Contains(last.Content, "Fill in the arguments of the tool below") {
		// The second half of a choice: the tools were on offer in the first one,
		// whose beginning it shares.
		req.Messages = req.Messages[len(req.Messages)-1:]
	}
	offer := offeredTools(req)
	for _, message := range req.Messages {
		if !isInstruction(message) {
			continue
		}
		for _, match := range listed.FindAllStringSubmatch(message.Content, -1) {
			offer = append(offer, match[1])
		}
	}
	about := func(place, text string) {
		for _, word := range toolWord.FindAllString(text, -1) {
			if slices.Contains(every, word) {
				require.Contains(t, offer, word, "%s names it, and it is not on offer", place)
			}
		}
		if !slices.Contains(offer, "read_playbook") {
			require.NotContains(t, strings.ToLower(text), "playbook", place)
		}
	}
	for _, message := range req.Messages {
		if isInstruction(message) {
			about(message.Role+" message", message.Content)
		}
	}
	for _, spec := range req.Tools {
		about("description of "+spec.Name, spec.Description+string(spec.Schema))
	}
}

// Every prompt kind in every mode, on every channel, with every protocol and
// set of options: no request names a tool that it does not offer.
func TestPromptsNameOnlyToolsOnOffer(t *testing.T) {
	every := tools.Names()
	protocols := map[models.Protocol]models.ModelSize{
		models.ProtocolNative: models.SizeLarge, models.ProtocolText: models.SizeSmall, models.ProtocolTwoPhase: models.SizeSmall,
	}
	for _, i := range installs() {
		w := newWorld(t)
		for _, mode := range []wire.Mode{wire.ModeIntake, wire.ModeFeedback} {
			for _, channel := range []wire.Channel{wire.ChannelSMS, wire.ChannelChat} {
				for protocol, size := range protocols {
					t.Run(fmt.Sprintf("%s %s %s %s", i.name, mode, channel, protocol), func(t *testing.T) {
						w.t, w.window, w.model = t, nil, newScriptedModel()
						w.settings.ChatModel = fmt.Sprintf("chat-%s", protocol)
						w.equip(i, mode, channel)
						require.NoError(t, w.rows.Store.SaveCapability(t.Context(), models.Capability{
							Model: w.settings.ChatModel, Endpoint: w.settings.Endpoint, Protocol: protocol, Size: size, LearntAt: w.now,
						}))
						w.walk(i.steps)
						n := 0
						// What was done, which the limit's digest is made of, names its tools.
						delete(w.model.asked, limiter)
						for _, requests := range w.model.asked {
							for _, req := range requests {
								n++
								requireOffered(t, req, every)
							}
						}
						require.Greater(t, n, 9)
					})
				}
			}
		}
	}
}

// walk begins a turn of every kind, and plays replies whose first answers use
// tools, whose tools run out, and whose conversation goes on.
func (w *world) walk(steps string) {
	w.t.Helper()
	w.settings.Router, w.settings.Planner = "auto", trueFlag()
	w.openAgent()
	w.model.on(router, textAnswers("search_memory", "none")...)
	w.model.on(planner, textAnswers(steps, "", steps, "")...)
	for _, kind := range []wire.TurnKind{wire.TurnGreeting, wire.TurnPrompt, wire.TurnCheckIn} {
		w.kind, w.steps, w.runs = kind, nil, nil
		w.beginTurn(ann)
		w.runStep()
	}
	w.kind = wire.TurnReply
	for _, last := range []wire.CallModelInput{{}, {}, {NoTools: true}, {NoTools: true, Last: true}} {
		w.model.on(chat, callAnswer("search_memory", `{"query":"knee"}`), said{text: `{"tool": "list_memories"}`}, said{text: "Fine."})
		w.addText("What do you know about my sore knee, and can you text me at eight?").runStep()
		w.addResults(newResult("search_memory", "their knee is sore"))
		_, err := w.callStep(last)
		require.NoError(w.t, err)
		w.endTurn()
	}
}

// The list of a conversation begins with what the mode is made of and only grows, by
// what a text asks for.
func TestToolListOfAConversation(t *testing.T) {
	said := []string{"what did I tell you about my knee?", "text me at eight every day", "please look up the weather", "and forget my knee"}
	list := func(i install, routed ...string) (lists [][]string) {
		w := newWorld(t)
		w.equip(i, wire.ModeIntake, wire.ChannelSMS)
		w.settings.Router = "auto"
		w.openAgent()
		w.model.on(router, textAnswers(routed...)...)
		for _, text := range said {
			w.runTurn(text)
			lists = append(lists, offeredTools(w.lastRequest(chat)))
			w.now = w.now.Add(1)
		}
		return lists
	}
	t.Run("small catalogue", func(t *testing.T) {
		lists := list(install{})
		need := []string{"transition_state", "save_user_profile", "scheduler", "report_concern", "ask_for_person", "end_exchange", "find_tools"}
		require.Equal(t, append(need, "search_memory"), lists[0])
		require.NotContains(t, lists[1], "forget_memory")
		require.Contains(t, lists[3], "forget_memory")
		for i, one := range lists[1:] {
			require.Equal(t, need, one[:len(need)])
			require.Subset(t, one, lists[i], "turn %d", i+2)
		}
	})
	t.Run("large catalogue", func(t *testing.T) {
		lists := list(install{playbooks: true, web: true}, "search_memory", "none", "web_search")
		require.Contains(t, lists[0], "search_memory")
		for i, one := range lists[1:] {
			require.Subset(t, one, lists[i], "turn %d", i+2)
		}
		require.NotContains(t, lists[1], "web_search")
		require.Contains(t, lists[2], "web_search")
	})
	t.Run("what waits for a yes stays", func(t *testing.T) {
		w := newWorld(t)
		w.equip(install{}, wire.ModeIntake, wire.ChannelSMS)
		w.settings.Router = "auto"
		w.openAgent()
		w.runTurn("and forget my knee")
		result, err := json.Marshal(models.ToolResult{CallID: "a1", Name: "forget_memory", Failed: true, Content: `{"confirm":"forget_memory person","error":"not yet"}`})
		require.NoError(t, err)
		w.addEntry(models.Message{Role: models.RoleTool, Kind: models.KindToolResult, Text: string(result)})
		w.addEntry(models.Message{Role: models.RoleAssistant, Kind: models.KindReply, Text: "Is this still Ada? Reply YES and we go on."})
		w.now = w.now.Add(2 * w.settings.Hot)
		w.runTurn("YES")
		require.Contains(t, offeredTools(w.lastRequest(chat)), "forget_memory")
	})
	t.Run("a new conversation begins anew", func(t *testing.T) {
		w := newWorld(t)
		w.equip(install{playbooks: true, web: true}, wire.ModeIntake, wire.ChannelSMS)
		w.settings.Router = "model"
		w.openAgent()
		w.model.on(router, textAnswers("search_memory", "none")...)
		w.runTurn("what did I tell you about my knee?")
		w.now = w.now.Add(2 * w.settings.Hot)
		w.runTurn("text me at eight every day")
		require.NotContains(t, offeredTools(w.lastRequest(chat)), "search_memory")
	})
}

// The greeting must not call a tool, so its request carries none and no
// instructions of a mode.
func TestGreetingCarriesNoTools(t *testing.T) {
	w := newWorld(t)
	w.kind = wire.TurnGreeting
	w.beginTurn(ann)
	w.runStep()
	req := w.lastRequest(chat)
	require.Empty(t, req.Tools)
	require.NotContains(t, w.systemMessage(), "# Mode:")
	require.NotContains(t, w.systemMessage(), "Call no tool")
	require.NotContains(t, w.systemMessage(), "No tool can be called")
	require.Contains(t, w.systemMessage(), "# Task: greeting")
}

// The memory step is shown the profile, which holds where a fact disagrees.
func TestMemoryStepSeesTheProfile(t *testing.T) {
	w := newWorld(t).remembersFirst()
	w.storeFacts(ann, models.FactPreference, "Walks at six.")
	w.alter = func(c *models.TurnContext) { c.Profile.PreferredTime = "07:00, mail ann@example.com" }
	w.model.on(stepper, textAnswers(`{"action":"none"}`)...)
	w.runExchange("I still walk at seven")
	system := w.lastRequest(stepper).Messages[0].Content
	require.Contains(t, system, "\nProfile:\n- preferred_time: 07:00, mail [REDACTED_EMAIL]\n\nKnown facts:\n- ")
	require.Contains(t, system, "The profile is kept elsewhere and holds wherever a fact disagrees with it.")
	require.Contains(t, w.systemMessage(), "Where an entry disagrees with the Participant, Profile or Schedules section, the section holds")
}
