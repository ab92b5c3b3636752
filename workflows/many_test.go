package workflows_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

// A turn of many texts is one reply, and no text of it is kept from the models:
// what the chat model is not shown as it is, a digest was made of.
func TestEveryTextOfATurnIsRead(t *testing.T) {
	t.Parallel()
	const count = 120
	w := newWorld(t)
	for n := range count {
		w.text(time.Duration(n)*time.Millisecond, fmt.Sprintf("word%03d please", n))
	}
	w.run(time.Hour)
	require.Len(t, w.carrier.of(models.KindReply), 1)
	read := map[string]string{}
	for _, request := range w.model.requests {
		text, err := json.Marshal(request.Messages)
		require.NoError(t, err)
		read[request.Model] += string(text)
	}
	for n := range count {
		word := fmt.Sprintf("word%03d", n)
		where := "test" // the chat model
		if n < count-50 {
			where = "small"
		}
		require.Contains(t, read[where], word, "%s was not read by %s", word, where)
	}
	trace, err := w.store.Turns.TurnContext(t.Context(), "conv_1-t1", 0)
	require.NoError(t, err)
	require.Len(t, trace.Steps, 1)
	kept, ok := trace.Steps[0].StepTrace()
	require.True(t, ok)
	require.Equal(t, count-50, kept.Prepared.Older.Count)
}
