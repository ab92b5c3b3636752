package safety_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/browsertest"
	"coachline/internal/safety"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }

func open(t *testing.T, facts safety.Facts) http.Handler {
	t.Helper()
	page, err := safety.New(facts)
	require.NoError(t, err)
	return page
}

func get(t *testing.T, page http.Handler, query, accept string) (string, http.Header) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, safety.Path+query, nil)
	r.Header.Set("Accept-Language", accept)
	w := httptest.NewRecorder()
	page.ServeHTTP(w, r)
	require.Equal(t, http.StatusOK, w.Code)
	return w.Body.String(), w.Header()
}

// TestSafetyPage: the page speaks the reader's language, has the numbers of the country that
// is asked for, and says what the settings make true.
func TestSafetyPage(t *testing.T) {
	page := open(t, safety.Facts{Programme: "Steps", Region: "US", TeamTold: true, SecondLook: true, EscalationMinutes: 15, Support: "care@example.org"})
	for _, tt := range []struct{ query, accept, lang, says string }{
		{"", "", "en", "tel:988"}, {"?lang=de", "", "de", "Nummern zum Anrufen"}, {"?lang=de&country=DE", "en", "de", "tel:08001110111"},
		{"", "es-MX,es;q=0.9", "es", "tel:8009112000"}, {"", "fr-FR", "fr", "tel:3114"}, {"?country=BR", "pt-BR", "pt", "tel:188"},
		{"?lang=xx&country=ZZ", "", "en", "tel:911"}, {"?country=GB", "", "en", "0808 801 0677"}, {"", "ja", "en", "Steps"},
	} {
		body, header := get(t, page, tt.query, tt.accept)
		require.Contains(t, body, `<html lang="`+tt.lang+`"`, tt.query+tt.accept)
		require.Contains(t, body, tt.says, tt.query+tt.accept)
		require.NotContains(t, body, "ZgotmplZ")
		require.Equal(t, tt.lang, header.Get("Content-Language"))
		require.Contains(t, header.Get("Content-Security-Policy"), "default-src 'none'")
	}
	body, _ := get(t, page, "", "en")
	for _, says := range []string{"told of a grave sign at once, and again after 15 minutes", "read once more by an AI model", "care@example.org"} {
		require.Contains(t, body, says)
	}
	bare, _ := get(t, open(t, safety.Facts{Programme: "Steps", Region: "US"}), "", "en")
	require.Contains(t, bare, "No person is paged")
	require.NotContains(t, bare, "once more by an AI")
	script, _ := get(t, page, "?country="+`%3Cscript%3E`, "en")
	require.NotContains(t, script, "<script>")
	w := httptest.NewRecorder()
	page.ServeHTTP(w, httptest.NewRequest(http.MethodPost, safety.Path, nil))
	require.Equal(t, http.StatusMethodNotAllowed, w.Code)
}

// TestSafetyPageIsReadable on a phone of 360 pixels, in each language, and axe finds nothing.
func TestSafetyPageIsReadable(t *testing.T) {
	browser := browsertest.Start(t)
	server := httptest.NewServer(open(t, safety.Facts{Programme: "Coachline", Region: "US", TeamTold: true, SecondLook: true, EscalationMinutes: 15, Support: "care@example.org", Terms: "https://example.org/terms"}))
	t.Cleanup(server.Close)
	for _, query := range []string{"?lang=en&country=US", "?lang=de&country=DE", "?lang=es&country=ES", "?lang=fr&country=FR", "?lang=pt&country=BR"} {
		p := browser.Open(t, server.URL+safety.Path+query, browsertest.View{Width: 360, Height: 2600})
		p.ExpectAccessible()
		p.ExpectNoSideScroll()
	}
}
