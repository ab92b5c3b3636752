package connect

import (
	"coachline/internal/config"
	"coachline/internal/llm"
)

// ModelConfig is what a client of the model needs of the settings.
func ModelConfig(cfg config.Model) llm.Config {
	return llm.Config{
		BaseURL: cfg.BaseURL, Keys: cfg.Keys(), Groups: cfg.KeyGroups(), SpeechModel: cfg.Transcribe,
		EmbeddingModel: cfg.Embedding, EmbeddingURL: cfg.EmbeddingURL, EmbeddingKey: cfg.EmbeddingKey.Reveal(),
	}
}
