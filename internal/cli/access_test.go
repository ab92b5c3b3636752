package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBrokenAuditFails(t *testing.T) {
	api := newFakeAPI(t, map[string]string{"GET /audit/chain": `{"ok":false,"rows":2,"erased":0,"broken_at":3,"problem":"row 3 is missing"}`})
	for _, args := range []string{"audit verify", "audit verify --json"} {
		code, out, _ := api.call(t, args)
		require.Equal(t, exitFailed, code)
		require.Contains(t, out, "row 3 is missing")
	}
}

func TestSessionIsRevoked(t *testing.T) {
	api := newFakeAPI(t, map[string]string{"DELETE /sessions/ses_1": `{"id":"ses_1"}`})
	code, out, complaint := call(t, []string{"COACH_URL=" + api.URL}, "session", "revoke", "ses_1", "--reason", "left the\nprogramme")
	require.Equal(t, exitDone, code, complaint)
	require.Equal(t, "ses_1 is signed out.\n", out)
	require.Equal(t, "left the programme", api.asked[0].Header.Get("Coach-Reason"))
}

func TestPasswordEndsWithItsLine(t *testing.T) {
	password, err := firstLine(strings.NewReader("typed horse battery\r\nnot this\n"))
	require.NoError(t, err)
	require.Equal(t, "typed horse battery", password)
}
