package twilio

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	twilio "github.com/twilio/twilio-go/client"
)

const (
	testSID    = "AC00000000000000000000000000000001"
	testToken  = "0123456789abcdef0123456789abcdef"
	coachPhone = "+15005550006"
	ada        = "+15551230001"
	ben        = "+15551230002"
	waiting    = 10 * time.Second
)

// hook is one webhook that the app got.
type hook struct {
	path   string
	form   url.Values
	token  string
	signed bool
}

// app stands in for the product: it records webhooks and checks signatures.
type app struct {
	*httptest.Server
	mu    sync.Mutex
	hooks []hook
	came  chan struct{}
	// answer decides the status of the n-th webhook (from 0).
	answer func(n int, h hook) int
}

func newApp(t *testing.T, answer func(n int, h hook) int) *app {
	t.Helper()
	a := &app{came: make(chan struct{}, 1000), answer: answer}
	a.Server = httptest.NewServer(http.HandlerFunc(a.serve))
	t.Cleanup(a.Close)
	return a
}

func (a *app) serve(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	params := map[string]string{}
	for name := range r.PostForm {
		params[name] = r.PostForm.Get(name)
	}
	validator := twilio.NewRequestValidator(testToken)
	h := hook{
		path: r.URL.Path, form: r.PostForm, token: r.Header.Get("I-Twilio-Idempotency-Token"),
		signed: validator.Validate(a.URL+r.RequestURI, params, r.Header.Get("X-Twilio-Signature")),
	}
	a.mu.Lock()
	n := len(a.hooks)
	a.hooks = append(a.hooks, h)
	a.mu.Unlock()
	if a.answer != nil {
		w.WriteHeader(a.answer(n, h))
	}
	a.came <- struct{}{}
}

// wait returns the first n webhooks, in the order they came.
func (a *app) wait(t *testing.T, n int) []hook {
	t.Helper()
	deadline := time.After(waiting)
	for {
		a.mu.Lock()
		hooks := append([]hook{}, a.hooks...)
		a.mu.Unlock()
		if len(hooks) >= n {
			return hooks
		}
		select {
		case <-a.came:
		case <-deadline:
			require.FailNow(t, "webhooks did not come", "got %d of %d", len(hooks), n)
		}
	}
}

func config(a *app) Config {
	cfg := Config{AccountSID: testSID, AuthToken: testToken, From: coachPhone}
	if a != nil {
		cfg.InboundURL = a.URL + "/twilio/inbound"
		cfg.StatusURL = a.URL + "/twilio/status"
	}
	return cfg
}

// bench is a running simulator and a client for it.
type bench struct {
	*httptest.Server
	sim *Server
}

func start(t *testing.T, cfg Config) *bench {
	t.Helper()
	sim, err := New(cfg)
	require.NoError(t, err)
	server := httptest.NewServer(sim.Handler())
	server.Config.ErrorLog = nil
	t.Cleanup(func() {
		require.NoError(t, sim.Close())
		server.Close()
	})
	return &bench{Server: server, sim: sim}
}

// do sends a request and decodes a JSON answer.
func (b *bench) do(t *testing.T, method, path string, body any) (int, map[string]any) {
	t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	req, err := http.NewRequest(method, b.URL+path, bytes.NewReader(raw))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer key")
	return answered(t, req)
}

func answered(t *testing.T, req *http.Request) (int, map[string]any) {
	t.Helper()
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var answer map[string]any
	if len(raw) > 0 {
		require.NoError(t, json.Unmarshal(raw, &answer), "%s", raw)
	}
	return resp.StatusCode, answer
}

const messagesPath = "/2010-04-01/Accounts/" + testSID + "/Messages"

func (b *bench) sendRequest(t *testing.T, form url.Values) *http.Request {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, b.URL+messagesPath+".json", strings.NewReader(form.Encode()))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(testSID, testToken)
	return req
}

// send posts one text to the carrier.
func (b *bench) send(t *testing.T, to, body string) (int, map[string]any) {
	t.Helper()
	return answered(t, b.sendRequest(t, url.Values{"To": {to}, "From": {coachPhone}, "Body": {body}}))
}

func (b *bench) list(t *testing.T, query string) []map[string]any {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, b.URL+messagesPath+".json?"+query, nil)
	require.NoError(t, err)
	req.SetBasicAuth(testSID, testToken)
	code, answer := answered(t, req)
	require.Equal(t, http.StatusOK, code)
	return objects(t, answer["messages"])
}

func objects(t *testing.T, list any) []map[string]any {
	t.Helper()
	items, isList := list.([]any)
	require.True(t, isList, "%v", list)
	found := make([]map[string]any, len(items))
	for i, item := range items {
		found[i] = item.(map[string]any)
	}
	return found
}

// screen is what a phone shows.
func (b *bench) screen(t *testing.T, number string) []map[string]any {
	t.Helper()
	code, answer := b.do(t, http.MethodGet, "/sim/phones/"+number+"/messages", nil)
	require.Equal(t, http.StatusOK, code)
	return objects(t, answer["messages"])
}

func (b *bench) text(t *testing.T, number, body string) string {
	t.Helper()
	code, answer := b.do(t, http.MethodPost, "/sim/phones/"+number+"/messages", map[string]string{"body": body})
	require.Equal(t, http.StatusAccepted, code, "%v", answer)
	return answer["sid"].(string)
}

func (b *bench) arm(t *testing.T, fault map[string]any) {
	t.Helper()
	code, answer := b.do(t, http.MethodPost, "/sim/faults", fault)
	require.Equal(t, http.StatusCreated, code, "%v", answer)
}

// settled waits until the newest text of a phone has a state.
func (b *bench) settled(t *testing.T, number, state string) {
	t.Helper()
	require.Eventually(t, func() bool {
		screen := b.screen(t, number)
		return len(screen) > 0 && screen[len(screen)-1]["status"] == state
	}, waiting, 5*time.Millisecond)
}

func TestNewNamesTheSetting(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   func(*Config)
		want string
	}{
		{"no account", func(c *Config) { c.AccountSID = "" }, "AccountSID"},
		{"no token", func(c *Config) { c.AuthToken = "" }, "AuthToken"},
		{"no number", func(c *Config) { c.From = "coach" }, "From"},
		{"bad inbound address", func(c *Config) { c.InboundURL = "localhost:8080" }, "InboundURL"},
		{"bad status address", func(c *Config) { c.StatusURL = "/status" }, "StatusURL"},
		{"bad participants address", func(c *Config) { c.ParticipantsURL = "/conversation/participants" }, "ParticipantsURL"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := config(nil)
			tc.in(&cfg)
			_, err := New(cfg)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestVersionSaysItIsAScript(t *testing.T) {
	b := start(t, config(nil))
	code, answer := b.do(t, http.MethodGet, "/version", nil)
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "This is a script, not a model.", answer["note"])
}

func TestPhones(t *testing.T) {
	b := start(t, config(nil))
	code, _ := b.do(t, http.MethodPost, "/sim/phones", map[string]string{"number": ada})
	require.Equal(t, http.StatusCreated, code)
	code, _ = b.send(t, ben, "hello")
	require.Equal(t, http.StatusCreated, code)

	code, answer := b.do(t, http.MethodGet, "/sim/phones", nil)
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, coachPhone, answer["coach"])
	require.Empty(t, answer["script"], "nothing was answered by the script yet")
	phones := objects(t, answer["phones"])
	require.Len(t, phones, 2)
	require.Equal(t, ada, phones[0]["number"])
	require.InDelta(t, 0, phones[0]["messages"], 0)
	require.Equal(t, "hello", phones[1]["last"])
}

func TestPhonesRefuse(t *testing.T) {
	a := newApp(t, nil)
	b := start(t, config(a))
	for _, tc := range []struct {
		name, path string
		body       any
		field      string
	}{
		{"short number", "/sim/phones", map[string]string{"number": "12345"}, "number"},
		{"the coach's number", "/sim/phones", map[string]string{"number": coachPhone}, "number"},
		{"unknown field", "/sim/phones", map[string]string{"phone": ada}, "phone"},
		{"wrong type", "/sim/phones", map[string]int{"number": 5}, "number"},
		{"no object", "/sim/phones", "x", ""},
		{"no text", "/sim/phones/" + ada + "/messages", map[string]string{}, "body"},
		{"text from a short number", "/sim/phones/911/messages", map[string]string{"body": "x"}, "number"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, answer := b.do(t, http.MethodPost, tc.path, tc.body)
			require.Equal(t, http.StatusBadRequest, code)
			require.Equal(t, tc.field, answer["field"])
		})
	}
}

func TestOtherSitesCannotText(t *testing.T) {
	a := newApp(t, nil)
	b := start(t, config(a))
	req, err := http.NewRequest(http.MethodPost, b.URL+"/sim/phones/"+ada+"/messages", strings.NewReader(`{"body":"x"}`))
	require.NoError(t, err)
	req.Header.Set("Origin", "https://example.org")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, http.StatusForbidden, resp.StatusCode)
}

func TestTextingInNeedsAnAddress(t *testing.T) {
	b := start(t, config(nil))
	code, answer := b.do(t, http.MethodPost, "/sim/phones/"+ada+"/messages", map[string]string{"body": "hi"})
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Contains(t, answer["error"], "no address")
}
