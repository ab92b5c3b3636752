package twilio

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The vectors are those that the carrier publishes.
func TestSignVectors(t *testing.T) {
	form := url.Values{
		"MessageSid": {"SM" + strings.Repeat("0", 31) + "1"}, "From": {"+15558675310"}, "To": {"+15017122661"},
		"Body": {"Hi 👍 a=b&c"}, "NumMedia": {"0"},
	}
	require.Equal(t, "GwggAZ6Qi6X52uo44DTbq1oXoRY=", Sign("12345", "https://coach.example.org/v1/twilio/inbound", form))
}

func states(hooks []hook) []string {
	var list []string
	for _, h := range hooks {
		list = append(list, h.form.Get("MessageStatus"))
	}
	return list
}

func TestStatusCallbacks(t *testing.T) {
	a := newApp(t, nil)
	b := start(t, config(a))
	form := url.Values{"To": {ada}, "From": {coachPhone}, "Body": {"hello"}, "StatusCallback": {a.URL + "/own?outbox=conv_1-t2-p1#rc=1"}}
	code, answer := answered(t, b.sendRequest(t, form))
	require.Equal(t, http.StatusCreated, code)

	hooks := a.wait(t, 3)
	require.Equal(t, []string{"queued", "sent", "delivered"}, states(hooks))
	for _, h := range hooks {
		require.True(t, h.signed)
		require.Equal(t, "/own", h.path)
		for name, want := range map[string]string{
			"MessageSid": answer["sid"].(string), "SmsSid": answer["sid"].(string), "SmsStatus": h.form.Get("MessageStatus"),
			"To": ada, "From": coachPhone, "AccountSid": testSID, "ApiVersion": "2010-04-01",
		} {
			require.Equal(t, want, h.form.Get(name), name)
		}
		require.NotContains(t, h.form, "Body")
	}
	b.settled(t, ada, "delivered")
}

func TestStatusURLStandsIn(t *testing.T) {
	a := newApp(t, nil)
	b := start(t, config(a))
	b.send(t, ada, "hello")
	require.Equal(t, "/twilio/status", a.wait(t, 3)[2].path)
}

func TestInboundWebhook(t *testing.T) {
	a := newApp(t, nil)
	b := start(t, config(a))
	sid := b.text(t, ada, "Hi 👍 a=b&c")
	h := a.wait(t, 1)[0]
	require.True(t, h.signed)
	require.Equal(t, "/twilio/inbound", h.path)
	require.Regexp(t, `^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$`, h.token)
	for name, want := range map[string]string{
		"MessageSid": sid, "SmsSid": sid, "SmsMessageSid": sid, "AccountSid": testSID, "From": ada, "To": coachPhone,
		"Body": "Hi 👍 a=b&c", "NumMedia": "0", "NumSegments": "1", "SmsStatus": "received", "ApiVersion": "2010-04-01", "FromCountry": "US",
	} {
		require.Equal(t, want, h.form.Get(name), name)
	}
	require.NotContains(t, h.form, "OptOutType")
	b.settled(t, ada, "received")
	shown := b.screen(t, ada)[0]
	require.Equal(t, "from_phone", shown["direction"])
	require.Equal(t, sid, shown["sid"])
}

func TestInboundIsRepeatedUntilTheAppTakesIt(t *testing.T) {
	a := newApp(t, func(n int, _ hook) int {
		return []int{http.StatusServiceUnavailable, http.StatusInternalServerError, http.StatusOK}[min(n, 2)]
	})
	b := start(t, config(a))
	b.text(t, ada, "one")
	b.text(t, ada, "two")
	hooks := a.wait(t, 4)
	require.Equal(t, "one", hooks[2].form.Get("Body"))
	require.Equal(t, hooks[0].token, hooks[1].token)
	require.Equal(t, hooks[0].token, hooks[2].token)
	require.Equal(t, "two", hooks[3].form.Get("Body"), "the second waits for the first")
	require.NotEqual(t, hooks[0].token, hooks[3].token)
}

func TestInboundRefusedIsNotRepeated(t *testing.T) {
	a := newApp(t, func(int, hook) int { return http.StatusForbidden })
	b := start(t, config(a))
	b.text(t, ada, "one")
	b.settled(t, ada, "failed")
	require.Len(t, a.wait(t, 1), 1)
}

func TestInboundKeepsTheOrderOfAPhone(t *testing.T) {
	a := newApp(t, nil)
	b := start(t, config(a))
	const each = 20
	for i := range each {
		b.text(t, ada, fmt.Sprint(i))
		b.text(t, ben, fmt.Sprint(i))
	}
	next := map[string]int{}
	for _, h := range a.wait(t, 2*each) {
		from := h.form.Get("From")
		require.Equal(t, fmt.Sprint(next[from]), h.form.Get("Body"))
		next[from]++
	}
}

func TestPhonesDoNotWaitForEachOther(t *testing.T) {
	release := make(chan struct{})
	a := newApp(t, func(_ int, h hook) int {
		if h.form.Get("From") == ada {
			<-release
		}
		return http.StatusOK
	})
	b := start(t, config(a))
	b.text(t, ada, "stuck")
	b.text(t, ben, "quick")
	b.settled(t, ben, "received")
	require.Equal(t, "queued", b.screen(t, ada)[0]["status"])
	close(release)
	b.settled(t, ada, "received")
}

func TestCloseWaitsForWebhooksInFlight(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	a := newApp(t, func(int, hook) int {
		close(arrived)
		<-release
		return http.StatusOK
	})
	sim, err := New(config(a))
	require.NoError(t, err)
	server := httptest.NewServer(sim.Handler())
	t.Cleanup(server.Close)
	(&bench{Server: server, sim: sim}).text(t, ada, "in flight")
	<-arrived
	closed := make(chan error, 1)
	go func() { closed <- sim.Close() }()
	<-sim.closing.Done()
	require.Empty(t, closed, "it waits for the answer")
	close(release)
	require.NoError(t, <-closed)
	text := sim.network.shownOn(ada)[0]
	require.Equal(t, statusReceived, text.Status)
}

func TestRestartShowsTheSamePhones(t *testing.T) {
	cfg := config(nil)
	cfg.Dir = filepath.Join(t.TempDir(), "sim")
	first := start(t, cfg)
	first.send(t, ada, "kept")
	first.settled(t, ada, "delivered")
	first.do(t, http.MethodPost, "/sim/phones", map[string]string{"number": ben})
	first.do(t, http.MethodPost, "/v1/chat/completions", chat("hi"))
	before := first.screen(t, ada)
	_, phones := first.do(t, http.MethodGet, "/sim/phones", nil)
	require.Equal(t, scriptNote, phones["script"])
	require.NoError(t, first.sim.Close())

	path := filepath.Join(cfg.Dir, journalFile)
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString(`{"text":{"sid":"SM`) // The process was killed in the middle of a line.
	require.NoError(t, err)
	require.NoError(t, file.Close())

	second := start(t, cfg)
	require.Equal(t, before, second.screen(t, ada))
	_, again := second.do(t, http.MethodGet, "/sim/phones", nil)
	require.Equal(t, phones, again)
	second.send(t, ben, "after")
	require.NoError(t, second.sim.Close())
	require.Len(t, start(t, cfg).screen(t, ben), 1, "the torn line was mended")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestRestartGoesOnWithWhatIsOwed(t *testing.T) {
	var up atomic.Bool
	a := newApp(t, func(int, hook) int {
		if up.Load() {
			return http.StatusOK
		}
		return http.StatusServiceUnavailable
	})
	cfg := config(a)
	cfg.Dir = t.TempDir()
	first := start(t, cfg)
	sid := first.text(t, ada, "said while the app was down")
	a.wait(t, 1)
	first.send(t, ben, "not reported")
	a.wait(t, 2)
	require.NoError(t, first.sim.Close())
	up.Store(true)
	a.mu.Lock()
	a.hooks = nil
	a.mu.Unlock()

	second := start(t, cfg)
	second.settled(t, ada, "received")
	second.settled(t, ben, "delivered")
	byPath := map[string][]hook{}
	for _, h := range a.wait(t, 4) {
		byPath[h.path] = append(byPath[h.path], h)
	}
	require.Len(t, byPath["/twilio/inbound"], 1)
	require.Equal(t, sid, byPath["/twilio/inbound"][0].form.Get("MessageSid"))
	require.Equal(t, inboundToken(sid), byPath["/twilio/inbound"][0].token)
	require.Equal(t, []string{"queued", "sent", "delivered"}, states(byPath["/twilio/status"]))
}

func TestBrokenJournalIsNamed(t *testing.T) {
	cfg := config(nil)
	cfg.Dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(cfg.Dir, journalFile), []byte("{}\nnot json\n"), 0o600))
	_, err := New(cfg)
	require.ErrorContains(t, err, journalFile)
	require.ErrorContains(t, err, "line 2")
}

func TestDeliveryDelay(t *testing.T) {
	a := newApp(t, nil)
	cfg := config(a)
	cfg.DeliveryDelay = time.Hour
	b := start(t, cfg)
	b.send(t, ada, "slow")
	a.wait(t, 1)
	require.Equal(t, "queued", b.screen(t, ada)[0]["status"])
	require.NoError(t, b.sim.Close(), "a delay does not hold up the end")
}
