package connect

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"

	"coachline/models/wire"
)

// The command to add a missing search attribute is the one that Temporal's
// command line knows.
func TestMissingSearchAttributes(t *testing.T) {
	have := map[string]enums.IndexedValueType{}
	for name, typeName := range wire.SearchAttributes() {
		kind, err := enums.IndexedValueTypeFromString(typeName)
		require.NoError(t, err)
		have[name] = kind
	}
	require.NoError(t, missingAttributes("default", have))
	delete(have, wire.AttrAttention)
	have[wire.AttrUnreachable] = enums.INDEXED_VALUE_TYPE_KEYWORD
	err := missingAttributes("study", have)
	require.ErrorContains(t, err, "temporal operator search-attribute create --namespace study --name CoachAttention --type KeywordList")
	require.ErrorContains(t, err, "CoachUnreachable has the type Keyword and must be Bool")
	require.NotContains(t, err.Error(), "CoachStatus")
}
