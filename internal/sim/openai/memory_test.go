package openai

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/tools"

	"coachline/internal/agent/recall"
)

// remembering is a system message with a memory section.
func remembering(t *testing.T, system string, lines ...string) string {
	t.Helper()
	framed, err := recall.Framed(library(t), lines...)
	require.NoError(t, err)
	require.Contains(t, framed, framing, "the text before what was remembered has changed")
	return strings.Replace(system, "# Now\n", "# Memory\n"+framed+"\n\n# Now\n", 1)
}

func TestAnswersFromMemory(t *testing.T) {
	lines := []string{
		"[2026-11-11] They walk at 6am. (f1)", "[2026-11-20] They moved the walk to 7am. (f2)",
		"[2026-11-19] Their knee hurts after running. (f3)", "a digest says that their sister is Ann",
	}
	for _, tc := range []struct{ name, system, said, want string }{
		{"a question", complete, "What did I say about my knee?", "You told me on 2026-11-19: Your knee hurts after running."},
		{"the newest holds", complete, "When do I walk?", "You told me on 2026-11-20: You moved the walk to 7am."},
		{"most words", complete, "did I say my knee hurts when I walk?", "You told me on 2026-11-19: Your knee hurts after running."},
		{"a line without a date", complete, "who is my sister", "You told me: a digest says that your sister is Ann"},
		{"nothing about that", complete, "What did I say about my boss?", nothingNoted},
		{"not about the person", complete, "Do you walk?", acknowledgement},
		{"no question", complete, "the knee of the table", acknowledgement},
		{"the set-up goes on", missing("habit_domain"), "hello", question("habit_domain")},
		{"a question in the set-up", missing("habit_domain"), "when do I walk?", "You told me on 2026-11-20: You moved the walk to 7am."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := request(remembering(t, tc.system, lines...), user(tc.said)).answer("id")
			require.Equal(t, tc.want, got.Text)
			require.Empty(t, got.Calls)
		})
	}
	t.Run("no memory", func(t *testing.T) {
		require.Equal(t, acknowledgement, request(complete, user("When do I walk?")).answer("id").Text)
	})
}

// withMemoryTools is request with the tools for what was remembered.
func withMemoryTools(system string, messages ...Message) Request {
	ask := request(system, messages...)
	for _, name := range []string{toolList, toolForget, toolPlaybook} {
		tool := Tool{}
		tool.Function.Name = name
		ask.Tools = append(ask.Tools, tool)
	}
	return ask
}

func TestMemoryTools(t *testing.T) {
	for _, tc := range []struct {
		name           string
		messages       []Message
		want, wantCall string
	}{
		{"what do you know", []Message{user("What do you know about me?")}, "", `list_memories {}`},
		{"by topic", []Message{user("Please forget what I said about my knee!")}, "", `forget_memory {"topic":"knee"}`},
		{"by id", []Message{user("forget f12")}, "", `forget_memory {"id":"f12"}`},
		{"everything", []Message{user("forget everything")}, "", `forget_memory {"all":true}`},
		{"everything is asked back", []Message{user("forget everything"), called(toolForget, `{"all":true}`), result(`{"ok":false,"confirm":"forget_memory all","error":"nothing was deleted"}`)}, forgetEvery, ""},
		{"yes", []Message{assistant(forgetAsked), user("yes please")}, "", `forget_memory {"all":true}`},
		{"yes, it is me", []Message{user("what do you know about me"), assistant("Is this still Ada? " + personAsked + "."), user("yes")}, "", `list_memories {}`},
		{"no", []Message{assistant(forgetEvery), user("the weather is nice")}, acknowledgement, ""},
		{"which", []Message{assistant(forgetWhich + " ..."), user("F2, thanks")}, "", `forget_memory {"id":"f2"}`},
		{"not about memory", []Message{user("forget it")}, acknowledgement, ""},
		{"listed", []Message{user("what do you know about me"), called(toolList, `{}`), result(`{"ok":true,"count":1,"text":"2026-11-20 f1: They walk."}`)},
			"This is what I know: your habit is a short walk; your reason is more energy; your time is 08:00; your anchor is after coffee" +
				"\nAnd you told me:\n2026-11-20 f1: They walk.", ""},
		{"listing failed", []Message{user("what do you know about me"), called(toolList, `{}`), result(`{"ok":false,"error":"not here"}`)},
			"This is what I know: your habit is a short walk; your reason is more energy; your time is 08:00; your anchor is after coffee.", ""},
		{"listing waits for the person", []Message{user("what do you know about me"), called(toolList, `{}`), result(`{"ok":false,"confirm":"list_memories person","error":"not yet"}`)}, personAsk, ""},
		{"forgotten", []Message{user("forget my knee"), called(toolForget, `{"topic":"knee"}`), result(`{"ok":true,"deleted":["f2"],"count":1,"note":"Deleted."}`)},
			"Done. I forgot 1 of my notes.", ""},
		{"nothing to forget", []Message{user("forget my knee"), called(toolForget, `{"topic":"knee"}`), result(`{"ok":true,"deleted":[],"count":0}`)}, nothingNoted, ""},
		{"all forgotten", []Message{assistant(forgetEvery), user("yes"), called(toolForget, `{"all":true}`), result(`{"ok":true,"deleted":[],"count":3}`)},
			"Done. I forgot everything that I had noted about you.", ""},
		{"not sure", []Message{user("forget my walk"), called(toolForget, `{"topic":"walk"}`), result(`{"ok":false,"error":"topic: does not say for sure. It may be: [2026-11-20] Walks. (f1)"}`)},
			forgetWhich + " Answer with the letter and number: [2026-11-20] Walks. (f1)", ""},
		{"failed", []Message{user("forget f9"), called(toolForget, `{"id":"f9"}`), result(`{"ok":false,"error":"f9 is no memory"}`)}, "That did not work: f9 is no memory.", ""},
		{"a playbook", []Message{user("Read the playbook after-a-slip")}, "", `read_playbook {"name":"after-a-slip"}`},
		{"a playbook that was read", []Message{user("read the playbook x"), called(toolPlaybook, `{"name":"x"}`), result(`{"ok":true,"reference":"Go on."}`)},
			"The playbook says: Go on.", ""},
		{"any tool", []Message{user(`Please call the tool forget_memory with {"id":"f7"}`)}, "", `forget_memory {"id":"f7"}`},
		{"any tool that was run", []Message{user("call the tool log_it"), called("log_it", `{}`), result(`{"ok":true}`)}, `The tool says: {"ok":true}`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := withMemoryTools(complete, tc.messages...).answer("id")
			require.Equal(t, tc.want, got.Text)
			if tc.wantCall == "" {
				require.Empty(t, got.Calls)
				return
			}
			require.Len(t, got.Calls, 1)
			require.Equal(t, tc.wantCall, got.Calls[0].Function.Name+" "+got.Calls[0].Function.Arguments)
		})
	}
	t.Run("not offered", func(t *testing.T) {
		require.Equal(t, acknowledgement, request(complete, user("forget my knee")).answer("id").Text)
		require.Contains(t, request(complete, user("what do you know about me")).answer("id").Text, "a short walk")
	})
}

// TestNamesOfTools: what the script calls a tool is the name of one.
func TestNamesOfTools(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	names := regexp.MustCompile(`\n\ttool[A-Z]\w+ += "(\w+)"`)
	found := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, name := range names.FindAllStringSubmatch(string(source), -1) {
			found++
			if name[1] != toolUnknown {
				require.Contains(t, tools.Names(), name[1], file)
			}
		}
	}
	require.Positive(t, found)
}
