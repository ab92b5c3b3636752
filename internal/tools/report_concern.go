package tools

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"coachline/models"
)

// Concerns raises alerts about the one turn that the caller bound. An error is worth a
// retry, which finds what was raised; models.ErrNotFound: the turn answers no message.
type Concerns interface {
	ReportConcern(ctx context.Context, c models.Concern) (ConcernReport, error)
}

// ConcernReport is what the coach may say of a concern: the safety text in the person's
// language, and the numbers in it.
type ConcernReport struct {
	Sentence string
	Numbers  []string
}

// reportConcern lets the coach raise the alert that the screening raises for words that
// it recognises: for danger that only the conversation shows.
func reportConcern() Tool {
	return Tool{
		Name: "report_concern",
		Description: "Report that someone may be in danger (suicide, self-harm, violence, a child at risk, a medical emergency), also where only several messages together show it " +
			"(a will, things given away, a goodbye, sudden calm after despair). Call it before you answer: the result says what to tell the person. Not for a bad day or past danger.",
		Schema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "who": {
      "type": "string",
      "enum": ["self", "another"]
    },
    "what": {
      "type": "string",
      "enum": ["suicide", "selfharm", "violence", "child", "harm_others", "emergency", "other"]
    },
    "urgency": {
      "type": "string",
      "enum": ["now", "soon"],
      "description": "now: they mean to act, act or are hurt; soon: a person should ask."
    },
    "reason": {
      "type": "string",
      "maxLength": 120,
      "description": "In twelve words of English."
    }
  },
  "required": ["who", "what", "urgency"],
  "additionalProperties": false
}`),
		Modes:   bothModes(),
		Control: true,
		Run:     raiseConcern,
	}
}

// concernAnswer is the result of a report. The end of the turn reads sentence and numbers
// again, so that no reply lacks them.
type concernAnswer struct {
	OK       bool     `json:"ok"`
	Sentence string   `json:"sentence"`
	Numbers  []string `json:"numbers,omitempty"`
	Note     string   `json:"note"`
}

func raiseConcern(ctx context.Context, in RunInput, args Arguments) (Execution, error) {
	noMessage := models.BadField("tool", "answers no message here, so there is nothing to report")
	if in.Concerns == nil {
		return Execution{}, noMessage
	}
	report, err := in.Concerns.ReportConcern(ctx, models.Concern{
		TurnID: in.TurnID, IsAnother: args.Text("who") == "another", Kind: args.Text("what"), IsUrgent: args.Text("urgency") == "now", Reason: args.Text("reason"), Now: in.Now,
	})
	switch {
	case errors.Is(err, models.ErrNotFound):
		return Execution{}, noMessage
	case err != nil:
		return Execution{}, err
	}
	return Execution{Result: successResult(in.Call, concernAnswer{
		OK: true, Sentence: report.Sentence, Numbers: report.Numbers,
		Note: "Leave coaching aside. Answer now with what sentence says, word for word or shorter, with its numbers. Say that a person is told only where it says so. Do not report it again.",
	})}, nil
}

// SafetySentence returns what a person must read because a call of the turn reported a
// concern; empty where none did, or where words have one of its numbers already.
func SafetySentence(runs []models.ToolRun, words string) string {
	for _, run := range slices.Backward(runs) {
		if run.Name != models.ToolReportConcern || run.Failed {
			continue
		}
		result, err := run.ToolResult()
		var answer concernAnswer
		if err != nil || json.Unmarshal([]byte(result.Content), &answer) != nil || !answer.OK {
			continue
		}
		if slices.ContainsFunc(answer.Numbers, func(number string) bool { return strings.Contains(words, number) }) {
			return ""
		}
		return answer.Sentence
	}
	return ""
}
