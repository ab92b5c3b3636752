package connect

import (
	"time"

	"coachline/internal/config"
	"coachline/internal/llm"
	"coachline/models"
)

// embedTimeout bounds a request for vectors, for models.UsualModelTimeout.
const embedTimeout = 5 * time.Second

// ModelConfig is what a client of the model needs of the settings.
func ModelConfig(cfg config.Model) llm.Config {
	var second *llm.Second
	if other := cfg.Second; other != nil {
		second = &llm.Second{BaseURL: other.URL, Key: other.Key.Reveal(), Model: other.Name, Small: other.Small, SmallName: cfg.Small}
	}
	return llm.Config{
		Second:  second,
		BaseURL: cfg.BaseURL, Keys: cfg.Keys(), Groups: cfg.KeyGroups(), SpeechModel: cfg.Transcribe, Timeout: cfg.Timeout, EmbedTimeout: models.InProportion(embedTimeout, cfg.Timeout),
		EmbeddingModel: cfg.Embedding, EmbeddingURL: cfg.EmbeddingURL, EmbeddingKey: cfg.EmbeddingKey.Reveal(),
	}
}
