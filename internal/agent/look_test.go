package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

func TestParseLook(t *testing.T) {
	for answer, want := range map[string]models.LookState{
		`{"danger":"none","about":"general","kind":"other","reason":"a film"}`:                                  models.LookNone,
		"Sure! ```json\n{\"danger\": \"Clear\", \"about\": \"self\", \"kind\": \"suicide\", \"reason\": \"x\"}": models.LookClear,
		`<think>{"danger":"none"}</think>{"danger":"possible","about":"another"}`:                               models.LookPossible,
	} {
		verdict, err := parseLook(answer)
		require.NoError(t, err, answer)
		require.Equal(t, want, verdict.State, answer)
	}
	for _, answer := range []string{
		"", "none", `{"danger":"maybe","about":"self"}`, `{"danger":"due","about":"self"}`, `{"danger":"failed","about":"self"}`, `{"about":"self"}`,
		`{"danger":"none"}`, `{"danger":"none","about":"me"}`, `["none"]`, "I cannot help with that.",
	} {
		_, err := parseLook(answer)
		require.Error(t, err, answer)
	}
}
