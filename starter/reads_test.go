package starter

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
)

// auditOf lists the audit's rows of the actions, newest first, as actor, action and
// participant.
func auditOf(h *harness, actions ...string) []string {
	h.t.Helper()
	var got []string
	for _, row := range result[api.AuditPage](h.t, h.do(call{method: "GET", path: auditPath + "?limit=200"})).Rows {
		for _, action := range actions {
			if row.Action == action {
				got = append(got, strings.TrimSpace(row.Actor+" "+row.Action+" "+row.ParticipantID))
			}
		}
	}
	return got
}

func TestReadingsAreAudited(t *testing.T) {
	now := testNow
	h := startWithAccess(t, func(cfg *Config) {
		cfg.Now = func() time.Time { return now }
		cfg.Codec = CodecConfig{Codec: converter.NewZlibCodec(converter.ZlibCodecOptions{AlwaysEncode: true})}
	})
	read := func(path string, follows bool) int {
		c := call{method: "GET", path: participantsPath + path}
		if follows {
			c.header = map[string]string{followHeader: "1"}
		}
		return h.do(c).status
	}
	actions := []string{readConversation, readMemory, readExport, readPayload}

	require.Equal(t, http.StatusNotFound, read("/conv_none/history", false))
	require.Empty(t, auditOf(h, actions...), "what was refused was not read")
	for range 3 {
		require.Equal(t, http.StatusOK, read("/conv_1/history", false))
	}
	require.Equal(t, http.StatusOK, read("/conv_1/memories", false))
	require.Equal(t, http.StatusOK, read("/conv_1/memory/export", false))
	require.Equal(t, http.StatusOK, h.do(call{method: "POST", path: codecDecode, body: `{"payloads":[]}`}).status)
	want := []string{"operator decode_payload", "operator export conv_1", "operator read_memory conv_1", "operator read_conversation conv_1"}
	require.Equal(t, want, auditOf(h, actions...))
	require.Equal(t, http.StatusOK, h.do(call{method: "POST", path: "/codec/encode", body: `{"payloads":[]}`}).status)
	require.Equal(t, http.StatusBadRequest, h.do(call{method: "POST", path: codecDecode, body: `nothing`}).status)

	now = now.Add(readStep - time.Second)
	read("/conv_1/history", false)
	require.Len(t, auditOf(h, actions...), 4, "one row in 15 minutes")
	now = now.Add(time.Second)
	require.Equal(t, http.StatusOK, read("/conv_1/history", true))
	require.Len(t, auditOf(h, actions...), 4, "a page that follows is under the row of the one that opened it")
	read("/conv_1/history", false)
	require.Len(t, auditOf(h, actions...), 5)

	_, secret := h.token(auth.PersonalRead)
	c := withToken(call{method: "GET", path: participantsPath + "/conv_1/history"}, secret)
	c.header[followHeader] = "1"
	h.do(c)
	require.Equal(t, "token:script read_conversation conv_1", auditOf(h, actions...)[0], "the header alone hides nobody")
}

func TestReadingIsRecordedAfterAFailure(t *testing.T) {
	h := startWithAccess(t, nil)
	h.faults.failOnce("INSERT INTO audit")
	for range 2 {
		require.Equal(t, http.StatusOK, h.do(call{method: "GET", path: participantsPath + "/conv_1/history"}).status)
	}
	require.Len(t, auditOf(h, readConversation), 1)
}

func TestReadingsAreBounded(t *testing.T) {
	r := newReadings(base{}, nil)
	for i := range maxReads {
		require.True(t, r.needsRow(reading{participant: fmt.Sprint(i)}, false, testNow))
	}
	require.True(t, r.needsRow(reading{actor: "one more"}, false, testNow.Add(readAge)))
	require.Len(t, r.seen, 1)
	require.False(t, r.needsRow(reading{actor: "one more"}, false, testNow.Add(readAge)))
}

func TestExportAudit(t *testing.T) {
	h := startWithAccess(t, nil)
	for i := range exportPage + 1 {
		body := fmt.Sprintf(`{"name":"Ada %d"}`, i)
		c := call{method: "PUT", path: participantsPath + "/conv_1", body: body, header: map[string]string{reasonHeader: "=1+2, \"so\""}}
		require.Equal(t, http.StatusOK, h.do(c).status)
	}
	got := h.do(call{method: "GET", path: auditPath + "/export?action=update"})
	require.Equal(t, http.StatusOK, got.status)
	require.Equal(t, `attachment; filename="audit.csv"`, got.header.Get("Content-Disposition"))
	table, err := csv.NewReader(strings.NewReader(got.raw)).ReadAll()
	require.NoError(t, err)
	require.Len(t, table, exportPage+2, "all pages")
	require.Equal(t, auditColumns, table[0])
	require.Equal(t, `'=1+2, "so"`, table[1][8], "no formula for a spreadsheet")
	require.JSONEq(t, `{"name":"Ada 200"}`, table[1][10])

	lines := h.do(call{method: "GET", path: auditPath + "/export?format=jsonl&action=update&since=2099-01-01T00:00:00Z"})
	require.Empty(t, lines.raw)
	lines = h.do(call{method: "GET", path: auditPath + "/export?format=jsonl&action=export"})
	var row models.AuditRow
	require.NoError(t, json.Unmarshal([]byte(lines.raw), &row))
	require.Equal(t, "export", row.Action)
	h.refused(call{method: "GET", path: auditPath + "/export?format=xls"}, http.StatusBadRequest, "format: must be one of")
}
