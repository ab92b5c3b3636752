package doctor

import (
	"context"
	"fmt"
	"time"

	"coachline/internal/agent"
	"coachline/internal/config"
	"coachline/internal/connect"
	"coachline/internal/llm"
	"coachline/internal/memory"
	"coachline/models"
)

// describeModel says what is known of the chat model, from where, and how long a
// reply will take.
func describeModel(ctx context.Context, cfg config.Config) (string, error) {
	client, err := llm.New(llm.Config{BaseURL: cfg.Model.BaseURL, Keys: cfg.Model.Keys()})
	if err != nil {
		return "", fmt.Errorf("building model client: %w", err)
	}
	rows, err := connect.OpenDatabase(ctx, cfg)
	if err != nil {
		return "", err
	}
	known := agent.New(agent.Config{
		Journal: memory.New(rows), Server: client, Now: time.Now, Settings: agent.Settings{
			ChatModel: cfg.Model.Name, Endpoint: cfg.Model.Endpoint(),
			ModelSize: cfg.Model.Size.Forced(), ContextTokens: cfg.Model.ContextTokens, AnswerTokens: cfg.Model.AnswerTokens,
		},
	}).Capability(ctx)
	return cfg.Model.Name + ": " + agent.DescribeCapability(known) + replyTime(known), rows.Close()
}

const (
	// plainTurn is how many tokens a plain request has, plainAnswer its answer.
	plainTurn, plainAnswer = 3000, 80
	// writtenAsRead is how many tokens are read in the time in which one is written.
	writtenAsRead = 5
)

// replyTime says how long a reply takes where the speed was measured.
func replyTime(known models.Capability) string {
	if known.TokensPerSecond <= 0 {
		return ""
	}
	seconds := (plainTurn + writtenAsRead*plainAnswer) / known.TokensPerSecond
	return fmt.Sprintf("; a reply takes %.0f s at first, less where the server keeps what it has read", max(seconds, 1))
}
