package starter

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"coachline/internal/api"
	"coachline/internal/database"
	"coachline/internal/dbtest"
	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/models"
)

const (
	testToken   = "token-of-the-tests-0123456789abcdef"
	testAccount = "AC00000000000000000000000000000001"
	ourNumber   = "+15017122661"
	herNumber   = "+15558675310"
)

var testNow = time.Date(2026, 11, 24, 13, 0, 0, 0, time.UTC)

// signed accepts every request that carries the header.
type signed struct{}

func (signed) Check(r *http.Request, _ url.Values) error {
	if r.Header.Get("X-Twilio-Signature") != "good" {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// harness is a server over a store in memory of its own; faults stand between the two.
type harness struct {
	t      *testing.T
	rows   *store.Store
	faults *faults
	engine *fakeTemporal
	server *Server
	stop   func()
}

func start(t *testing.T, change func(*Config)) *harness {
	t.Helper()
	return startLimited(t, store.InboundLimits{}, change)
}

// startLimited is start with limits of inbound texts.
func startLimited(t *testing.T, limits store.InboundLimits, change func(*Config)) *harness {
	t.Helper()
	h := &harness{t: t, faults: &faults{}, engine: &fakeTemporal{}}
	h.rows = openStore(t, h.faults, limits)
	cfg := Config{
		HTTP: HTTPConfig{Addr: "127.0.0.1:0", APIToken: testToken}, Store: h.rows, Temporal: h.engine,
		Carrier:  CarrierConfig{Verifier: signed{}, AccountSID: testAccount, OurNumbers: []string{ourNumber}},
		Defaults: Defaults{Zone: "America/New_York", Region: "US"},
		Relay:    RelayConfig{Interval: time.Hour},
		Version:  "v0-test", Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return testNow },
	}
	if change != nil {
		change(&cfg)
	}
	ctx, cancel := context.WithCancel(context.Background())
	server, err := New(ctx, cfg)
	require.NoError(t, err)
	h.server = server
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx) }()
	stopped := false
	h.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		require.NoError(t, <-done)
	}
	t.Cleanup(h.stop)
	return h
}

// openStore opens a store on SQLite behind faults.
func openStore(t *testing.T, between *faults, limits store.InboundLimits) *store.Store {
	t.Helper()
	ring, err := seal.Parse("k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	require.NoError(t, err)
	ctx := database.WithConnector(t.Context(), between.wrap)
	rows, err := store.Open(ctx, store.Config{URL: dbtest.SQLite(t), Sealer: ring, Limits: limits})
	require.NoError(t, err)
	t.Cleanup(func() {
		between.fail(nil)
		require.NoError(t, rows.Close())
	})
	return rows
}

// startWithStore serves a store that the caller reads and writes too.
func startWithStore(t *testing.T, change func(*Config)) (*harness, *store.Store) {
	t.Helper()
	h := start(t, change)
	return h, h.rows
}

// listRows reads all rows of a table in the order of a column.
func listRows[Row any](h *harness, order string) []Row {
	h.t.Helper()
	var rows []Row
	require.NoError(h.t, h.rows.Database().Reader(context.Background()).Order(order).Find(&rows).Error)
	return rows
}

// addRows writes rows that no call of the API would.
func (h *harness) addRows(rows ...any) {
	h.t.Helper()
	require.NoError(h.t, h.rows.Database().Write(context.Background(), func(tx *gorm.DB) error {
		for _, row := range rows {
			if err := tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(row).Error; err != nil {
				return err
			}
		}
		return nil
	}))
}

// change writes columns of a participant that no call of the API would.
func (h *harness) change(id string, columns map[string]any) {
	h.t.Helper()
	require.NoError(h.t, h.rows.Database().Write(context.Background(), func(tx *gorm.DB) error {
		return tx.Model(&models.Participant{}).Where("id = ?", id).UpdateColumns(columns).Error
	}))
}

// undelivered counts the notices that the workflow was not told of.
func (h *harness) undelivered() int {
	h.t.Helper()
	rows, err := h.rows.Notices.PendingNotices(context.Background(), testNow.AddDate(100, 0, 0), 1000)
	require.NoError(h.t, err)
	return len(rows)
}

// audits are the rows of the audit with an action, oldest first.
func (h *harness) audits(action string) []models.AuditRow {
	h.t.Helper()
	rows, err := h.rows.Audit.AuditRows(context.Background(), models.AuditQuery{AuditFilter: models.AuditFilter{Action: action}})
	require.NoError(h.t, err)
	slices.Reverse(rows)
	return rows
}

// between runs a function once, after the next statement with a part, which a test
// that asks for it must come to.
func (h *harness) between(part string, fn func()) {
	h.t.Helper()
	var ran atomic.Bool
	h.faults.between(part, func() { ran.Store(true); fn() })
	h.t.Cleanup(func() { require.True(h.t, ran.Load(), "no statement with %q was run", part) })
}

type reply struct {
	status int
	header http.Header
	raw    string
	body   struct {
		Status  string          `json:"status"`
		Message string          `json:"message"`
		Code    string          `json:"code"`
		Field   string          `json:"field"`
		Request string          `json:"request_id"`
		Result  json.RawMessage `json:"result"`
	}
}

type call struct {
	method, path, body string
	header             map[string]string
}

// request is what a caller of the API sends.
func (h *harness) request(c call) *http.Request {
	h.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), c.method, "http://"+h.server.Addr()+c.path, strings.NewReader(c.body))
	require.NoError(h.t, err)
	req.Header.Set("Authorization", "Bearer "+testToken)
	if c.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range c.header {
		req.Header.Set(name, value)
		if value == "" {
			req.Header.Del(name)
		}
	}
	return req
}

func (h *harness) do(c call) reply {
	h.t.Helper()
	res, err := http.DefaultClient.Do(h.request(c))
	require.NoError(h.t, err)
	return h.read(c, res)
}

// call passes a request to the handler without a network: a server that refuses
// a body before it has read all of it may cut the connection while the caller
// still writes.
func (h *harness) call(c call) reply {
	h.t.Helper()
	answer := httptest.NewRecorder()
	h.server.http.Handler.ServeHTTP(answer, h.request(c))
	return h.read(c, answer.Result())
}

func (h *harness) read(c call, res *http.Response) reply {
	h.t.Helper()
	raw, err := io.ReadAll(res.Body)
	require.NoError(h.t, err)
	require.NoError(h.t, res.Body.Close())
	out := reply{status: res.StatusCode, header: res.Header, raw: string(raw)}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.DisallowUnknownFields()
		require.NoError(h.t, decoder.Decode(&out.body), out.raw)
	}
	h.requireDocumented(c, out)
	return out
}

// refused requires an error envelope with the status and the message.
func (h *harness) refused(c call, status int, message string) reply {
	h.t.Helper()
	return h.requireRefused(h.do(c), status, message)
}

func (h *harness) requireRefused(got reply, status int, message string) reply {
	h.t.Helper()
	require.Equal(h.t, status, got.status, got.raw)
	require.Equal(h.t, "error", got.body.Status)
	require.Contains(h.t, got.body.Message, message)
	require.Empty(h.t, got.body.Result)
	return got
}

func (h *harness) enrol(body string) api.Participant {
	h.t.Helper()
	got := h.do(call{method: "POST", path: participantsPath, body: body})
	require.Equal(h.t, http.StatusCreated, got.status, got.raw)
	return result[api.Participant](h.t, got)
}

func (h *harness) ann() api.Participant {
	h.t.Helper()
	return h.enrol(`{"phone_number":"` + herNumber + `","name":"Ann","timezone":"Europe/Berlin"}`)
}

func result[T any](t *testing.T, r reply) T {
	t.Helper()
	var out T
	require.NoError(t, json.Unmarshal(r.body.Result, &out), r.raw)
	return out
}

// text posts an inbound webhook.
func (h *harness) text(sid, body string) reply {
	h.t.Helper()
	form := url.Values{
		"MessageSid": {sid}, "AccountSid": {testAccount}, "From": {herNumber}, "To": {ourNumber},
		"Body": {body}, "NumMedia": {"0"},
	}
	return h.webhook(inboundPath, form)
}

func (h *harness) webhook(path string, form url.Values) reply {
	h.t.Helper()
	return h.do(call{method: "POST", path: path, body: form.Encode(), header: map[string]string{
		"Content-Type": formType, "X-Twilio-Signature": "good", "Authorization": "",
	}})
}

func sid(n byte) string { return "SM" + strings.Repeat("0", 31) + string('0'+n) }
