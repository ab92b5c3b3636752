package trial

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"coachline/models"
)

// HashDecision is the hash of a person's decision point. It covers the row and the
// head of the person's rows before it, and is keyed by the study's seed.
func HashDecision(seed []byte, row models.DecisionPoint, before string) string {
	parts := []string{
		purposeDecisionChain, before, row.ID, row.StudyID, row.ParticipantID, strconv.FormatInt(row.Number, 10), row.ScheduleID, row.LocalDate,
		strconv.Itoa(row.DayInStudy), strconv.FormatInt(row.DecidedAt.UnixMicro(), 10), strconv.FormatBool(row.Available), row.Reason, row.Policy, row.Options,
		row.Option, strconv.FormatBool(row.Send), row.Instruction, strconv.FormatBool(row.Intervention), writeFloat(row.RandProb), writeFloat(row.Draw),
		strconv.FormatInt(row.Counter, 10), strconv.Itoa(row.Algorithm), row.Build, strconv.Itoa(row.OutcomeHours),
	}
	if row.Posterior != "" { // rows of fixed probabilities keep the hashes that they have
		parts = append(parts, row.Posterior)
	}
	sum := keyOf(seed, parts...)
	return hex.EncodeToString(sum[:])
}

// HeadOfDecisions is what is kept of a person's rows up to one with its hash: who
// removes rows from the end cannot make the head of those that are left.
func HeadOfDecisions(seed []byte, row models.DecisionPoint) string {
	sum := keyOf(seed, purposeDecisionHead, row.ParticipantID, strconv.FormatInt(row.Number, 10), row.Hash)
	return hex.EncodeToString(sum[:])
}

func writeFloat(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }

// ChainDecision gives a decision point its hash, and returns the head that it makes.
func ChainDecision(seed []byte, row *models.DecisionPoint, before string) (head string) {
	row.Hash = HashDecision(seed, *row, before)
	return HeadOfDecisions(seed, *row)
}

// DecisionVerifier checks the decision points of one person one after the other.
type DecisionVerifier struct {
	seed          []byte
	participantID string
	points        models.DecisionPoints
	number        int64
	head          string
	chained       bool
}

// NewDecisionVerifier returns a verifier that stands before the person's first row.
func NewDecisionVerifier(seed []byte, participantID string, points models.DecisionPoints) *DecisionVerifier {
	return &DecisionVerifier{seed: seed, participantID: participantID, points: points}
}

// Rows returns how many rows were found right.
func (v *DecisionVerifier) Rows() int64 { return v.number }

// Check compares the person's next row with its hash, and with what the seed draws;
// nil when it is right. Rows from before there were hashes have none; the first one
// with a hash covers them. After a fault no further row can be checked.
func (v *DecisionVerifier) Check(row models.DecisionPoint) *Fault {
	if problem := v.compare(row); problem != "" {
		return &Fault{Number: v.number + 1, Problem: problem}
	}
	v.chained = v.chained || row.Hash != ""
	v.number, v.head = row.Number, ChainDecision(v.seed, &row, v.head)
	return nil
}

func (v *DecisionVerifier) compare(row models.DecisionPoint) string {
	switch {
	case row.Number != v.number+1:
		return fmt.Sprintf("row %d is missing or not in its place; row %d stands there", v.number+1, row.Number)
	case row.ParticipantID != v.participantID:
		return fmt.Sprintf("it is of participant %q", row.ParticipantID)
	case (row.Hash != "" || v.chained) && row.Hash != HashDecision(v.seed, row, v.head):
		return "the row, its hash or a row before it was changed, or the seed is another one"
	}
	options, problem := v.optionsOf(row)
	if problem != "" || !row.Available {
		return problem
	}
	drawn, err := Decide(v.seed, row.ParticipantID, row.Counter, options)
	if err != nil {
		return err.Error()
	}
	if row.Option != drawn.Option.Name || row.Draw != drawn.Draw {
		return fmt.Sprintf("its option is %q, the seed gives %q", row.Option, drawn.Option.Name)
	}
	return ""
}

// CheckHead compares what was kept of the person's rows with those that were
// checked, so rows removed from the end are found. A head without a hash is of a
// person whose rows all have none.
func (v *DecisionVerifier) CheckHead(kept models.DecisionHead) *Fault {
	switch {
	case kept.Number > v.number:
		return &Fault{Number: v.number + 1, Problem: fmt.Sprintf("the row is missing: the last one was row %d", kept.Number)}
	case kept.Number < v.number:
		return &Fault{Number: kept.Number + 1, Problem: fmt.Sprintf("the row was added: the last one was row %d", kept.Number)}
	case (kept.Hash != "" || v.chained) && kept.Hash != v.head:
		return &Fault{Number: v.number, Problem: "what was kept of the person's rows is not what they give"}
	}
	return nil
}

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
