package connect_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"coachline/internal/connect"
)

// TestClaimsToTreatAreFound in the texts of an installation; what denies them, and files
// that are no texts, are not.
func TestClaimsToTreatAreFound(t *testing.T) {
	found, err := connect.FindClaims(fstest.MapFS{
		"persona.md":    {Data: []byte("You are a coach.\nYou treat depression with walks.")},
		"de/persona.md": {Data: []byte("Du bist Coach. Du stellst eine Diagnose und gibst Rat.")},
		"es/help.md":    {Data: []byte("Un programa que ofrece tratamiento para la ansiedad")},
		"fr/help.md":    {Data: []byte("Le coach soigne le dos")},
		"pt/help.md":    {Data: []byte("Oferecemos tratamento")},
		"intake.md":     {Data: []byte("Never diagnose and don't treat anything. Ask for the habit.")},
		"feedback.md":   {Data: []byte("No medical advice or treatment.")},
		"notes.txt":     {Data: []byte("We treat everything")},
	})
	require.NoError(t, err)
	require.Equal(t, []string{
		`de/persona.md ("Diagnose")`, `es/help.md ("tratamiento")`, `fr/help.md ("soigne")`, `persona.md ("treat")`, `pt/help.md ("tratamento")`,
	}, found)
}
