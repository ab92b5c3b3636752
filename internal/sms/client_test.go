package sms

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

const (
	account = "AC00000000000000000000000000000001"
	token   = "12345"
	person  = "+15558675310"
	sender  = "+15017122661"
	sid     = "SM00000000000000000000000000000001"
)

func client(t *testing.T, handler http.HandlerFunc, change func(*Config)) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	cfg := Config{AccountSID: account, AuthToken: token, From: sender, BaseURL: server.URL, StatusCallbackURL: "https://coach.example.org/twilio/status"}
	if change != nil {
		change(&cfg)
	}
	c, err := New(cfg)
	require.NoError(t, err)
	return c
}

func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, body)
	}
}

func carrierError(t *testing.T, err error) *models.CarrierError {
	t.Helper()
	var out *models.CarrierError
	require.ErrorAs(t, err, &out)
	require.NotContains(t, err.Error(), person)
	require.NotContains(t, err.Error(), "a private text")
	require.NotContains(t, err.Error(), token)
	return out
}

func TestSendPostsTheForm(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Config)
		sms    models.SMS
		want   url.Values
	}{
		{
			"number and callback", nil,
			models.SMS{OutboxID: "conv_1-t2-p1", To: person, Body: "Hi 👍 a=b&c"},
			url.Values{"To": {person}, "From": {sender}, "Body": {"Hi 👍 a=b&c"}, "StatusCallback": {"https://coach.example.org/twilio/status?outbox=conv_1-t2-p1"}},
		},
		{
			"service, no callback, validity",
			func(c *Config) { c.From, c.MessagingServiceSID, c.StatusCallbackURL = "", "MG1", "" },
			models.SMS{To: person, Body: "x", ValidFor: 90 * time.Minute},
			url.Values{"To": {person}, "MessagingServiceSid": {"MG1"}, "Body": {"x"}, "ValidityPeriod": {"5400"}},
		},
		{
			"validity is at least a second, callback keeps its query",
			func(c *Config) { c.StatusCallbackURL = "https://c.example/s?tenant=1" },
			models.SMS{OutboxID: "a b", To: person, Body: "x", ValidFor: time.Millisecond},
			url.Values{"To": {person}, "From": {sender}, "Body": {"x"}, "ValidityPeriod": {"1"}, "StatusCallback": {"https://c.example/s?outbox=a+b&tenant=1"}},
		},
		{
			"a study's own number in the place of the service",
			func(c *Config) { c.From, c.MessagingServiceSID, c.StatusCallbackURL = "", "MG1", "" },
			models.SMS{To: person, Body: "x", Sender: models.Sender{From: "+15017120000"}},
			url.Values{"To": {person}, "From": {"+15017120000"}, "Body": {"x"}},
		},
		{
			"a study's own service in the place of the number", func(c *Config) { c.StatusCallbackURL = "" },
			models.SMS{To: person, Body: "x", Sender: models.Sender{MessagingService: "MG2"}},
			url.Values{"To": {person}, "MessagingServiceSid": {"MG2"}, "Body": {"x"}},
		},
		{
			"validity is at most ten hours", func(c *Config) { c.StatusCallbackURL = "" },
			models.SMS{To: person, Body: "x", ValidFor: 48 * time.Hour},
			url.Values{"To": {person}, "From": {sender}, "Body": {"x"}, "ValidityPeriod": {"36000"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got url.Values
			c := client(t, func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, "/2010-04-01/Accounts/"+account+"/Messages.json", r.URL.Path)
				user, password, _ := r.BasicAuth()
				assert.Equal(t, account+":"+token, user+":"+password)
				assert.NoError(t, r.ParseForm())
				got = r.PostForm
				answer(201, `{"sid":"`+sid+`","status":"queued","num_segments":"1","price":null,"error_code":null}`)(w, r)
			}, test.change)
			receipt, err := c.Send(t.Context(), test.sms)
			require.NoError(t, err)
			require.Equal(t, models.Receipt{ProviderSID: sid, Status: wire.OutboxQueued}, receipt)
			require.Equal(t, test.want, got)
		})
	}
}

func TestSendKeepsAPathInTheBaseURL(t *testing.T) {
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/carrier/2010-04-01/Accounts/"+account+"/Messages.json", r.URL.Path)
		answer(201, `{"sid":"`+sid+`","status":"a word of tomorrow"}`)(w, r)
	}, func(c *Config) { c.BaseURL += "/carrier/" })
	receipt, err := c.Send(t.Context(), models.SMS{To: person, Body: "x"})
	require.NoError(t, err)
	require.Equal(t, wire.OutboxAccepted, receipt.Status)
}

func TestSendErrors(t *testing.T) {
	private := models.SMS{OutboxID: "o", To: person, Body: "a private text"}
	for _, test := range []struct {
		name   string
		status int
		body   string
		class  models.CarrierClass
		code   string
	}{
		{"opted out", 400, `{"code":21610,"message":"Attempt to send to +15558675310","status":400}`, models.CarrierConsent, "21610"},
		{"daily limit comes as 429", 429, `{"code":63038,"message":"m","status":429}`, models.CarrierWindow, "63038"},
		{"too many requests", 429, `{"code":20429,"message":"m","status":429}`, models.CarrierRetry, "20429"},
		{"429 with an unknown code", 429, `{"code":99999,"message":"m","status":429}`, models.CarrierRetry, "99999"},
		{"429 from a proxy", 429, `slow down`, models.CarrierRetry, ""},
		{"unknown 400", 400, `{"code":29999,"message":"m","status":400}`, models.CarrierContent, "29999"},
		{"400 without a code", 400, `{"message":"m"}`, models.CarrierAmbiguous, ""},
		{"400 page", 400, `<html>`, models.CarrierAmbiguous, ""},
		{"409 page", 409, `<html>`, models.CarrierAmbiguous, ""},
		{"unknown 401", 401, `{"code":20001,"message":"m","status":401}`, models.CarrierAccount, "20001"},
		{"403 from a proxy", 403, `<html>`, models.CarrierAccount, ""},
		{"404 from a proxy", 404, `<html>`, models.CarrierAccount, ""},
		{"408", 408, `<html>`, models.CarrierAmbiguous, ""},
		{"413", 413, `<html>`, models.CarrierContent, ""},
		{"provider 500", 500, `{"code":20500,"message":"m","status":500}`, models.CarrierAmbiguous, "20500"},
		{"provider 503", 503, `{"code":20503,"message":"m","status":503}`, models.CarrierAmbiguous, "20503"},
		{"500 with a code that is final elsewhere", 500, `{"code":21610,"message":"m","status":500}`, models.CarrierAmbiguous, "21610"},
		{"503 with the code of a 429", 503, `{"code":20429,"message":"m","status":503}`, models.CarrierAmbiguous, "20429"},
		{"5xx JSON of a gateway", 503, `{"message":"upstream"}`, models.CarrierAmbiguous, ""},
		{"502 page", 502, `<html>bad gateway</html>`, models.CarrierAmbiguous, ""},
		{"504 page", 504, ``, models.CarrierAmbiguous, ""},
		{"success that cannot be read", 201, `{"sid":`, models.CarrierAmbiguous, ""},
		{"success without an id", 201, `{}`, models.CarrierAmbiguous, ""},
		{"details of another shape", 400, `{"code":21211,"message":"m","details":[1]}`, models.CarrierAmbiguous, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := client(t, answer(test.status, test.body), nil).Send(t.Context(), private)
			got := carrierError(t, err)
			require.Equal(t, test.class, got.Class)
			require.Equal(t, test.code, got.Code)
			require.Equal(t, test.status, got.Status)
			require.NotEmpty(t, got.Message)
		})
	}
}

func TestSendRedirectIsNotFollowed(t *testing.T) {
	calls := 0
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		calls++
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}, nil)
	_, err := c.Send(t.Context(), models.SMS{To: person, Body: "x"})
	require.Equal(t, models.CarrierAccount, carrierError(t, err).Class)
	require.Equal(t, 1, calls)
}

func TestSendNetworkFailures(t *testing.T) {
	text := models.SMS{To: person, Body: "x"}
	refused := func(t *testing.T) string {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer func() { require.NoError(t, listener.Close()) }()
		return "http://" + listener.Addr().String()
	}
	t.Run("dial refused", func(t *testing.T) {
		c, err := New(Config{AccountSID: account, AuthToken: token, From: sender, BaseURL: refused(t)})
		require.NoError(t, err)
		_, err = c.Send(t.Context(), text)
		got := carrierError(t, err)
		require.Equal(t, models.CarrierRetry, got.Class)
		require.Zero(t, got.Status)
	})
	t.Run("name does not resolve", func(t *testing.T) {
		c, err := New(Config{AccountSID: account, AuthToken: token, From: sender, BaseURL: "http://no-such-host.invalid"})
		require.NoError(t, err)
		_, err = c.Send(t.Context(), text)
		require.Equal(t, models.CarrierRetry, carrierError(t, err).Class)
	})
	t.Run("canceled before anything was sent", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := client(t, answer(201, `{}`), nil).Send(ctx, text)
		require.Equal(t, models.CarrierRetry, carrierError(t, err).Class)
	})
	t.Run("connection cut after the request", func(t *testing.T) {
		c := client(t, func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			assert.NoError(t, err)
			assert.NoError(t, conn.Close())
		}, nil)
		_, err := c.Send(t.Context(), text)
		require.Equal(t, models.CarrierAmbiguous, carrierError(t, err).Class)
	})
	t.Run("our timeout while waiting", func(t *testing.T) {
		release := make(chan struct{})
		c := client(t, func(http.ResponseWriter, *http.Request) { <-release }, func(c *Config) { c.Timeout = 50 * time.Millisecond })
		_, err := c.Send(t.Context(), text)
		close(release)
		require.Equal(t, models.CarrierAmbiguous, carrierError(t, err).Class)
	})
	t.Run("caller gives up while waiting", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		release := make(chan struct{})
		c := client(t, func(http.ResponseWriter, *http.Request) { cancel(); <-release }, nil)
		_, err := c.Send(ctx, text)
		close(release)
		require.Equal(t, models.CarrierAmbiguous, carrierError(t, err).Class)
	})
	t.Run("answer cut short", func(t *testing.T) {
		c := client(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.WriteHeader(http.StatusCreated)
			_, _ = fmt.Fprint(w, `{"sid":"SM`)
		}, nil)
		_, err := c.Send(t.Context(), text)
		require.Equal(t, models.CarrierAmbiguous, carrierError(t, err).Class)
	})
}

type listed struct {
	Sid         string `json:"sid"`
	To          string `json:"to"`
	Body        string `json:"body"`
	Status      string `json:"status"`
	DateCreated string `json:"date_created,omitempty"`
	DateSent    string `json:"date_sent,omitempty"`
}

// TestFind: only the carrier's own clock counts, which may be any; here it is
// three hours ahead of ours.
func TestFind(t *testing.T) {
	const age = time.Minute
	listedAt := time.Now().Add(3 * time.Hour).UTC().Truncate(time.Second)
	posted := listedAt.Add(-age)
	at := func(d time.Duration) string { return posted.Add(d).Format(time.RFC1123Z) }
	text := models.SMS{To: person, Body: "How did it go?"}
	for _, test := range []struct {
		name string
		in   []listed
		want []string
	}{
		{"nothing", []listed{}, nil},
		{"other words", []listed{{"SM1", person, "How did it go? ", "sent", at(time.Second), ""}}, nil},
		{"other person", []listed{{"SM1", "+15558675311", text.Body, "sent", at(time.Second), ""}}, nil},
		{"long before", []listed{{"SM1", person, text.Body, "sent", at(-clockMargin - time.Second), ""}}, nil},
		{"before, as far as clocks may differ", []listed{{"SM1", person, text.Body, "sent", at(-clockMargin), ""}}, []string{"SM1"}},
		{"still in the queue", []listed{{"SM1", person, text.Body, "queued", at(time.Second), ""}}, []string{"SM1"}},
		{"only a sending date", []listed{{"SM1", person, text.Body, "sent", "", at(time.Second)}}, []string{"SM1"}},
		{"no date", []listed{{"SM1", person, text.Body, "sent", "", ""}}, nil},
		{"several, oldest first", []listed{
			{"SM1", person, text.Body, "sent", at(30 * time.Second), ""},
			{"SM2", person, text.Body, "sent", at(40 * time.Second), ""},
			{"SM3", person, text.Body, "sent", at(time.Second), ""},
		}, []string{"SM3", "SM1", "SM2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := client(t, func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, http.MethodGet, r.Method)
				assert.Equal(t, person, r.URL.Query().Get("To"))
				assert.Equal(t, sender, r.URL.Query().Get("From"))
				body, err := json.Marshal(map[string]any{"messages": test.in, "page": 0})
				assert.NoError(t, err)
				w.Header().Set("Date", listedAt.Format(http.TimeFormat))
				answer(200, string(body))(w, r)
			}, nil)
			list, err := c.Find(t.Context(), text, age)
			require.NoError(t, err)
			require.Equal(t, listedAt, list.At.UTC())
			var found []string
			for _, match := range list.Matches {
				found = append(found, match.ProviderSID)
			}
			require.Equal(t, test.want, found)
		})
	}
}

// A text is checked when the connection is established, and not written when
// the check refuses it.
func TestSendChecksBeforeItWrites(t *testing.T) {
	refusal := errors.New("opted out meanwhile")
	var dialed, heads atomic.Int32
	dialer := &net.Dialer{}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		dialed.Add(1)
		return dialer.DialContext(ctx, network, address)
	}}
	defer transport.CloseIdleConnections()
	var bodies []string
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		heads.Add(1)
		if body, err := io.ReadAll(r.Body); err == nil {
			bodies = append(bodies, string(body))
		}
		answer(201, `{"sid":"`+sid+`","status":"queued"}`)(w, r)
	}, func(cfg *Config) { cfg.Transport = transport })
	text := models.SMS{To: person, Body: "x"}
	for _, allow := range []error{refusal, nil, refusal, nil} {
		asked := 0
		text.BeforeWrite = func(context.Context) error {
			asked++
			require.Positive(t, dialed.Load(), "the connection is there")
			return allow
		}
		_, err := c.Send(t.Context(), text)
		require.ErrorIs(t, err, allow)
		require.Equal(t, 1, asked)
	}
	require.Len(t, bodies, 2)
	require.EqualValues(t, 2, heads.Load(), "nothing of a refused text reaches the carrier")
}

// A refused query of the database is no answer of the carrier.
func TestSendAfterACheckThatHangs(t *testing.T) {
	var bodies atomic.Int32
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err == nil {
			bodies.Add(1)
		}
		answer(201, `{"sid":"`+sid+`"}`)(w, r)
	}, func(cfg *Config) { cfg.Timeout = 50 * time.Millisecond })
	_, err := c.Send(t.Context(), models.SMS{To: person, Body: "x", BeforeWrite: func(ctx context.Context) error {
		<-ctx.Done()
		return nil // answered too late
	}})
	require.Error(t, err)
	require.Zero(t, bodies.Load())
}

func TestFindErrorsAreNeverANo(t *testing.T) {
	for _, test := range []struct {
		name   string
		status int
		body   string
		want   models.CarrierClass
	}{
		{"gateway page", 502, `<html>`, models.CarrierRetry},
		{"not a list", 200, `{}`, models.CarrierRetry},
		{"not JSON", 200, `ok`, models.CarrierRetry},
		{"credentials", 401, `{"code":20003,"message":"m","status":401}`, models.CarrierAccount},
	} {
		t.Run(test.name, func(t *testing.T) {
			list, err := client(t, answer(test.status, test.body), nil).Find(t.Context(), models.SMS{To: person, Body: "x"}, 0)
			require.Equal(t, test.want, carrierError(t, err).Class)
			require.Empty(t, list)
		})
	}
}

func TestFindThroughAService(t *testing.T) {
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		assert.False(t, r.URL.Query().Has("From"), "the service picks the sender")
		answer(200, `{"messages":[]}`)(w, r)
	}, func(c *Config) { c.From, c.MessagingServiceSID = "", "MG1" })
	list, err := c.Find(t.Context(), models.SMS{To: person, Body: "x"}, 0)
	require.NoError(t, err)
	require.Empty(t, list.Matches)
}

func TestNewRefuses(t *testing.T) {
	good := Config{AccountSID: account, AuthToken: token, From: sender}
	for _, test := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"no account", func(c *Config) { c.AccountSID = "" }, "account SID"},
		{"odd token", func(c *Config) { c.AuthToken = "a,b" }, "auth token"},
		{"no sender", func(c *Config) { c.From = "" }, "either"},
		{"two senders", func(c *Config) { c.MessagingServiceSID = "MG1" }, "either"},
		{"base URL", func(c *Config) { c.BaseURL = "localhost:80" }, "base URL"},
		{"callback", func(c *Config) { c.StatusCallbackURL = "https://" }, "status callback URL"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := good
			test.change(&cfg)
			_, err := New(cfg)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestTwiliosOwnAddressIsTheDefault(t *testing.T) {
	c, err := New(Config{AccountSID: account, AuthToken: token, From: sender})
	require.NoError(t, err)
	var host string
	c.next = roundTripper(func(r *http.Request) (*http.Response, error) {
		host = r.URL.String()
		return nil, context.DeadlineExceeded
	})
	_, err = c.Send(t.Context(), models.SMS{To: person, Body: "x"})
	require.Error(t, err)
	require.Equal(t, "https://api.twilio.com/2010-04-01/Accounts/"+account+"/Messages.json", host)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A text that another sender may have sent is looked for among those of all.
func TestFindOfAnySender(t *testing.T) {
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		assert.False(t, r.URL.Query().Has("From"))
		answer(200, `{"messages":[],"page":0}`)(w, r)
	}, nil)
	_, err := c.Find(t.Context(), models.SMS{To: person, Body: "x", AnySender: true}, time.Minute)
	require.NoError(t, err)
}
