package activities_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/prompts"
)

// Every text that the table of kinds names is a text of the library.
func TestKindsNameFixedTexts(t *testing.T) {
	library, err := prompts.Load("")
	require.NoError(t, err)
	var named int
	for _, kind := range models.EntriesWith(func(models.KindSpec) bool { return true }) {
		for _, name := range []string{kind.Spec().Fixed, kind.Spec().Fallback} {
			if name == "" {
				continue
			}
			named++
			text, err := library.Fixed(prompts.Name(name), "en", prompts.FixedData{Programme: "Test"})
			require.NoError(t, err, kind)
			require.NotEmpty(t, text, kind)
		}
	}
	require.Equal(t, 10, named)
}
