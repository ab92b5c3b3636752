package store_test

import (
	"database/sql"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

// eventName matches the type of an event between quotation marks of a kind.
var eventName = regexp.MustCompile("['`]([a-z]+\\.[a-z]+)['`]")

// eventsIn lists the types of events that a text names, sorted.
func eventsIn(text string) []string {
	var events []string
	for _, found := range eventName.FindAllStringSubmatch(text, -1) {
		events = append(events, found[1])
	}
	slices.Sort(events)
	return slices.Compact(events)
}

// TestWebhookEventsAreWritten compares the types that a webhook may ask for with those
// that triggers write.
func TestWebhookEventsAreWritten(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		query := "SELECT sql FROM sqlite_master WHERE type = 'trigger'"
		if strings.HasPrefix(w.url, "postgres") {
			// Only functions that a trigger calls: one that no row reaches writes nothing.
			query = "SELECT p.prosrc FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid WHERE NOT t.tgisinternal"
		}
		var sources []string
		w.raw(func(db *sql.DB) {
			rows, err := db.QueryContext(w.ctx, query)
			require.NoError(t, err)
			defer rows.Close()
			for rows.Next() {
				var source string
				require.NoError(t, rows.Scan(&source))
				if strings.Contains(source, "webhook_deliveries") || strings.Contains(source, "add_event") {
					sources = append(sources, source)
				}
			}
			require.NoError(t, rows.Err())
		})
		require.Equal(t, models.WebhookEvents(), eventsIn(strings.Join(sources, "\n")))
	})
}

// TestWebhookEventsAreDescribed compares them with the table of the page.
func TestWebhookEventsAreDescribed(t *testing.T) {
	page, err := os.ReadFile("../../docs/webhooks.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(page), "## Events\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "```")
	want := append(models.WebhookEvents(), models.WebhookTest)
	slices.Sort(want)
	require.Equal(t, want, eventsIn(table))
}
