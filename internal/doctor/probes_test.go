package doctor

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/internal/config"
	"coachline/internal/connect"
	"coachline/internal/sms"
)

func TestProbes(t *testing.T) {
	var asked *http.Request
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r
		w.WriteHeader(status)
	}))
	model := func() (string, error) { return probeModel(context.Background(), server.URL+"/v1", "key-1") }
	carrier := func() (string, error) { return probeCarrier(context.Background(), server.URL, "AC1", "token-1") }
	for _, tc := range []struct {
		name   string
		probe  func() (string, error)
		status int
		want   string // of the error; empty is well
	}{
		{"model", model, http.StatusOK, ""},
		{"model without a list", model, http.StatusNotFound, ""},
		{"model refuses", model, http.StatusUnauthorized, "refuses the key (HTTP 401)"},
		{"model broken", model, http.StatusBadGateway, "answers HTTP 502"},
		{"carrier", carrier, http.StatusOK, ""},
		{"carrier refuses", carrier, http.StatusForbidden, "refuses the account or its token (HTTP 403)"},
		{"carrier unknown", carrier, http.StatusNotFound, "answers HTTP 404"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status = tc.status
			remark, err := tc.probe()
			if tc.want == "" {
				require.NoError(t, err)
				require.Contains(t, remark, server.URL)
				return
			}
			require.ErrorContains(t, err, tc.want)
			require.NotContains(t, err.Error(), "token-1")
			require.NotContains(t, err.Error(), "key-1")
		})
	}
	require.Equal(t, "/2010-04-01/Accounts/AC1/Messages.json?PageSize=1", asked.URL.String())
	user, password, _ := asked.BasicAuth()
	require.Equal(t, "AC1token-1", user+password)
	server.Close()
	_, err := model()
	require.ErrorContains(t, err, "connection refused")
	_, err = carrier()
	require.ErrorContains(t, err, "connection refused")
}

func TestProbeEmbeddings(t *testing.T) {
	answer, status := `{"data":[{"index":0,"embedding":[0.1,0.2,0.3]}]}`, http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	cfg := config.Model{BaseURL: "http://127.0.0.1:1", EmbeddingURL: server.URL, Embedding: "e1"}
	said, err := probeEmbeddings(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, "e1: 3 dimensions", said)
	answer, status = `{"error":{"message":"no such model"}}`, http.StatusNotFound
	var warning connect.Warning
	_, err = probeEmbeddings(t.Context(), cfg)
	require.ErrorAs(t, err, &warning)
	require.ErrorContains(t, err, "words alone")
	cfg.Embedding = ""
	_, err = probeEmbeddings(t.Context(), cfg)
	require.ErrorContains(t, err, "COACH_EMBEDDING_MODEL")
}

func TestCheckSupport(t *testing.T) {
	cfg := config.Config{}
	cfg.Carrier.From = "+12025550100"
	_, err := checkSupport(cfg)
	require.ErrorContains(t, err, "COACH_SUPPORT")
	cfg.Coaching.Support = "care@example.org"
	_, err = checkSupport(cfg)
	require.ErrorContains(t, err, "COACH_TERMS_URL")
	cfg.Coaching.TermsURL = "https://example.org/terms"
	said, err := checkSupport(cfg)
	require.NoError(t, err)
	require.Equal(t, "care@example.org", said)
	cfg.Coaching.Support = ""
	for _, from := range []string{"", "+4930123456", "+14165550123"} {
		cfg.Carrier.From = from
		_, err = checkSupport(cfg)
		require.NoError(t, err, "not a number of the United States")
	}
}

func TestDescribeStop(t *testing.T) {
	cfg := config.Config{}
	cfg.Carrier.AccountSID = "AC1"
	_, err := describeStop(cfg)
	require.ErrorContains(t, err, "COACH_STOP_ANSWERED_BY=carrier")
	cfg.Inbound.StopAnswer = config.StopByCarrier
	said, err := describeStop(cfg)
	require.NoError(t, err)
	require.Contains(t, said, "the carrier answers STOP")
	cfg.Inbound.StopAnswer, cfg.Carrier.BaseURL = config.StopByUs, "http://carrier.test"
	said, err = describeStop(cfg)
	require.NoError(t, err)
	require.Contains(t, said, "we answer STOP")
}

func TestCheckProgramme(t *testing.T) {
	for _, name := range []string{"Coachline", "Café Überall", "Steps “now”"} {
		_, err := checkProgramme(name, "en-US")
		require.NoError(t, err, name)
	}
	_, err := checkProgramme("Ação", "pt-BR")
	require.ErrorContains(t, err, "HELP 4 in place of 2", "the help text in UCS-2")
}

// A server that lists its models and answers nothing is found before a person waits.
func TestProbeAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		status     int
		body, want string
	}{
		"well":         {http.StatusOK, `{"choices":[{"message":{"content":"hello"}}]}`, ""},
		"a page":       {http.StatusOK, "<html>hello</html>", "it is a web page"},
		"no choice":    {http.StatusOK, `{"choices":[]}`, "no message"},
		"a wrong key":  {http.StatusUnauthorized, `{"error":{"code":"invalid_api_key"}}`, "status 401"},
		"a model gone": {http.StatusNotFound, `{"error":"model 'm1' not found"}`, "does not have the model"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			}))
			t.Cleanup(server.Close)
			said, err := probeAnswer(t.Context(), config.Model{BaseURL: server.URL, Name: "m1", Timeout: time.Minute})
			if tt.want == "" {
				require.NoError(t, err)
				require.Contains(t, said, "m1 answers")
				return
			}
			require.ErrorContains(t, err, tt.want)
		})
	}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var warning connect.Warning
	_, err := probeAnswer(ctx, config.Model{BaseURL: server.URL, Name: "m1", Timeout: time.Minute})
	require.ErrorAs(t, err, &warning)
	require.ErrorContains(t, err, "COACH_MODEL_TIMEOUT")
}

// TestSenderOfAnotherAccount: a number or a messaging service that the account does not
// have is told; a carrier that knows no such question is no problem.
func TestSenderOfAnotherAccount(t *testing.T) {
	answers := map[string]string{
		"/2010-04-01/Accounts/AC1/IncomingPhoneNumbers.json?PhoneNumber=%2B12025550100": `{"incoming_phone_numbers":[{"sid":"PN1"}]}`,
		"/2010-04-01/Accounts/AC1/IncomingPhoneNumbers.json?PhoneNumber=%2B12025550101": `{"incoming_phone_numbers":[]}`,
		"/v1/Services/MG1": `{"sid":"MG1"}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		body, ok := answers[r.URL.String()]
		if !ok || user+password != "AC1token-1" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	for _, tc := range []struct{ from, service, want, remark string }{
		{"+12025550100", "", "", "+12025550100"},
		{"+12025550101", "", "+12025550101 does not belong to the account AC1", ""},
		{"+12025550102", "", "", "does not list"},
		{"", "MG1", "", "MG1"},
		{"", "MG2", "MG2 does not belong to the account AC1", ""},
		{"12345", "", "", "12345"},
	} {
		remark, err := probeSender(t.Context(), config.Carrier{AccountSID: "AC1", From: tc.from, MessagingServiceSID: tc.service, BaseURL: server.URL}, "token-1")
		if tc.want != "" {
			require.ErrorContains(t, err, tc.want)
			continue
		}
		require.NoError(t, err)
		require.Contains(t, remark, tc.remark)
	}
}

// TestPublicAddressLeadsHere: a webhook that is signed for the public address comes
// through, is refused for what it lacks, and tells otherwise.
func TestPublicAddressLeadsHere(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusBadRequest
		if sms.NewVerifier([]string{"token-1"}, "http://"+r.Host).Check(r, url.Values{}) != nil {
			status = http.StatusForbidden
		}
		if r.URL.Path != "/twilio/status" {
			status = http.StatusNotFound
		}
		w.WriteHeader(status)
	}))
	defer server.Close()
	remark, err := probeWebhook(t.Context(), server.URL, "token-1")
	require.NoError(t, err)
	require.Equal(t, server.URL, remark)
	_, err = probeWebhook(t.Context(), server.URL, "token-2")
	require.ErrorContains(t, err, "another TWILIO_AUTH_TOKEN")
	_, err = probeWebhook(t.Context(), server.URL+"/elsewhere", "token-1")
	require.ErrorContains(t, err, "HTTP 404: it does not lead to the starter")
	_, err = probeWebhook(t.Context(), "http://127.0.0.1:1", "token-1")
	require.ErrorContains(t, err, "from here")
	_, err = probeWebhook(t.Context(), "", "token-1")
	var warning connect.Warning
	require.ErrorAs(t, err, &warning)
}

// TestCampaignStatus: doctor says how far the registration of the campaign is.
func TestCampaignStatus(t *testing.T) {
	for answer, want := range map[string]string{
		`{"compliance":[{"campaign_status":"VERIFIED"}]}`: "", `{"compliance":[{"campaign_status":"IN_PROGRESS"}]}`: "IN_PROGRESS, not VERIFIED", `{"compliance":[]}`: "no campaign",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			assert.Equal(t, "/v1/Services/MG1/Compliance/Usa2p", r.URL.Path)
			_, _ = w.Write([]byte(answer))
		}))
		said, err := probeCampaign(t.Context(), config.Carrier{AccountSID: "AC1", MessagingServiceSID: "MG1", BaseURL: server.URL}, "token-1")
		server.Close()
		if want == "" {
			require.NoError(t, err)
			require.Equal(t, "VERIFIED", said)
			continue
		}
		require.ErrorContains(t, err, want)
	}
}
