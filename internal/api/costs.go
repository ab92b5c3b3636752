package api

import (
	"fmt"
	"strconv"
	"strings"

	"coachline/models"
)

// Costs are what some days cost, added up. Money is in millionths of the currency.
type Costs struct {
	From     string           `json:"from" doc:"First day, of UTC."`
	Until    string           `json:"until" doc:"Last day, of UTC."`
	By       string           `json:"by"`
	Currency string           `json:"currency" doc:"Empty where no prices are configured."`
	Rows     []models.CostRow `json:"rows" nullable:"false"`
	Total    models.CostRow   `json:"total" doc:"The sum of the rows; by model, texts are not in it."`
}

// BudgetList is all budgets, the programme's first.
type BudgetList struct {
	Budgets []models.Budget `json:"budgets" nullable:"false"`
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
