package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"coachline/models"
)

// TestAttributesAreSetWhenTheyChange: a run that begins with attributes which
// show its state sets none, until a due time is added; one that is continued
// says whether they show what it passes on.
func TestAttributesAreSetWhenTheyChange(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		shown, schedule bool
		want            []int // attributes set, by each command
	}{
		"shown":           {shown: true, want: nil},
		"not shown":       {want: []int{2}},
		"shown, then due": {shown: true, schedule: true, want: []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, withRules(quiet))
			w.state.AttributesShown = tt.shown
			var set []int
			w.env.OnUpsertTypedSearchAttributes(mock.Anything).Run(func(args mock.Arguments) {
				set = append(set, args.Get(0).(temporal.SearchAttributes).Size())
			}).Return(nil).Maybe()
			if tt.schedule {
				w.model.answer = scripted(map[string][]models.ToolCall{
					"six": {call("scheduler", map[string]any{"action": "create", "type": "fixed", "fixed_time": "18:00"})},
				})
			}
			w.text(time.Minute, "at six please")
			w.at(2*time.Minute, func() { w.env.SetContinueAsNewSuggested(true) })
			w.text(3*time.Minute, "and now")
			w.run(time.Hour)
			require.Equal(t, tt.want, set)
			next := w.continued()
			require.True(t, next.AttributesShown)
			require.Equal(t, tt.schedule, len(next.Due) == 1)
		})
	}
}
