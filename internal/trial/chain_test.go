package trial_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/trial"
	"coachline/models"
)

var twoOptions = []models.DecisionOption{{Name: "send", Probability: 0.6, Send: true}, {Name: "none", Probability: 0.4}}

// decisionRecord returns decision points of a person, every third one not available,
// and what is kept of them.
func decisionRecord(t *testing.T, n int64) ([]models.DecisionPoint, models.DecisionHead) {
	var rows []models.DecisionPoint
	head := models.DecisionHead{ParticipantID: "conv_1"}
	for number := int64(1); number <= n; number++ {
		row := models.DecisionPoint{
			ID: fmt.Sprint("p", number), ParticipantID: "conv_1", Number: number, Counter: number, Available: number%3 > 0, DecidedAt: time.Unix(number, 0),
		}
		if row.Available {
			drawn, err := trial.Decide([]byte("seed"), "conv_1", number, twoOptions)
			require.NoError(t, err)
			row.Option, row.Draw = drawn.Option.Name, drawn.Draw
		}
		head.Number, head.Hash = number, trial.ChainDecision([]byte("seed"), &row, head.Hash)
		rows = append(rows, row)
	}
	return rows, head
}

func verifyDecisions(seed string, rows []models.DecisionPoint, head models.DecisionHead) *trial.Fault {
	v := trial.NewDecisionVerifier([]byte(seed), "conv_1", models.DecisionPoints{Options: twoOptions})
	for _, row := range rows {
		if fault := v.Check(row); fault != nil {
			return fault
		}
	}
	return v.CheckHead(head)
}

func TestDecisionChain(t *testing.T) {
	for name, c := range map[string]struct {
		change func(rows []models.DecisionPoint, head *models.DecisionHead) []models.DecisionPoint
		row    int64
	}{
		"removed": {func(rows []models.DecisionPoint, _ *models.DecisionHead) []models.DecisionPoint {
			return slices.Delete(rows, 4, 5)
		}, 5},
		"exchanged": {func(rows []models.DecisionPoint, _ *models.DecisionHead) []models.DecisionPoint {
			rows[4], rows[5] = rows[5], rows[4]
			return rows
		}, 5},
		"cut off": {func(rows []models.DecisionPoint, _ *models.DecisionHead) []models.DecisionPoint { return rows[:8] }, 9},
		"cut off with the number": {func(rows []models.DecisionPoint, head *models.DecisionHead) []models.DecisionPoint {
			head.Number = 8
			return rows[:8]
		}, 8},
		"of another person": {func(rows []models.DecisionPoint, _ *models.DecisionHead) []models.DecisionPoint {
			rows[4].ParticipantID = "conv_2"
			return rows
		}, 5},
		"hashed anew with another seed": {func(rows []models.DecisionPoint, head *models.DecisionHead) []models.DecisionPoint {
			rows[2].Reason, head.Hash = "held", ""
			for i := range rows {
				head.Hash = trial.ChainDecision([]byte("guess"), &rows[i], head.Hash)
			}
			return rows
		}, 1},
		"hash taken away": {func(rows []models.DecisionPoint, _ *models.DecisionHead) []models.DecisionPoint {
			rows[4].Hash = ""
			return rows
		}, 5},
		"changed, and all hashes taken away": {func(rows []models.DecisionPoint, _ *models.DecisionHead) []models.DecisionPoint {
			rows[2].Reason = "held"
			for i := range rows {
				rows[i].Hash = ""
			}
			return rows
		}, 9},
		"option of a row without a hash": {func(rows []models.DecisionPoint, head *models.DecisionHead) []models.DecisionPoint {
			for i := range rows {
				rows[i].Hash = ""
			}
			rows[3].Option, head.Hash = map[string]string{"send": "none", "none": "send"}[rows[3].Option], ""
			return rows
		}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			rows, head := decisionRecord(t, 9)
			require.Nil(t, verifyDecisions("seed", rows, head))
			require.Equal(t, int64(1), verifyDecisions("other", rows, head).Number)
			fault := verifyDecisions("seed", c.change(rows, &head), head)
			require.NotNil(t, fault)
			require.Equal(t, c.row, fault.Number, fault.Problem)
		})
	}
}
