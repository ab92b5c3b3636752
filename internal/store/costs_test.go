package store_test

import (
	"database/sql"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/prices"
	"coachline/internal/store"
	"coachline/models"
)

func priceList(t *testing.T) *prices.List {
	t.Helper()
	list, err := prices.Parse([]byte(`{"currency": "USD", "models": {"bench": {"input": 1, "cached_input": 0.5, "output": 4}, "ear": {"audio_minute": 0.006}},
		"destinations": {"+1": {"outbound": 0.01, "inbound": 0.02}}}`))
	require.NoError(t, err)
	return list
}

// spend has one text and its answer cost something, as exchange does.
func (w *world) spend(n int, usage models.Usage) {
	w.t.Helper()
	require.NoError(w.t, w.saveStep(models.Step{TurnID: models.TurnID("p1", n), Number: 2, Model: "bench", Usage: usage, Trace: "{}", CreatedAt: at(n)}))
}

// Every call and every text is in the ledger once, however often it is swept and
// saved again.
func TestCostsAreRecordedOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.exchange(1)
		w.spend(1, models.Usage{Prompt: 1000, Cached: 200, Completion: 50})
		require.Equal(t, 0, w.count("SELECT count(*) FROM costs"))
		for range 2 {
			require.NoError(t, w.Costs.RecordCosts(w.ctx, priceList(t)))
			w.spend(1, models.Usage{Prompt: 9}) // a retry: the first one stays
		}
		require.Equal(t, 0, w.count("SELECT count(*) FROM cost_queue"))
		day := start.Format(time.DateOnly)
		sums, err := w.Costs.Sum(w.ctx, models.CostQuery{From: day, Until: day, By: models.CostByPerson})
		require.NoError(t, err)
		// 800 + 100 + 200 for tokens, 10,000 and 20,000 for the texts.
		require.Equal(t, []models.CostRow{{
			Key: "p1", Name: "Ada Quill", Calls: 4, InputTokens: 1000, CachedTokens: 200, OutputTokens: 50, SegmentsOut: 1, SegmentsIn: 1, Micros: 31_100,
		}}, sums)
		sums, err = w.Costs.Sum(w.ctx, models.CostQuery{From: day, Until: day, By: models.CostByKind})
		require.NoError(t, err)
		require.Len(t, sums, 3)
		sums, err = w.Costs.Sum(w.ctx, models.CostQuery{From: "2099-01-01", Until: "2099-01-02", By: models.CostByDay})
		require.NoError(t, err)
		require.Empty(t, sums)
		_, err = w.Costs.Sum(w.ctx, models.CostQuery{By: "phone"})
		require.ErrorContains(t, err, "by: must be")
	})
}

// A text that went to a number which the person has changed since costs what that
// number's country costs.
func TestCostsOfAFormerNumber(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.exchange(1)
		_, err := w.changePhone(newPhone, 3)
		require.NoError(t, err)
		require.Equal(t, 1, w.count("SELECT count(*) FROM outbox WHERE former_phone_id <> 0"))
		require.NoError(t, w.Costs.RecordCosts(w.ctx, priceList(t)))
		require.Equal(t, 0, w.count("SELECT count(*) FROM cost_queue"))
		require.Equal(t, 10_000, w.count("SELECT sum(micros) FROM costs WHERE kind = 'outbound'"))
	})
}

// Without prices all is counted and nothing is priced; a trace lists each call of
// a step.
func TestCostsWithoutPrices(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.exchange(1)
		trace := `{"stages": [{"Name": "model", "Model": "big", "Usage": {"prompt": 7, "completion": 1}}, {"Name": "guard"}, {"Name": "model", "Model": "big", "Usage": {"prompt": 5}}]}`
		require.NoError(t, w.saveStep(models.Step{TurnID: models.TurnID("p1", 1), Number: 2, Model: "big", Usage: models.Usage{Prompt: 5}, Trace: trace, CreatedAt: at(1)}))
		require.NoError(t, w.Costs.RecordCosts(w.ctx, nil))
		day := start.Format(time.DateOnly)
		sums, err := w.Costs.Sum(w.ctx, models.CostQuery{From: day, Until: day, By: models.CostByModel})
		require.NoError(t, err)
		require.Equal(t, []models.CostRow{{Key: "bench", Calls: 1, Unpriced: 1}, {Key: "big", Calls: 2, InputTokens: 12, OutputTokens: 1, Unpriced: 2}}, sums)
	})
}

// TestOnePersonSpendsNotEverybodys: a person without a budget is stopped for the day at a
// twentieth of the programme's.
func TestOnePersonSpendsNotEverybodys(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.exchange(1)
		require.NoError(t, w.Costs.RecordCosts(w.ctx, priceList(t))) // 30,000 millionths
		stops := func(micros int64, day int) bool {
			_, err := w.Budgets.SetBudget(w.ctx, models.Budget{
				Scope: models.BudgetProgramme, Period: models.BudgetMonth, Micros: micros, WarnPercent: 80, Currency: "USD", CreatedBy: "operator", UpdatedAt: at(1),
			})
			require.NoError(t, err)
			stopped, err := w.Budgets.SpentBudgets(w.ctx, at(2).AddDate(0, 0, day))
			require.NoError(t, err)
			require.False(t, stopped.Programme)
			return stopped.Stops("p1", "default")
		}
		require.False(t, stops(20*30_001, 0))
		require.True(t, stops(20*30_000, 0))
		require.False(t, stops(20*30_000, 1), "the next day begins anew")
		hers, err := w.Budgets.SetBudget(w.ctx, models.Budget{
			Scope: models.BudgetParticipant, ParticipantID: "p1", Period: models.BudgetDay, Micros: 1_000_000, WarnPercent: 80, Currency: "USD", CreatedBy: "operator", UpdatedAt: at(1),
		})
		require.NoError(t, err)
		require.False(t, stops(20*30_000, 0), "her own budget counts")
		require.NoError(t, w.Budgets.DeleteBudget(w.ctx, hers.ID, "operator", at(3)))
		require.True(t, stops(20*30_000, 0))
	})
}

func TestBudgets(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.exchange(1)
		set := func(b models.Budget) models.Budget {
			b.WarnPercent, b.Currency, b.CreatedBy, b.UpdatedAt = 80, "USD", "operator", at(1)
			out, err := w.Budgets.SetBudget(w.ctx, b)
			require.NoError(t, err)
			return out
		}
		month := set(models.Budget{Scope: models.BudgetProgramme, Period: models.BudgetMonth, Micros: 37_500})
		hers := set(models.Budget{Scope: models.BudgetParticipant, ParticipantID: "p1", Period: models.BudgetDay, Micros: 1_000_000})
		require.NoError(t, w.Costs.RecordCosts(w.ctx, priceList(t)))

		crossed, err := w.Budgets.CheckBudgets(w.ctx, at(2))
		require.NoError(t, err)
		require.Len(t, crossed, 1)
		require.Equal(t, models.BudgetWarned, crossed[0].State)
		require.Equal(t, int64(30_000), crossed[0].Spent)
		crossed, err = w.Budgets.CheckBudgets(w.ctx, at(3))
		require.NoError(t, err)
		require.Empty(t, crossed, "a crossing is told once")

		w.spend(1, models.Usage{Completion: 5000})
		require.NoError(t, w.Costs.RecordCosts(w.ctx, priceList(t)))
		crossed, err = w.Budgets.CheckBudgets(w.ctx, at(4))
		require.NoError(t, err)
		require.Len(t, crossed, 1)
		require.Equal(t, models.BudgetSpent, crossed[0].State)
		stopped, err := w.Budgets.SpentBudgets(w.ctx, at(5))
		require.NoError(t, err)
		require.True(t, stopped.Stops("p1", "default"))

		// A new month begins anew, also before it is swept.
		stopped, err = w.Budgets.SpentBudgets(w.ctx, at(5).AddDate(0, 1, 0))
		require.NoError(t, err)
		require.False(t, stopped.Stops("p1", "default"))

		// A larger budget takes the place of the smaller one; a person's stops theirs.
		larger := set(models.Budget{Scope: models.BudgetProgramme, Period: models.BudgetMonth, Micros: 50_000_000})
		require.Equal(t, month.ID, larger.ID)
		set(models.Budget{Scope: models.BudgetParticipant, ParticipantID: "p1", Period: models.BudgetDay, Micros: 10})
		_, err = w.Budgets.CheckBudgets(w.ctx, at(6))
		require.NoError(t, err)
		stopped, err = w.Budgets.SpentBudgets(w.ctx, at(6))
		require.NoError(t, err)
		require.Equal(t, models.SpentBudgets{Studies: map[string]bool{}, Participants: map[string]bool{"p1": true}}, stopped)

		require.NoError(t, w.Budgets.DeleteBudget(w.ctx, hers.ID, "operator", at(7)))
		require.ErrorIs(t, w.Budgets.DeleteBudget(w.ctx, hers.ID, "operator", at(7)), models.ErrNotFound)
		left, err := w.Budgets.List(w.ctx)
		require.NoError(t, err)
		require.Len(t, left, 1)
		_, err = w.Budgets.SetBudget(w.ctx, models.Budget{Scope: models.BudgetParticipant, ParticipantID: "px", Period: models.BudgetDay, UpdatedAt: at(8)})
		require.ErrorIs(t, err, models.ErrNotFound)
		require.Equal(t, 5, w.count("SELECT count(*) FROM audit WHERE action LIKE 'budget%'"))
	})
}

// TestBudgetOfAStudy: it counts and stops the people of the study, and no other.
func TestChangeBudget(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		set, err := w.Budgets.SetBudget(w.ctx, models.Budget{
			Scope: models.BudgetProgramme, Period: models.BudgetMonth, Micros: 5, WarnPercent: 80, Currency: "USD", CreatedBy: "operator", UpdatedAt: at(1),
		})
		require.NoError(t, err)
		changed, err := w.Budgets.ChangeBudget(w.ctx, models.BudgetChange{ID: set.ID, Micros: new(int64(7)), Actor: "user:ida", Now: at(2)})
		require.NoError(t, err)
		require.Equal(t, at(2), changed.UpdatedAt)
		_, err = w.Budgets.ChangeBudget(w.ctx, models.BudgetChange{ID: set.ID, WarnPercent: new(int64(60)), Actor: "user:ida", Now: at(3), Check: func(row models.Budget) error {
			require.Equal(t, at(2), row.UpdatedAt.UTC())
			return nil
		}})
		require.NoError(t, err)
		_, err = w.Budgets.ChangeBudget(w.ctx, models.BudgetChange{ID: set.ID, Micros: new(int64(9)), Now: at(4), Check: func(models.Budget) error { return models.ErrStale }})
		require.ErrorIs(t, err, models.ErrStale)
		_, err = w.Budgets.ChangeBudget(w.ctx, models.BudgetChange{ID: set.ID + 1, Now: at(4)})
		require.ErrorIs(t, err, models.ErrNotFound)
		rows, err := w.Budgets.List(w.ctx)
		require.NoError(t, err)
		require.Equal(t, []any{int64(7), int64(60), "user:ida"}, []any{rows[0].Micros, rows[0].WarnPercent, rows[0].CreatedBy})
		require.Equal(t, 3, w.count("SELECT count(*) FROM audit WHERE action = 'budget'"))
	})
}

func TestBudgetOfAStudy(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.exchange(1)
		w.raw(func(db *sql.DB) {
			for _, statement := range []string{
				"INSERT INTO studies (id, name, state, settings, seed, pseudonym_key, planned, created_at, updated_at, version) SELECT 'walk', name, state, settings, '', '', planned, created_at, updated_at, version FROM studies WHERE id = 'default'",
				"INSERT INTO costs (ref, participant_id, day, kind, model, stage, input_tokens, cached_tokens, output_tokens, segments, micros, currency) VALUES ('elsewhere', 'p2', '2026-03-02', 'model', '', '', 0, 0, 0, 0, 7, 'USD')",
				"UPDATE participants SET study_id = 'walk' WHERE id = 'p1'",
			} {
				_, err := db.Exec(statement)
				require.NoError(t, err)
			}
		})
		b := models.Budget{Scope: models.BudgetStudy, StudyID: "walk", Period: models.BudgetTotal, Micros: 30_000, WarnPercent: 80, Currency: "USD", CreatedBy: "operator", UpdatedAt: at(1)}
		_, err := w.Budgets.SetBudget(w.ctx, b)
		require.NoError(t, err)
		b.StudyID = "none"
		_, err = w.Budgets.SetBudget(w.ctx, b)
		require.ErrorIs(t, err, models.ErrNotFound)
		require.NoError(t, w.Costs.RecordCosts(w.ctx, priceList(t)))
		crossed, err := w.Budgets.CheckBudgets(w.ctx, at(2))
		require.NoError(t, err)
		require.Len(t, crossed, 1)
		require.Equal(t, int64(30_000), crossed[0].Spent)
		stopped, err := w.Budgets.SpentBudgets(w.ctx, at(3))
		require.NoError(t, err)
		require.True(t, stopped.Stops("p1", "walk"))
		require.False(t, stopped.Stops("p2", "default"))
		sums, err := w.Costs.Sum(w.ctx, models.CostQuery{From: "2026-01-01", Until: "2099-01-01", By: models.CostByStudy})
		require.NoError(t, err)
		require.Equal(t, []string{"", "walk"}, []string{sums[0].Key, sums[1].Key})
		require.Equal(t, int64(30_000), sums[1].Micros)
	})
}

// TestCostsOfCallsInVain: what a voice note took is counted by its length, and a
// call whose answer was lost is counted as such, without a price.
func TestCostsOfCallsInVain(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.exchange(1)
		stages := w.Memory
		for number, row := range map[int]models.Stage{
			7: {Name: models.StageLost, Decision: "outcome unknown", Model: "bench"},
			8: {Name: models.StageModel, Decision: "answer not kept", Model: "bench", Usage: models.Usage{Prompt: 1000}},
			9: {Name: models.StageTranscribe, Model: "ear", Usage: models.Usage{Audio: 90_000}},
		} {
			row.TurnID, row.Number, row.CreatedAt = models.TurnID("p1", 1), number, at(1)
			require.NoError(t, stages.SaveStage(w.ctx, row))
		}
		require.NoError(t, w.Costs.RecordCosts(w.ctx, priceList(t)))
		day := start.Format(time.DateOnly)
		sums, err := w.Costs.Sum(w.ctx, models.CostQuery{From: day, Until: day, By: models.CostByModel})
		require.NoError(t, err)
		// Of two calls of bench that were answered one is the reply's, with nothing counted.
		require.Equal(t, []models.CostRow{
			{Key: "bench", Calls: 3, InputTokens: 1000, LostCalls: 1, Micros: 1000, Unpriced: 1},
			{Key: "ear", Calls: 1, AudioMillis: 90_000, Micros: 9000},
		}, sums)
	})
}

// A text and its answer cost no statement more because they are counted, and what
// no budget bounds costs a sweep two.
func TestCostStatements(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Close())
		var seen statements
		w = seen.watch(t, store.Config{URL: w.url})
		w.enrolled()
		w.exchange(1)
		require.NotContains(t, strings.Join(seen.sent, "\n"), "cost")
		require.NoError(t, w.Costs.RecordCosts(w.ctx, nil))
		seen.sent = nil
		require.NoError(t, w.Costs.RecordCosts(w.ctx, nil))
		_, err := w.Budgets.CheckBudgets(w.ctx, at(2))
		require.NoError(t, err)
		require.Len(t, seen.sent, 2)
	})
}

// A sweep reads each table once, however much was spent: only the rows of costs
// are written one by one.
func TestCostStatementsOfASweep(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Close())
		var seen statements
		w = seen.watch(t, store.Config{URL: w.url})
		w.enrolled()
		reads := func(from, to int) int {
			for n := from; n <= to; n++ {
				w.exchange(n)
				w.spend(n, models.Usage{Prompt: 10})
			}
			seen.sent = nil
			require.NoError(t, w.Costs.RecordCosts(w.ctx, priceList(t)))
			return len(slices.DeleteFunc(seen.sent, func(statement string) bool { return strings.HasPrefix(statement, "INSERT") }))
		}
		one, nine := reads(1, 1), reads(2, 10)
		require.Equal(t, one, nine)
		require.LessOrEqual(t, nine, 10)
		require.Equal(t, 40, w.count("SELECT count(*) FROM costs"))
	})
}
