package trial

import (
	"errors"

	"coachline/models"
)

// ErrOptions is returned where there is no option to draw.
var ErrOptions = errors.New("the decision points have no options")

// Decision is the outcome of a decision point.
type Decision struct {
	Option models.DecisionOption
	// Draw is the random number that chose it, at least 0 and below 1.
	Draw float64
}

// Decide draws the option of a person's decision point. Counter is the point's index
// among the person's.
func Decide(seed []byte, participantID string, counter int64, options []models.DecisionOption) (Decision, error) {
	if len(options) == 0 {
		return Decision{}, ErrOptions
	}
	probabilities := make([]float64, len(options))
	for i, option := range options {
		probabilities[i] = option.Probability
	}
	at := uniform(newSource(seed, counter, purposeDecision, participantID))
	return Decision{Option: options[pick(probabilities, at)], Draw: at}, nil
}
