package toolcall_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent/toolcall"
	"coachline/models"
)

// J63, J95.
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
		{"tinyllama", small, text, 8_192},
		{"hermes-3-llama-3.1-8b", small, native, 8_192},
		{"scripted-coach", large, native, 0},
		{"", large, native, 0},
	} {
		t.Run(tt.model, func(t *testing.T) {
			require.Equal(t, models.Capability{
				Model: tt.model, Size: tt.size, Protocol: tt.protocol, ContextTokens: tt.context, Reason: "name",
			}, toolcall.Guess(tt.model))
		})
	}
}

func TestKnown(t *testing.T) {
	at := time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)
	guess := toolcall.Guess("llama3.2:1b")
	require.Equal(t, guess, toolcall.Known("llama3.2:1b", models.Capability{}))

	whole := models.Capability{
		Model: "llama3.2:1b", Endpoint: "a", Protocol: models.ProtocolTwoPhase, Size: models.SizeLarge, ContextTokens: 4096, Reason: "setting", LearntAt: at,
	}
	require.Equal(t, whole, toolcall.Known("llama3.2:1b", whole))

	size := toolcall.Known("llama3.2:1b", models.Capability{Size: models.SizeLarge})
	require.Equal(t, models.ProtocolNative, size.Protocol)
	require.Equal(t, guess.ContextTokens, size.ContextTokens)
	size = toolcall.Known("gpt-4o", models.Capability{Size: models.SizeSmall, Reason: "setting"})
	require.Equal(t, models.ProtocolText, size.Protocol)
	require.Equal(t, "setting", size.Reason)
}

// A29, J62: the decision after a refusal, and what it is remembered as.
func TestA29RefusedToolsBecomeText(t *testing.T) {
	native := toolcall.Guess("odd-model")
	learnt, ok := toolcall.Refused(native)
	require.True(t, ok)
	require.Equal(t, models.ProtocolText, learnt.Protocol)
	require.Equal(t, "refused", learnt.Reason)
	require.Equal(t, models.ProtocolText, toolcall.Known("odd-model", learnt).Protocol)

	_, ok = toolcall.Refused(learnt)
	require.False(t, ok, "no tools were sent, so sending again changes nothing")
	_, ok = toolcall.Refused(models.Capability{Protocol: models.ProtocolTwoPhase})
	require.False(t, ok)
}
