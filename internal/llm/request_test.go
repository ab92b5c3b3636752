package llm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/stretchr/testify/require"

	"coachline/models"
)

// A tool that is kept encoded is sent as if it were not.
func TestToolsAreSentTheSame(t *testing.T) {
	odd := "a \"quoted\" <b>&\u2028é\xff\n\\text"
	schema := `{"type":"object", "properties":{"z":{"type":"string","enum":["<a>","é\u00e9"]},"a":{"maximum":1e21,"default":1.50}},"required":["z"]}`
	req := models.ChatRequest{Model: "m1", Tools: []models.ToolSpec{
		{}, {Name: "bare"}, {Name: "null", Schema: json.RawMessage(`null`)}, {Name: "empty", Schema: json.RawMessage(`{}`)},
		{Name: odd, Description: odd, Schema: json.RawMessage(schema)}, {Name: "again", Schema: json.RawMessage(schema)},
		{Name: "again", Description: "other words", Schema: json.RawMessage(schema)},
	}}
	plain := openai.ChatCompletionNewParams{Model: req.Model}
	for _, tool := range req.Tools {
		one, err := buildTool(tool)
		require.NoError(t, err)
		plain.Tools = append(plain.Tools, one)
	}
	want, err := plain.MarshalJSON()
	require.NoError(t, err)
	b := newBuilder()
	for range 2 {
		got, err := b.build(req, nil)
		require.NoError(t, err)
		text, err := got.MarshalJSON()
		require.NoError(t, err)
		require.Equal(t, string(want), string(text))
	}
	_, err = b.build(models.ChatRequest{Tools: []models.ToolSpec{{Name: "broken", Schema: json.RawMessage(`{`)}}}, nil)
	require.ErrorContains(t, err, "tool broken")
}

func TestToolsAreBounded(t *testing.T) {
	b := newBuilder()
	for i := range 2 * knownTools {
		_, err := b.tool(models.ToolSpec{Name: "a" + strings.Repeat("b", i)})
		require.NoError(t, err)
	}
	require.Equal(t, knownTools, b.tools.Len())
}
