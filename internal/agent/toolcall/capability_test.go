package toolcall_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent/toolcall"
	"coachline/models"
)

func TestGuess(t *testing.T) {
	const (
		large, small = models.SizeLarge, models.SizeSmall
		native, text = models.ProtocolNative, models.ProtocolText
	)
	for _, tt := range []struct {
		model    string
		size     models.ModelSize
		protocol models.Protocol
		context  int
	}{
		{"gpt-4.1-mini", large, native, 1_047_576},
		{"openai/gpt-4o-mini", large, native, 128_000},
		{"gpt-4", large, native, 8_192},
		{"o3", large, native, 200_000},
		{"claude-sonnet-4-5", large, native, 200_000},
		{"gemma2:2b", small, text, 8_192},
		{"llama3.2:1b", small, text, 131_072},
		{"meta-llama/Llama-3.2-3B-Instruct", small, text, 131_072},
		{"mistral:7b-instruct-q4_0", small, text, 32_768},
		{"qwen2.5:0.5b", small, text, 32_768},
		{"qwen2.5-72b-instruct", large, native, 32_768},
		{"qwen3-30b-a3b", large, native, 32_768},
		{"mixtral-8x7b-instruct", large, native, 32_768},
		{"mixtral:8x22b", large, native, 32_768},
		{"gpt-oss:20b", large, native, 128_000},
		{"gemma-3n-e4b", small, text, 65_536},
		{"llama3", small, text, 8_192},
		{"llama3.3:latest", large, native, 131_072},
		{"llama3.1:latest", small, text, 131_072},
		{"mistral", small, text, 32_768},
		{"mistral-large-latest", large, native, 131_072},
		{"phi3:mini", small, text, 4_096},
		{"phi4", large, native, 16_384},
		{"granite3.3:8b", small, text, 8_192},
		{"granite3.1-dense", small, text, 8_192},
		{"hermes-3:8b", small, native, 8_192},
		{"olmo2", small, text, 8_192},
		{"aya:8b", small, text, 8_192},
		{"a-model:9b", small, text, 8_192},
		{"a-model:10b", large, native, 0},
		{"falcon3:latest", small, text, 8_192},
		{"smollm2-135m-instruct", small, text, 8_192},
		{"gemma-3-270m-it", small, text, 65_536},
		{"lfm2-350m", small, text, 8_192},
		{"tinyllama", small, text, 8_192},
		{"hermes-3-llama-3.1-8b", small, native, 8_192},
		{"scripted-coach", large, native, 0},
		{"", large, native, 0},
	} {
		t.Run(tt.model, func(t *testing.T) {
			got := toolcall.Known(tt.model, toolcall.Sources{})
			require.NotZero(t, got.AnswerTokens)
			got.AnswerTokens = 0
			require.Equal(t, models.Capability{
				Model: tt.model, Size: tt.size, Protocol: tt.protocol, ContextTokens: tt.context, Reason: "name", SizeSource: "name", ContextSource: "name",
			}, got)
		})
	}
}

func TestKnown(t *testing.T) {
	learnt := models.Capability{Protocol: models.ProtocolText, Reason: "refused", ContextTokens: 2048, ContextSource: models.FromOverflow, CharactersPerToken: 2.9}
	for _, tt := range []struct {
		name, model string
		from        toolcall.Sources
		size        models.ModelSize
		sizeBy      models.CapabilitySource
		context     int
		contextBy   models.CapabilitySource
		protocol    models.Protocol
	}{
		{"the name alone", "llama3.2:1b", toolcall.Sources{}, models.SizeSmall, "name", 131_072, "name", models.ProtocolText},
		{"the server", "my-coach", toolcall.Sources{Server: models.ModelFacts{ContextTokens: 4096, Billions: 7.6}}, models.SizeSmall, "server", 4096, "server", models.ProtocolText},
		{"the server says large", "llama3", toolcall.Sources{Server: models.ModelFacts{Billions: 70}}, models.SizeLarge, "server", 0, "name", models.ProtocolNative},
		{"settings", "llama3", toolcall.Sources{Size: models.SizeLarge, ContextTokens: 6000, Server: models.ModelFacts{ContextTokens: 4096, Billions: 8}}, models.SizeLarge, "setting", 6000, "setting", models.ProtocolNative},
		{"an overflow below the server", "m", toolcall.Sources{Server: models.ModelFacts{ContextTokens: 8192}, Stored: learnt}, models.SizeLarge, "name", 2048, "overflow", models.ProtocolText},
		{"an overflow above the server", "m", toolcall.Sources{Server: models.ModelFacts{ContextTokens: 1024}, Stored: learnt}, models.SizeLarge, "name", 1024, "server", models.ProtocolText},
		{"an overflow where the server says", "m", toolcall.Sources{Server: models.ModelFacts{ContextTokens: 2048}, Stored: learnt}, models.SizeLarge, "name", 2048, "server", models.ProtocolText},
		{"an overflow below the setting", "m", toolcall.Sources{ContextTokens: 9000, Stored: learnt}, models.SizeLarge, "name", 2048, "overflow", models.ProtocolText},
		{"a guess of an older build is none", "m", toolcall.Sources{Stored: models.Capability{Size: models.SizeSmall, ContextTokens: 8192, Reason: "name", Protocol: models.ProtocolText}}, models.SizeLarge, "name", 0, "name", models.ProtocolNative},
		{"a forced protocol", "llama3.2:1b", toolcall.Sources{Protocol: models.ProtocolTwoPhase, Stored: learnt}, models.SizeSmall, "name", 2048, "overflow", models.ProtocolTwoPhase},
		{"forced no longer", "m", toolcall.Sources{Stored: models.Capability{Reason: "forced", Protocol: models.ProtocolText}}, models.SizeLarge, "name", 0, "name", models.ProtocolNative},
		{"chosen for a test", "m", toolcall.Sources{Stored: models.Capability{Size: models.SizeSmall, Reason: "setting", Protocol: models.ProtocolTwoPhase}}, models.SizeSmall, "setting", 8192, "name", models.ProtocolTwoPhase},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := toolcall.Known(tt.model, tt.from)
			require.Equal(t, []any{tt.size, tt.sizeBy, tt.context, tt.contextBy, tt.protocol}, []any{got.Size, got.SizeSource, got.ContextTokens, got.ContextSource, got.Protocol})
			require.InDelta(t, tt.from.Stored.CharactersPerToken, got.CharactersPerToken, 0)
		})
	}
}

func TestAnswerRoom(t *testing.T) {
	for model, want := range map[string]int{
		"gpt-4.1-mini": 400, "llama3": 400, "o3-mini": 4096, "gpt-5-mini": 4096, "deepseek-r1:7b": 4096, "qwen3:8b": 4096, "qwen2.5:7b": 400, "gpt-oss:20b": 4096, "gpt-4o": 400,
	} {
		require.Equal(t, want, toolcall.AnswerRoom(model, 0), model)
		require.Equal(t, 700, toolcall.AnswerRoom(model, 700))
	}
}

// The decision after a refusal, and what it is remembered as.
func TestAForcedProtocolIsKept(t *testing.T) {
	_, changes := toolcall.Refused(toolcall.Known("gpt-4.1", toolcall.Sources{Protocol: models.ProtocolNative}))
	require.False(t, changes)
}

func TestA29RefusedToolsBecomeText(t *testing.T) {
	native := toolcall.Known("odd-model", toolcall.Sources{})
	learnt, ok := toolcall.Refused(native)
	require.True(t, ok)
	require.Equal(t, models.ProtocolText, learnt.Protocol)
	require.Equal(t, "refused", learnt.Reason)
	require.Equal(t, models.ProtocolText, toolcall.Known("odd-model", toolcall.Sources{Stored: learnt}).Protocol)

	_, ok = toolcall.Refused(learnt)
	require.False(t, ok, "no tools were sent, so sending again changes nothing")
	_, ok = toolcall.Refused(models.Capability{Protocol: models.ProtocolTwoPhase})
	require.False(t, ok)
}
