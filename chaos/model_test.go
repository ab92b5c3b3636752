package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/sim/openai"
)

func TestModelAnswersWhatIsNew(t *testing.T) {
	const system = `{"role":"system","content":"# Participant\nName: p07\nTime zone: UTC"}`
	const tools = `,"tools":[{"type":"function"}]`
	called := `{"role":"assistant","content":null,"tool_calls":[{"id":"c1"}]},{"role":"tool","tool_call_id":"c1","content":"{}"}`
	user := func(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }
	said := func(text string) string { return fmt.Sprintf(`{"role":"assistant","content":%q}`, text) }
	for _, tc := range []struct{ name, messages, extra, want string }{
		{"one text", user("p07 m0001 hello"), tools, "re: p07 m0001"},
		{"a burst", user("p07 m0001 hello") + "," + user("p07 m0002 burst"), tools, "re: p07 m0001 m0002"},
		{"after an answer", user("p07 m0001 hello") + "," + said("re: p07 m0001") + "," + user("p07 m0002 hello"), tools, "re: p07 m0002"},
		{"a safety text in between", user("p07 m0001 hello\n\np07 m0002 i want to die\n[answered by the programme]\n\np07 m0003 hello"), tools, "re: p07 m0001 m0003"},
		{"a text after a tool", user("p07 m0003 daily 07:00") + "," + called + "," + said("[Nothing was sent.]") + "," + user("p07 m0004 hello"), tools, "re: p07 m0003 m0004"},
		{"a greeting", user("[hint] greet"), tools, "hello p07, number 3"},
		{"a prompt", user("[task] write"), "", "prompt for p07, number 3"},
		{"after a tool", user("p07 m0003 daily 07:00") + "," + called, tools, "re: p07 m0003"},
		{"no tools left", user("p07 m0003 daily 07:00"), "", "re: p07 m0003"},
		{"nothing new", user("STOP"), tools, "nothing to answer, number 3"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			require.Equal(t, tc.want, ask(t, system+","+tc.messages, tc.extra).Text)
		})
	}
	wish := ask(t, system+","+user("p07 m0003 daily 07:00")+","+user("p07 m0004 daily 08:00"), tools)
	require.Len(t, wish.Calls, 2, "each wish is a call")
}

func ask(t *testing.T, messages, extra string) openai.Answer {
	t.Helper()
	r, err := openai.ReadRequest([]byte(`{"model":"m","messages":[` + messages + `]` + extra + `}`))
	require.NoError(t, err)
	return answer(r, 3)
}
