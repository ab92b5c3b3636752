package starter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"gorm.io/gorm"

	"coachline/internal/api"
	"coachline/internal/store"
)

func TestOwnNumberIsNotEnrolled(t *testing.T) {
	h := start(t, nil)
	h.refused(call{method: "POST", path: participantsPath, body: `{"phone_number":"(501) 712-2661"}`},
		http.StatusBadRequest, "phone_number: is the programme's own number")
}

func TestInvalidUTF8IsRefused(t *testing.T) {
	h := start(t, nil)
	ann := h.ann()
	for _, c := range []call{
		{method: "POST", path: participantsPath, body: "{\"phone_number\":\"+15558675311\",\"name\":\"A\xff\"}"},
		{method: "POST", path: participantPathOf(ann.ID, "/chat"), body: "{\"body\":\"caf\xe9\"}"},
		{method: "POST", path: participantPathOf(ann.ID, "/messages"), body: "{\"body\":\"caf\xe9\"}"},
		{method: "GET", path: participantsPath + "?cursor=%ff"},
		{method: "GET", path: participantsPath + "/%ff"},
	} {
		h.refused(c, http.StatusBadRequest, "is not valid UTF-8")
	}
}

// What no database can hold and what no page gave is the caller's fault.
func TestDamagedAddressesAreRefused(t *testing.T) {
	h := start(t, nil)
	for _, path := range []string{participantsPath + "/a%00b", participantsPath + "?cursor=%00", "/people?name=a%00", "/erasures/%00"} {
		h.refused(call{method: "GET", path: path}, http.StatusBadRequest, "NUL")
	}
	for _, path := range []string{participantsPath, "/people", "/erasures", agendaPath, "/studies/default/decisions", "/attention", "/alerts", "/audit", holdsPath} {
		h.refused(call{method: "GET", path: path + "?cursor=damaged"}, http.StatusBadRequest, "cursor: ")
	}
}

func participantPathOf(id, suffix string) string { return participantsPath + "/" + id + suffix }

func TestRemovalHonoursIfMatch(t *testing.T) {
	h := start(t, nil)
	ann := h.ann()
	path := participantPathOf(ann.ID, "")
	require.Equal(t, http.StatusOK, h.do(call{method: "PUT", path: path, body: `{"name":"Anne"}`}).status)
	h.refused(call{method: "DELETE", path: path, header: map[string]string{"If-Match": `"1"`}},
		http.StatusPreconditionFailed, "somebody changed it meanwhile")
	h.refused(call{method: "DELETE", path: path, header: map[string]string{"If-Match": "newest"}}, http.StatusBadRequest, "If-Match: must be the version")
	require.Equal(t, http.StatusOK, h.do(call{method: "DELETE", path: path, header: map[string]string{"If-Match": `"2"`}}).status)
}

func TestErrorsSpeakOfTheAPI(t *testing.T) {
	h := start(t, nil)
	ann := h.ann()
	for _, tc := range []struct {
		c    call
		want string
	}{
		{call{method: "GET", path: participantPathOf(ann.ID, "/history?before=yesterday")}, "before: must be an instant such as 2026-03-02T09:00:00Z"},
		{call{method: "GET", path: participantPathOf(ann.ID, "/history?limit=many")}, "limit: must be a whole number"},
		{call{method: "POST", path: participantPathOf(ann.ID, "/messages"), body: `{"body":1e999}`}, "wrong type or out of range"},
		{call{method: "POST", path: participantPathOf(ann.ID, "/messages"), body: `{"body"`}, "body: is not valid JSON"},
		{call{method: "PUT", path: participantPathOf(ann.ID, ""), body: `{"tester":"yes"}`}, "tester: must be true or false"},
	} {
		got := h.refused(tc.c, http.StatusBadRequest, tc.want)
		for _, leak := range []string{"2006-01-02", "unmarshal", "Go ", "strconv", "json:"} {
			require.NotContains(t, got.raw, leak)
		}
	}
}

func TestAnswersAreNotKept(t *testing.T) {
	h := start(t, nil)
	ann := h.ann()
	for _, c := range []call{
		{method: "GET", path: participantPathOf(ann.ID, "")}, {method: "GET", path: participantPathOf(ann.ID, "/history")},
		{method: "GET", path: participantsPath}, {method: "GET", path: "/nowhere"}, {method: "GET", path: "/version"},
		{method: "GET", path: participantsPath, header: map[string]string{"Authorization": "Bearer x"}},
	} {
		got := h.do(c)
		require.Equal(t, "no-store", got.header.Get("Cache-Control"), c.path)
		require.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"), c.path)
	}
}

// lines is a log that tests read; it is safe for concurrent use.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.buf.String(), text)
}

func TestWrongTokensAreThrottled(t *testing.T) {
	log, now := &lines{}, testNow
	h := start(t, func(c *Config) {
		c.Logger = slog.New(slog.NewJSONHandler(log, nil))
		c.Now = func() time.Time { return now }
	})
	wrong := call{method: "GET", path: participantsPath, header: map[string]string{"Authorization": "Bearer wrong"}}
	for range tokenTries {
		h.refused(wrong, http.StatusUnauthorized, "bearer token")
	}
	for range 290 {
		got := h.refused(wrong, http.StatusTooManyRequests, "too many requests with a wrong token")
		require.Equal(t, "6", got.header.Get("Retry-After"))
	}
	require.Equal(t, http.StatusOK, h.do(call{method: "GET", path: participantsPath}).status, "the right token passes")
	require.Equal(t, tokenTries, log.count("API token refused"))
	figures := h.figures()
	require.Contains(t, figures, fmt.Sprintf("\ncoachline_api_refusals_total{reason=%q} %d\n", refusedToken, tokenTries))
	require.Contains(t, figures, fmt.Sprintf("\ncoachline_api_refusals_total{reason=%q} 290\n", refusedThrottled))
	require.Equal(t, 2, strings.Count(figures, "\ncoachline_api_refusals_total{"))
	now = now.Add(tokenEvery)
	h.refused(wrong, http.StatusUnauthorized, "bearer token")
	h.refused(wrong, http.StatusTooManyRequests, "too many")
}

func TestShortTokenIsRefused(t *testing.T) {
	cfg := Config{
		HTTP: HTTPConfig{Addr: "127.0.0.1:0", APIToken: "12345"}, Store: openStore(t, &faults{}, store.InboundLimits{}), Temporal: &fakeTemporal{},
		Carrier: CarrierConfig{Verifier: signed{}},
	}
	_, err := New(t.Context(), cfg)
	require.ErrorContains(t, err, "COACH_API_TOKEN must have at least 32 characters")
}

func TestDocumentDescribesCodecAndItself(t *testing.T) {
	h := start(t, func(c *Config) { c.Codec = CodecConfig{Codec: converter.NewZlibCodec(converter.ZlibCodecOptions{})} })
	var doc struct {
		Paths map[string]map[string]struct {
			Security    []map[string][]string `json:"security"`
			RequestBody json.RawMessage       `json:"requestBody"`
			Responses   map[string]struct {
				Content map[string]struct {
					Schema struct {
						Type string `json:"type"`
					} `json:"schema"`
				} `json:"content"`
			} `json:"responses"`
		} `json:"paths"`
	}
	require.NoError(t, json.Unmarshal([]byte(h.do(call{method: "GET", path: "/openapi.json"}).raw), &doc))
	for _, path := range []string{"/codec/decode", "/codec/encode"} {
		op := doc.Paths[path]["post"]
		require.Len(t, op.Security, 1, path)
		require.Contains(t, string(op.RequestBody), `"payloads"`)
		require.Equal(t, "object", op.Responses["200"].Content["application/json"].Schema.Type)
	}
	require.Equal(t, "object", doc.Paths["/openapi.json"]["get"].Responses["200"].Content["application/openapi+json"].Schema.Type)
}

func TestUnreadableRowsAreMarked(t *testing.T) {
	log := &lines{}
	h := start(t, func(c *Config) { c.Logger = slog.New(slog.NewJSONHandler(log, nil)) })
	ann := h.ann()
	const foreign = "bm90IHNlYWxlZCBieSBhbnkga2V5IG9mIG91cnM"
	h.change(ann.ID, map[string]any{"name": gorm.Expr("?", foreign), "gender": gorm.Expr("?", foreign)})
	page := result[api.ParticipantPage](t, h.do(call{method: "GET", path: participantsPath}))
	require.Equal(t, []string{"name", "gender"}, page.Participants[0].Unreadable)
	require.Equal(t, 1, log.count("cannot be opened"))
}
