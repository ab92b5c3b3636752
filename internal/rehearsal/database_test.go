package rehearsal

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSmallStudiesStayInMemory: tables go to a file where they would fill the
// machine's memory.
func TestSmallStudiesStayInMemory(t *testing.T) {
	require.Equal(t, "sqlite::memory:"+fastest, Config{People: 200, Days: 90}.database("/folder"))
	require.Equal(t, "sqlite:/folder/rehearsal.db"+fastest, Config{People: 1000, Days: 90}.database("/folder"))
}
