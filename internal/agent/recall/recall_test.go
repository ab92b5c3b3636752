package recall_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/prompts"
)

var day = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func library(t *testing.T) *prompts.Library {
	t.Helper()
	lib, err := prompts.Load("")
	require.NoError(t, err)
	return lib
}

func fact(id string, kind models.FactKind, text string, age int) models.Fact {
	return models.Fact{ID: id, ParticipantID: "p1", Kind: kind, Text: text, Version: 1, UpdatedAt: day.AddDate(0, 0, -age)}
}

func user(text string) models.Message {
	return models.Message{Role: models.RoleUser, Kind: models.KindMessage, Text: text}
}

func coach(text string) models.Message {
	return models.Message{Role: models.RoleAssistant, Kind: models.KindReply, Text: text}
}

func call(arguments string) models.Message {
	calls, _ := json.Marshal([]models.ToolCall{{ID: "c1", Name: "pollen", Arguments: arguments}})
	return models.Message{Role: models.RoleAssistant, Kind: models.KindToolCall, Text: string(calls)}
}

func result(content string) models.Message {
	text, _ := json.Marshal(models.ToolResult{CallID: "c1", Name: "pollen", Content: content})
	return models.Message{Role: models.RoleTool, Kind: models.KindToolResult, Text: string(text)}
}

// onlySystemAndUser holds for every request of a stage.
func onlySystemAndUser(t *testing.T, req models.ChatRequest) string {
	t.Helper()
	require.Len(t, req.Messages, 2)
	require.Equal(t, "system", req.Messages[0].Role)
	require.Equal(t, "user", req.Messages[1].Role)
	require.Empty(t, req.Tools)
	return req.Messages[0].Content
}

func long(n int) string { return strings.Repeat("x", n) }
