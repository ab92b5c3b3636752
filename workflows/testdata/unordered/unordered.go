// Package unordered is what must not be written in workflow code: the order of
// its activities is another one in every replay.
package unordered

import "go.temporal.io/sdk/workflow"

// Participant starts an activity for every entry of a map.
func Participant(ctx workflow.Context, kinds map[string]string) error {
	for kind := range kinds {
		if err := workflow.ExecuteActivity(ctx, kind).Get(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}
