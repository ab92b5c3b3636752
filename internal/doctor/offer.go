package doctor

import (
	"fmt"

	"coachline/internal/config"
	"coachline/internal/offer"
	"coachline/prompts"
)

// checkOffer reads the texts of the installation.
func checkOffer(cfg config.Config) (string, error) {
	library, err := prompts.LoadWith(cfg.Worker.PromptsDir, cfg.Replies.Focuses == config.SwitchOn)
	if err != nil {
		return "", fmt.Errorf("COACH_PROMPTS_DIR: %w", err)
	}
	return offer.New(cfg, library).Describe(), nil
}
