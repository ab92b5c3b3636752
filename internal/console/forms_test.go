package console_test

import (
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/models/wire"
)

// fetchPage reads a page, or what a form that is sent comes to.
func fetchPage(t *testing.T, address string, form url.Values) (int, string) {
	t.Helper()
	method := http.MethodGet
	if form != nil {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	require.NoError(t, err)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(text)
}

var (
	aForm    = regexp.MustCompile(`(?s)<form[^>]* method="post".*?</form>`)
	anAction = regexp.MustCompile(`action="/console/([^"]*)"`)
	aField   = regexp.MustCompile(`<input type="hidden"[^>]* name="([^"]*)" value="([^"]*)">`)
)

// postForms are the hidden fields of the forms of a page, by the addresses that the forms
// are sent to.
func postForms(t *testing.T, page string) map[string]url.Values {
	t.Helper()
	forms := map[string]url.Values{}
	for _, form := range aForm.FindAllString(page, -1) {
		fields := url.Values{"reason": {"why"}}
		for _, one := range aField.FindAllStringSubmatch(form, -1) {
			fields.Add(one[1], html.UnescapeString(one[2]))
		}
		to := anAction.FindStringSubmatch(form)
		require.NotNil(t, to, form)
		forms[to[1]] = fields
	}
	return forms
}

// TestFormsNameWhatTheyActOn: no form of any page acts on another thing than the one that
// it names, and none acts without a name.
func TestFormsNameWhatTheyActOn(t *testing.T) {
	w, address := serveThings(t, "Ann", "Ben")
	w.person.Attention, w.person.AttentionAt = wire.AttentionCrisis, &noon
	w.person.TakenOver = &api.TakeOver{By: "eve", Since: noon, Until: noon}
	seen := map[string]bool{}
	for _, path := range []string{
		"alerts/alert", "agenda", "people", "people?name=a", "people?status=active", "people/ann", "people/bulk?do=send&id=ann", "import", "import/job", "cost", "access",
		"studies", "studies/study", "webhooks", "webhooks/hook",
	} {
		status, page := fetchPage(t, address+path, nil)
		require.Equal(t, http.StatusOK, status, page)
		for to, fields := range postForms(t, page) {
			require.Equal(t, to, fields.Get("about"), "%s: %s", path, to)
			for _, about := range []string{"", "people/zoe/erase", "agenda/holds/1/release"} {
				fields.Set("about", about)
				status, page := fetchPage(t, address+to, fields)
				require.Equal(t, http.StatusConflict, status, to)
				require.Contains(t, page, "Nothing was done: the form was about something else")
			}
			seen[to] = true
		}
	}
	require.Empty(t, w.took())
	for _, to := range []string{
		"alerts/alert", "alerts/alert/mark", "agenda/holds", "agenda/holds/65/release", "agenda/holds/66/release", "people", "people/views", "people/views/66/delete", "people/bulk",
		"people/ann/send", "people/ann/attention", "people/ann/takeover", "people/ann/handback", "people/ann/pause", "people/ann/optout", "people/ann/remove",
		"people/ann/erase", "people/ann/forget", "people/ann/schedule-remove", "import", "import/job/cancel", "cost/budgets", "cost/budgets/7/delete", "access/users", "access/tokens",
		"studies", "webhooks", "webhooks/hook/remove",
	} {
		require.True(t, seen[to], "%s is among %v", to, seen)
	}
	status, page := fetchPage(t, address+"agenda/holds/66/release", url.Values{"about": {"agenda/holds/66/release"}, "reason": {"why"}})
	require.Equal(t, http.StatusOK, status, page)
	require.Equal(t, []string{"DELETE /holds/66"}, w.took())
}

// TestFormsEndWhatTheyShowed: a form that marks a call as handled, takes over or hands
// back ends nothing that came after its page was drawn.
func TestFormsEndWhatTheyShowed(t *testing.T) {
	later := noon.AddDate(0, 0, 1)
	free := api.Participant{ID: "ann", Timezone: "UTC", Status: wire.StatusActive}
	calls := func(kind wire.Attention, since time.Time) api.Participant {
		one := free
		one.Attention, one.AttentionAt = kind, &since
		return one
	}
	taken := func(by string, since time.Time) api.Participant {
		one := free
		one.TakenOver = &api.TakeOver{By: by, Since: since, Until: later}
		return one
	}
	const path = "/conversation/participants/ann/"
	for _, tt := range []struct {
		form       string
		drawn, now api.Participant
		acts       []string
	}{
		{"attention", calls(wire.AttentionSend, noon), calls(wire.AttentionSend, noon), []string{"POST " + path + "attention"}},
		{"attention", calls(wire.AttentionSend, noon), calls(wire.AttentionCrisis, noon), nil},
		{"attention", calls(wire.AttentionSend, noon), calls(wire.AttentionSend, later), nil},
		{"takeover", free, free, []string{"POST " + path + "takeover"}},
		{"takeover", free, taken("eva", noon), nil},
		{"takeover", taken("eva", noon), taken("ben", noon), nil},
		{"handback", taken("eva", noon), taken("eva", noon), []string{"DELETE " + path + "takeover"}},
		{"handback", taken("eva", noon), taken("ben", noon), nil},
		{"handback", taken("eva", noon), taken("eva", later), nil},
		{"handback", taken("eva", noon), free, nil},
	} {
		w, address := serveThings(t)
		w.person = tt.drawn
		_, page := fetchPage(t, address+"people/ann", nil)
		fields := postForms(t, page)["people/ann/"+tt.form]
		require.NotNil(t, fields, tt.form)
		fields.Set("hours", "4")
		w.person = tt.now
		_, page = fetchPage(t, address+"people/ann/"+tt.form, fields)
		require.Equal(t, tt.acts, w.took(), "%s: %s", tt.form, page)
		if tt.acts == nil {
			require.Contains(t, page, "somebody else has changed this person since you opened the form")
		}
	}
}

// TestAnotherOperatorsConversation: where another operator has the conversation, writing
// and handing back are asked about; what is ticked reaches the API.
func TestAnotherOperatorsConversation(t *testing.T) {
	w, address := serveThings(t, "Ann")
	_, page := fetchPage(t, address+"people/ann", nil)
	require.NotContains(t, page, `name="force"`)
	w.person.TakenOver = &api.TakeOver{By: "user:eve", Since: noon, Until: noon}
	_, page = fetchPage(t, address+"people/ann", nil)
	require.Contains(t, page, "user:eve has this conversation. Send it all the same")
	require.Contains(t, page, "user:eve has this conversation. Hand it back all the same")
	for _, to := range []string{"people/ann/send", "people/ann/handback"} {
		fields := postForms(t, page)[to]
		fields.Set("body", "hello")
		fields.Set("waiting", "read")
		fields.Set("reason", "why")
		fields.Set("force", "yes")
		status, answer := fetchPage(t, address+to, fields)
		require.Equal(t, http.StatusOK, status, answer)
	}
	require.Len(t, w.took(), 2)
}

// The page of a person in a crisis says which words raised each alert and why, and one
// click says that it was wrong.
func TestAlertIsJudgedWithOneClick(t *testing.T) {
	w, address := serveThings(t, "Ann")
	w.person.Attention, w.person.AttentionAt = wire.AttentionCrisis, &noon
	for _, path := range []string{"people/ann", "alerts/alert"} {
		status, page := fetchPage(t, address+path, nil)
		require.Equal(t, http.StatusOK, status, page)
		require.Contains(t, page, "<mark>want to die</mark> (the score of these words, 2.4). Second look: means it.")
		fields := postForms(t, page)["alerts/alert/mark"]
		fields.Set("mark", "wrong")
		status, page = fetchPage(t, address+"alerts/alert/mark", fields)
		require.Equal(t, http.StatusOK, status, page)
	}
	require.Equal(t, []string{"POST /alerts/alert/mark", "POST /alerts/alert/mark"}, w.took())
	w.person.Attention = ""
	_, page := fetchPage(t, address+"people/ann", nil)
	require.NotContains(t, page, "Open alerts")
}
