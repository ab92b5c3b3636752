package starter

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/models/wire"
)

// keyed is a call with an Idempotency-Key.
func keyed(path, key, body string) call {
	return call{method: "POST", path: path, body: body, header: map[string]string{keyHeader: key}}
}

func (h *harness) countAudit(action string) int {
	h.t.Helper()
	page := result[api.AuditPage](h.t, h.do(call{method: "GET", path: auditPath + "?action=" + action}))
	return len(page.Rows)
}

// loseAnswers has the process end before it keeps the answer of a request.
func (h *harness) loseAnswers() {
	h.faults.onCommit(func(queries string, run func() error) error {
		for query := range strings.Lines(queries) {
			if !strings.Contains(query, "request_keys") {
				return run()
			}
		}
		return errDown
	})
}

func TestRepeatedRequestsAreCarriedOutOnce(t *testing.T) {
	h := start(t, nil)
	ann := h.ann()
	for _, one := range []struct{ path, body, action string }{
		{holdsPath, `{"until":"2026-11-26T08:00:00Z","reason":"Thanksgiving"}`, "hold"},
		{studiesPath, `{"id":"walk","name":"Walk"}`, "study_add"},
		{studiesPath + "/walk/consent-texts", `{"locale":"en","body":"You agree to a text a day."}`, "consent_text_add"},
		{usersPath, `{"login":"grace","name":"Grace","role":"viewer","password":"a long enough password"}`, "user_create"},
		{viewsPath, `{"name":"Silent","query":"silent_days=3"}`, "view_add"},
		{participantsPath + "/" + ann.ID + "/takeover", `{"note":"a call"}`, "take_over"},
	} {
		first := h.do(keyed(one.path, "k-"+one.action, one.body))
		require.Less(t, first.status, 300, first.raw)
		require.Empty(t, first.header.Get(repeatedHeader))
		again := h.do(keyed(one.path, "k-"+one.action, one.body))
		require.Equal(t, first.raw, again.raw)
		require.Equal(t, first.status, again.status)
		require.Equal(t, "true", again.header.Get(repeatedHeader))
		for _, name := range []string{"Location", "Etag", "Content-Type"} {
			require.Equal(t, first.header.Values(name), again.header.Values(name), name)
		}
		require.Equal(t, 1, h.countAudit(one.action), one.action)
		h.refused(keyed(one.path, "k-"+one.action, strings.Replace(one.body, "}", " }", 1)), http.StatusConflict, keyHeader+": already used for another request")
	}
}

func TestRepetitionOfASecretIsRefused(t *testing.T) {
	h := start(t, nil)
	for path, body := range map[string]string{
		tokensPath:   `{"name":"sheet","scopes":["participant:read"],"expires_at":"2026-12-24T13:00:00Z"}`,
		webhooksPath: `{"url":"https://hooks.example.org/coach"}`,
	} {
		first := h.do(keyed(path, "k"+path, body))
		require.Equal(t, http.StatusCreated, first.status, first.raw)
		h.refused(keyed(path, "k"+path, body), http.StatusConflict, "its answer was not kept")
	}
}

// A process may end between its work and the record of its answer.
func TestRepetitionWithoutAnAnswerIsRefused(t *testing.T) {
	h := start(t, nil)
	h.loseAnswers()
	const body = `{"until":"2026-11-26T08:00:00Z"}`
	require.Equal(t, http.StatusCreated, h.do(keyed(holdsPath, "k", body)).status)
	h.faults.onCommit(nil)
	refused := h.refused(keyed(holdsPath, "k", body), http.StatusConflict, "still being answered")
	require.Equal(t, "1", refused.header.Get("Retry-After"))
	require.Equal(t, 1, h.countAudit("hold"))
}

func TestEqualRequestsAtOnceAreOne(t *testing.T) {
	h := start(t, nil)
	for path, body := range map[string]string{
		holdsPath:   `{"until":"2026-11-26T08:00:00Z"}`,
		studiesPath: `{"id":"walk","name":"Walk"}`, // whose second row would be a conflict of its own
	} {
		var faster reply
		h.between("FROM request_keys", func() { faster = h.do(keyed(path, "k"+path, body)) })
		slower := h.do(keyed(path, "k"+path, body))
		require.Equal(t, http.StatusCreated, faster.status, faster.raw)
		require.Equal(t, faster.raw, slower.raw)
		require.Equal(t, "true", slower.header.Get(repeatedHeader))
	}
	require.Equal(t, 1, h.countAudit("hold"))
}

func TestRefusedRequestMayBeTriedAgain(t *testing.T) {
	h := start(t, nil)
	h.refused(keyed(holdsPath, "k", `{"until":"2026-11-24T12:59:59Z"}`), http.StatusBadRequest, "until: must be in the future")
	require.Equal(t, http.StatusCreated, h.do(keyed(holdsPath, "k", `{"until":"2026-11-26T08:00:00Z"}`)).status)
	h.refused(keyed(holdsPath, strings.Repeat("k", maxKey+1), `{"until":"2026-11-26T08:00:00Z"}`), http.StatusBadRequest, keyHeader+": must have at most 200 characters")
	large := h.call(keyed(holdsPath, "large", `{"reason":"`+strings.Repeat("x", maxAPIBody)+`"}`))
	h.requireRefused(large, http.StatusRequestEntityTooLarge, "body: larger than")
}

// What a workflow does is not in a transaction with the key; the update has one id.
func TestRepeatedUpdateHasOneID(t *testing.T) {
	h := start(t, nil)
	ann := h.ann()
	h.engine.status = wire.StatusView{Status: wire.StatusActive, Mode: wire.ModeIntake}
	h.loseAnswers()
	for range 2 {
		set := h.do(keyed(participantsPath+"/"+ann.ID+"/mode", "k", `{"target_state":"INTAKE"}`))
		require.Equal(t, http.StatusOK, set.status, set.raw)
	}
	require.Len(t, h.engine.updates, 2)
	require.Equal(t, h.engine.updates[0].UpdateID, h.engine.updates[1].UpdateID)
	h.faults.onCommit(nil)
	h.do(keyed(participantsPath+"/"+ann.ID+"/mode", "other", `{"target_state":"INTAKE"}`))
	require.NotEqual(t, h.engine.updates[0].UpdateID, h.engine.updates[2].UpdateID)
}

func TestEveryPostTakesAKey(t *testing.T) {
	h := start(t, nil)
	var document struct {
		Paths map[string]map[string]struct {
			Security   []map[string][]string
			Parameters []struct{ Name string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(h.do(call{method: "GET", path: "/openapi.json"}).raw), &document))
	posts := 0
	for path, operations := range document.Paths {
		post, isThere := operations["post"]
		if !isThere || path == inboundPath || path == statusPath || slices.Contains(codecPaths, path) {
			continue
		}
		posts++
		found := 0
		for _, p := range post.Parameters {
			if p.Name == keyHeader {
				found++
			}
		}
		require.Equal(t, 1, found, path)
	}
	require.Greater(t, posts, 20)
}
