package console

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
)

// A name that is written from right to left turns nothing around it.
func TestNamesAreIsolated(t *testing.T) {
	var out strings.Builder
	p := api.Person{}
	p.ID, p.Name, p.Phone = "p1", "דנה", "+12025550123"
	require.NoError(t, personRow(&viewer{}, p, false).Render(&out))
	require.Contains(t, out.String(), "<bdi>דנה</bdi></a></td><td>+12025550123")
}
