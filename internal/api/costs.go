package api

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"coachline/models"
)

// Costs are what some days cost, added up. Money is in millionths of the currency.
type Costs struct {
	From     string    `json:"from" doc:"First day, of UTC."`
	Until    string    `json:"until" doc:"Last day, of UTC."`
	By       string    `json:"by"`
	Currency string    `json:"currency" doc:"Empty where no prices are configured."`
	Rows     []CostRow `json:"rows" nullable:"false"`
	Total    CostRow   `json:"total" doc:"The sum of the rows; by model, texts are not in it."`
}

// CostRow is one sum.
type CostRow struct {
	Key          string `json:"key" doc:"The day, the participant's id or the study's (empty: people who are not enrolled), the model, or the kind: model, outbound, inbound."`
	Name         string `json:"name,omitempty" doc:"The person's name, for callers who may see it."`
	Calls        int64  `json:"calls" doc:"Calls of models and texts."`
	InputTokens  int64  `json:"input_tokens"`
	CachedTokens int64  `json:"cached_tokens" doc:"Those of input_tokens that the provider had."`
	OutputTokens int64  `json:"output_tokens"`
	AudioMillis  int64  `json:"audio_ms" doc:"Length of the voice notes that were written down and are paid by the minute."`
	LostCalls    int64  `json:"lost_calls" doc:"Calls of models whose answer was lost, as with a worker that was killed. What they used, only the provider knows; they are among unpriced."`
	SegmentsOut  int64  `json:"segments_out"`
	SegmentsIn   int64  `json:"segments_in"`
	Micros       int64  `json:"micros"`
	Unpriced     int64  `json:"unpriced" doc:"Calls and texts that no price was known for; they are not in micros."`
}

// Budget bounds what may be spent, for the programme, a study or a person.
type Budget struct {
	ID            int64               `json:"id"`
	Scope         models.BudgetScope  `json:"scope" enum:"programme,study,participant"`
	ParticipantID string              `json:"participant_id,omitempty"`
	StudyID       string              `json:"study_id,omitempty"`
	Period        models.BudgetPeriod `json:"period" enum:"day,month,total" doc:"It begins anew with each day or month of UTC."`
	Micros        int64               `json:"micros" doc:"In millionths of the currency."`
	WarnPercent   int64               `json:"warn_percent"`
	Currency      string              `json:"currency"`
	State         models.BudgetState  `json:"state" enum:"open,warned,spent" doc:"As of the last sweep, seconds ago. While it is spent the model writes nothing, and fixed texts stand in."`
	Spent         int64               `json:"spent" doc:"In millionths of the currency, in this period."`
	CreatedBy     string              `json:"created_by"`
	UpdatedAt     time.Time           `json:"updated_at"`
}

// Settings is b without what spending changes.
func (b Budget) Settings() Budget {
	b.State, b.Spent = "", 0
	return b
}

// BudgetList is all budgets, the programme's first.
type BudgetList struct {
	Budgets []Budget `json:"budgets" nullable:"false"`
}

// NewBudget sets a budget in the place of the one of the same scope and period.
type NewBudget struct {
	Scope         models.BudgetScope  `json:"scope,omitempty" enum:"programme,study,participant" default:"programme"`
	ParticipantID string              `json:"participant_id,omitempty" maxLength:"64" doc:"Whose, with scope participant."`
	StudyID       string              `json:"study_id,omitempty" maxLength:"40" doc:"Of which study, with scope study."`
	Period        models.BudgetPeriod `json:"period" enum:"day,month,total"`
	Micros        int64               `json:"micros" minimum:"1" maximum:"1000000000000" doc:"In millionths of the currency."`
	WarnPercent   int64               `json:"warn_percent,omitempty" minimum:"1" maximum:"100" default:"80" doc:"At what part of it operators are warned."`
}

// BudgetChange changes a budget; what is left out stays.
type BudgetChange struct {
	Micros      *int64 `json:"micros,omitempty" minimum:"1" maximum:"1000000000000" doc:"In millionths of the currency."`
	WarnPercent *int64 `json:"warn_percent,omitempty" minimum:"1" maximum:"100" doc:"At what part of it operators are warned."`
}

// FormatMoney writes millionths of a currency with two decimals, or with as many as
// they have where that is more: "12.30 USD", "0.000041 USD".
func FormatMoney(micros int64, currency string) string {
	sign := ""
	if micros < 0 {
		sign, micros = "-", -micros
	}
	fraction := strings.TrimRight(fmt.Sprintf("%06d", micros%1_000_000), "0")
	for len(fraction) < 2 {
		fraction += "0"
	}
	return strings.TrimSpace(fmt.Sprintf("%s%d.%s %s", sign, micros/1_000_000, fraction, currency))
}

// ParseMoney reads an amount of at most six decimals as millionths.
func ParseMoney(text string) (int64, error) {
	whole, fraction, _ := strings.Cut(strings.TrimSpace(text), ".")
	digits := whole + fraction
	if whole == "" || len(digits) > 13 || len(fraction) > 6 || strings.Trim(digits, "0123456789") != "" {
		return 0, fmt.Errorf("%q is not an amount such as 25 or 12.50", text)
	}
	return strconv.ParseInt(whole+(fraction + "000000")[:6], 10, 64)
}
