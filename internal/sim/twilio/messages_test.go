package twilio

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	api "github.com/twilio/twilio-go/rest/api/v2010"
)

func TestCreateMessageShape(t *testing.T) {
	at := time.Date(2026, 11, 24, 13, 0, 0, 0, time.UTC)
	cfg := config(nil)
	cfg.Now = func() time.Time { return at }
	b := start(t, cfg)
	code, answer := b.send(t, ada, "Hi 👍")
	require.Equal(t, http.StatusCreated, code)
	sid := answer["sid"].(string)
	require.Regexp(t, `^SM[0-9a-f]{32}$`, sid)
	uri := messagesPath + "/" + sid
	require.Equal(t, map[string]any{
		"account_sid": testSID, "api_version": "2010-04-01", "sid": sid, "body": "Hi 👍", "direction": "outbound-api",
		"from": coachPhone, "to": ada, "status": "queued", "num_segments": "1", "num_media": "0",
		"price": nil, "price_unit": "USD", "error_code": nil, "error_message": nil, "messaging_service_sid": nil,
		"date_sent": nil, "date_created": "Tue, 24 Nov 2026 13:00:00 +0000", "date_updated": "Tue, 24 Nov 2026 13:00:00 +0000",
		"uri": uri + ".json", "subresource_uris": map[string]any{"media": uri + "/Media.json"},
	}, answer)

	raw, err := json.Marshal(answer)
	require.NoError(t, err)
	var message api.ApiV2010Message
	require.NoError(t, json.Unmarshal(raw, &message), "Twilio's own library reads it")
	require.Equal(t, sid, *message.Sid)
}

func TestCreateMessageByService(t *testing.T) {
	b := start(t, config(nil))
	form := url.Values{"To": {ada}, "MessagingServiceSid": {"MG" + strings.Repeat("a", 32)}, "Body": {"x"}, "ValidityPeriod": {"600"}}
	code, answer := answered(t, b.sendRequest(t, form))
	require.Equal(t, http.StatusCreated, code)
	require.Equal(t, "accepted", answer["status"])
	require.Nil(t, answer["from"])
	require.Equal(t, "0", answer["num_segments"])
}

func TestCreateMessageRefusals(t *testing.T) {
	b := start(t, config(nil))
	for _, tc := range []struct {
		name, field, value string
		status, code       int
	}{
		{"bad number", "To", "555", 400, 21211},
		{"no recipient", "To", "", 400, 21604},
		{"no body", "Body", "", 400, 21602},
		{"too long", "Body", strings.Repeat("a", 1601), 400, 21617},
		{"no sender", "From", "", 400, 21603},
		{"not our sender", "From", "+15551239999", 400, 21606},
		{"not a service", "MessagingServiceSid", "MG1", 400, 21705},
		{"to ourselves", "To", coachPhone, 400, 21266},
		{"callback", "StatusCallback", "nowhere", 400, 21609},
		{"validity of 0", "ValidityPeriod", "0", 400, 21624},
		{"validity of 11 hours", "ValidityPeriod", "39600", 400, 21624},
		{"magic invalid", "To", "+15005550001", 400, 21211},
		{"magic unroutable", "To", "+15005550002", 400, 21612},
		{"magic region", "To", "+15005550003", 400, 21408},
		{"magic opted out", "To", "+15005550004", 400, 21610},
		{"magic landline", "To", "+15005550009", 400, 21614},
		{"magic sender invalid", "From", "+15005550001", 400, 21212},
		{"magic sender not owned", "From", "+15005550007", 400, 21606},
		{"magic sender full", "From", "+15005550008", 400, 21611},
	} {
		t.Run(tc.name, func(t *testing.T) {
			form := url.Values{"To": {ada}, "From": {coachPhone}, "Body": {"x"}}
			form.Set(tc.field, tc.value)
			code, answer := answered(t, b.sendRequest(t, form))
			require.Equal(t, tc.status, code)
			require.InDelta(t, tc.code, answer["code"], 0)
			require.InDelta(t, tc.status, answer["status"], 0)
			require.NotEmpty(t, answer["message"])
			require.Contains(t, answer["more_info"], "https://www.twilio.com/docs/errors/2")
		})
	}
	require.Empty(t, b.list(t, ""), "nothing refused is kept")
}

func TestLongestBodyIsTaken(t *testing.T) {
	b := start(t, config(nil))
	code, answer := b.send(t, ada, strings.Repeat("a", 1600))
	require.Equal(t, http.StatusCreated, code)
	require.Equal(t, "11", answer["num_segments"])
}

func TestCarrierAuthentication(t *testing.T) {
	b := start(t, config(nil))
	for _, tc := range []struct {
		name, user, password, path string
		status, code               int
	}{
		{"wrong token", testSID, "x", messagesPath + ".json", 401, 20003},
		{"wrong account", "AC2", testToken, messagesPath + ".json", 401, 20003},
		{"nothing", "", "", messagesPath + ".json", 401, 20003},
		{"other account", testSID, testToken, "/2010-04-01/Accounts/AC2/Messages.json", 404, 20404},
		{"unknown text", testSID, testToken, messagesPath + "/SM1.json", 404, 20404},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req, err := http.NewRequest(http.MethodGet, b.URL+tc.path, nil)
			require.NoError(t, err)
			if tc.user != "" {
				req.SetBasicAuth(tc.user, tc.password)
			}
			code, answer := answered(t, req)
			require.Equal(t, tc.status, code)
			require.InDelta(t, tc.code, answer["code"], 0)
		})
	}
}

func TestStopBlocksUntilStart(t *testing.T) {
	a := newApp(t, nil)
	b := start(t, config(a))
	b.text(t, ada, "stop please")
	code, _ := b.send(t, ada, "1")
	require.Equal(t, http.StatusCreated, code, "only the whole body counts")

	b.text(t, ada, " Stop ")
	code, answer := b.send(t, ada, "2")
	require.Equal(t, http.StatusBadRequest, code)
	require.InDelta(t, 21610, answer["code"], 0)
	code, _ = b.send(t, ben, "other phones are not blocked")
	require.Equal(t, http.StatusCreated, code)

	b.text(t, ada, "yes")
	code, _ = b.send(t, ada, "3")
	require.Equal(t, http.StatusCreated, code)
	for _, message := range b.screen(t, ada) {
		require.NotContains(t, message["body"], "unsubscribed", "the carrier's own confirmation is not sent")
	}
}

func TestListAndFetch(t *testing.T) {
	a := newApp(t, nil)
	cfg := config(a)
	at := time.Date(2026, 11, 24, 23, 59, 0, 0, time.UTC)
	cfg.Now = func() time.Time { return at }
	b := start(t, cfg)
	for _, body := range []string{"first", "second"} {
		b.send(t, ada, body)
		b.settled(t, ada, "delivered")
	}
	b.text(t, ada, "answer")
	b.settled(t, ada, "received")
	b.send(t, ben, "other")
	b.settled(t, ben, "delivered")

	for _, tc := range []struct {
		name  string
		query url.Values
		want  []string
	}{
		{"all, newest first", url.Values{}, []string{"other", "answer", "second", "first"}},
		{"to", url.Values{"To": {ada}}, []string{"second", "first"}},
		{"from", url.Values{"From": {ada}}, []string{"answer"}},
		{"to and from", url.Values{"To": {ben}, "From": {coachPhone}}, []string{"other"}},
		{"day", url.Values{"To": {ada}, "DateSent": {"2026-11-24"}}, []string{"second", "first"}},
		{"other day", url.Values{"DateSent": {"2026-11-25"}}, []string{}},
		{"since", url.Values{"To": {ben}, "DateSent>": {"2026-11-24T23:59:00Z"}}, []string{"other"}},
		{"since later", url.Values{"DateSent>": {"2026-11-24T23:59:01Z"}}, []string{}},
		{"until", url.Values{"To": {ben}, "DateSent<": {"2026-11-24"}}, []string{"other"}},
		{"until earlier", url.Values{"DateSent<": {"2026-11-23"}}, []string{}},
		{"page", url.Values{"PageSize": {"2"}, "Page": {"1"}}, []string{"second", "first"}},
		{"beyond", url.Values{"PageSize": {"2"}, "Page": {"9"}}, []string{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := []string{}
			for _, message := range b.list(t, tc.query.Encode()) {
				got = append(got, message["body"].(string))
			}
			require.Equal(t, tc.want, got)
		})
	}

	newest := b.list(t, "To="+url.QueryEscape(ben))[0]
	require.Equal(t, "delivered", newest["status"])
	require.Equal(t, "Tue, 24 Nov 2026 23:59:00 +0000", newest["date_sent"])
	req, err := http.NewRequest(http.MethodGet, b.URL+newest["uri"].(string), nil)
	require.NoError(t, err)
	req.SetBasicAuth(testSID, testToken)
	code, fetched := answered(t, req)
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, newest, fetched)
}

func TestListEnvelope(t *testing.T) {
	b := start(t, config(nil))
	for range 3 {
		b.send(t, ada, "x")
	}
	req, err := http.NewRequest(http.MethodGet, b.URL+messagesPath+".json?PageSize=2", nil)
	require.NoError(t, err)
	req.SetBasicAuth(testSID, testToken)
	_, answer := answered(t, req)
	require.Len(t, answer["messages"], 2)
	require.Equal(t, messagesPath+".json?Page=1&PageSize=2", answer["next_page_uri"])
	require.Equal(t, messagesPath+".json?Page=0&PageSize=2", answer["first_page_uri"])
	require.Nil(t, answer["previous_page_uri"])
	require.InDelta(t, 1, answer["end"], 0)

	req, err = http.NewRequest(http.MethodGet, b.URL+messagesPath+".json?DateSent=yesterday", nil)
	require.NoError(t, err)
	req.SetBasicAuth(testSID, testToken)
	code, _ := answered(t, req)
	require.Equal(t, http.StatusBadRequest, code)
}

// The counts are those of the carrier's own calculator.
func TestSegments(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		want     int
	}{
		{"one", "a", 1},
		{"161", strings.Repeat("a", 161), 2},
		{"307", strings.Repeat("a", 307), 3},
		{"1600", strings.Repeat("a", 1600), 11},
		{"80 euro", strings.Repeat("€", 80), 1},
		{"80 euro and one", strings.Repeat("€", 80) + "a", 2},
		{"36 thumbs", strings.Repeat("👍", 36), 2},
		{"135 Cyrillic", strings.Repeat("я", 135), 3},
	} {
		t.Run(tc.name, func(t *testing.T) { require.Equal(t, tc.want, segments(tc.in)) })
	}
}
