package rehearsal

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"coachline/internal/zones"
	"coachline/models"
	"coachline/models/wire"
)

// Report is what a rehearsal came to. Everything but Took follows from the seed and
// the settings.
type Report struct {
	Study    string          `json:"study"`
	Seed     uint64          `json:"seed"`
	People   int             `json:"people"`
	Days     int             `json:"days"`
	From     time.Time       `json:"from"`
	Until    time.Time       `json:"until"`
	Took     string          `json:"took"`
	Personas map[Persona]int `json:"personas"`
	Texts    Texts           `json:"texts"`
	// SendsByHour counts what the carrier took by the hour that the person's clock
	// showed.
	SendsByHour [24]int                  `json:"sends_by_hour"`
	SendsByKind map[models.EntryKind]int `json:"sends_by_kind"`
	Quiet       Quiet                    `json:"quiet_hours"`
	Prompts     Prompts                  `json:"prompts"`
	Cost        []models.CostRow         `json:"cost"`
	Currency    string                   `json:"currency,omitempty"`
	// Arms counts people and answers by arm.
	Arms []Arm `json:"arms"`
	// Availability counts decision points by what came of them.
	Availability map[string]int `json:"availability"`
	Attention    []AttentionDay `json:"attention"`
	Faults       Faults         `json:"faults"`
	Effect       *Effect        `json:"effect,omitempty"`
	Checks       []Check        `json:"checks"`
	Broke        []Failure      `json:"broke"`
}

// Texts are the totals of the stand-in beside those of the tables.
type Texts struct {
	CarrierTook    int `json:"carrier_took"`
	OutboxAccepted int `json:"outbox_accepted"`
	Segments       int `json:"segments"`
	OutboxSegments int `json:"outbox_segments"`
	PeopleWrote    int `json:"people_wrote"`
	InboundRows    int `json:"inbound_rows"`
	ModelCalls     int `json:"model_calls"`
	InputTokens    int `json:"model_input_tokens"`
	OutputTokens   int `json:"model_output_tokens"`
	Runs           int `json:"continued_as_new"`
}

// Quiet says how quiet hours were held.
type Quiet struct {
	Hours string `json:"hours"`
	// Started counts what the programme started, Chosen those prompts among them
	// that came in quiet hours at the time that the person had chosen.
	Started  int      `json:"started"`
	Chosen   int      `json:"chosen"`
	Breaches []Breach `json:"breaches"`
}

// Breach is a message that the programme started in quiet hours.
type Breach struct {
	ParticipantID string           `json:"participant_id"`
	Kind          models.EntryKind `json:"kind"`
	Local         string           `json:"local"`
}

// Prompts counts prompts by what became of them, and answers by day of the study.
type Prompts struct {
	Sent     int                        `json:"sent"`
	Answered int                        `json:"answered_in_time"`
	States   map[models.PromptState]int `json:"states"`
	Reasons  map[string]int             `json:"reasons"`
	ByDay    []DayCount                 `json:"by_day"`
}

// DayCount counts the prompts of a day of the study.
type DayCount struct {
	Day      int `json:"day"`
	Sent     int `json:"sent"`
	Answered int `json:"answered_in_time"`
}

// Arm counts the people of an arm and their prompts.
type Arm struct {
	Name     string `json:"name"`
	People   int    `json:"people"`
	Sent     int    `json:"prompts_sent"`
	Answered int    `json:"answered_in_time"`
	// Strata counts the people of the arm by stratum, where the study has strata.
	Strata map[string]int `json:"strata,omitempty"`
}

// AttentionDay counts what called for an operator on a day of the study.
type AttentionDay struct {
	Day    int                    `json:"day"`
	Raised map[wire.Attention]int `json:"raised"`
}

// Faults counts the failures that were played.
type Faults struct {
	CarrierRefused int `json:"carrier_refused"`
	CarrierLost    int `json:"carrier_answers_lost"`
	Undelivered    int `json:"undelivered"`
	Model          int `json:"model"`
	Pages          int `json:"pages"`
}

// Check is a rule that must hold in every study.
type Check struct {
	Name   string `json:"name"`
	Holds  bool   `json:"holds"`
	Detail string `json:"detail"`
}

// Failed reports whether a rule did not hold or something went wrong.
func (r Report) Failed() bool {
	return len(r.Broke) > 0 || slices.ContainsFunc(r.Checks, func(c Check) bool { return !c.Holds })
}

// promptRow is a prompt with what the report reads of it.
type promptRow struct {
	ID, ParticipantID, ScheduleID, Reason string
	State                                 models.PromptState
	TargetAt                              time.Time
	SentAt, RespondedAt                   *time.Time
	Type                                  wire.ScheduleType
}

// isAnswered reports whether the answer came in time.
func (p promptRow) isAnswered() bool {
	return p.SentAt != nil && p.RespondedAt != nil && !p.RespondedAt.After(p.SentAt.Add(outcomeWindow))
}

// tables are what the report reads of the database.
type tables struct {
	prompts   map[string]promptRow
	decisions []models.DecisionPoint
	answers   answersOf
	// allocations is nil where the study has no arms.
	allocations *models.AllocationCheck
}

func (r *run) readTables(ctx context.Context) (*tables, error) {
	t := &tables{prompts: map[string]promptRow{}}
	var rows []promptRow
	err := r.store.Database().Reader(ctx).Raw(`SELECT p.id, p.participant_id, p.schedule_id, p.reason, p.state, p.target_at, p.sent_at, p.responded_at, s.type
		FROM prompts p LEFT JOIN schedules s ON s.participant_id = p.participant_id AND s.id = p.schedule_id`).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("reading prompts: %w", err)
	}
	for _, row := range rows {
		t.prompts[row.ID] = row
	}
	if err := r.store.Database().Reader(ctx).Where("study_id = ?", r.study.id).Order("participant_id, number").Find(&t.decisions).Error; err != nil {
		return nil, fmt.Errorf("reading decision points: %w", err)
	}
	if len(r.study.settings.Arms) > 0 {
		check, err := r.store.Allocations.CheckAllocations(ctx, r.study.id)
		if err != nil {
			return nil, err
		}
		t.allocations = &check
	}
	t.answers, err = r.readAnswers(ctx)
	return t, err
}

// newReport adds everything up.
func (r *run) newReport(ctx context.Context) (Report, error) {
	rows, err := r.readTables(ctx)
	if err != nil {
		return Report{}, err
	}
	out := Report{
		Study: r.cfg.Study, Seed: r.cfg.Seed, People: r.cfg.People, Days: r.cfg.Days, From: r.from, Until: r.until,
		Personas: map[Persona]int{}, SendsByKind: map[models.EntryKind]int{}, Availability: map[string]int{}, Broke: r.failures,
		Faults: Faults{CarrierRefused: r.tally.CarrierRefusals, CarrierLost: r.tally.CarrierLost, Undelivered: r.tally.Undelivered, Model: r.tally.ModelFaults, Pages: r.tally.Pages},
	}
	if err := r.countTexts(ctx, &out); err != nil {
		return Report{}, err
	}
	r.countSends(&out, rows)
	r.countPrompts(&out, rows)
	if out.Attention, err = r.readAttention(ctx); err != nil {
		return Report{}, err
	}
	query := models.CostQuery{From: r.from.Format(time.DateOnly), Until: r.until.Format(time.DateOnly), By: models.CostByKind}
	if out.Cost, err = r.store.Costs.Sum(ctx, query); err != nil {
		return Report{}, fmt.Errorf("reading costs: %w", err)
	}
	if list := r.cfg.Settings.Costs.Prices; list != nil {
		out.Currency = list.Currency()
	}
	out.Effect = r.estimate(rows)
	out.Checks = r.check(out, rows)
	return out, nil
}

// countTexts sets the totals side by side.
func (r *run) countTexts(ctx context.Context, out *Report) error {
	out.Texts.ModelCalls, out.Texts.Runs = r.tally.ModelCalls, r.tally.Runs
	out.Texts.InputTokens, out.Texts.OutputTokens = r.tally.InputTokens, r.tally.OutputTokens
	for _, p := range r.people {
		out.Personas[p.habits.persona]++
		out.Texts.PeopleWrote += len(p.heard.texts)
	}
	var sums struct{ Accepted, Segments, Inbound int }
	err := r.store.Database().Reader(ctx).Raw(`SELECT
		(SELECT COUNT(*) FROM outbox WHERE provider_sid <> '') AS accepted,
		(SELECT COALESCE(SUM(segments), 0) FROM outbox WHERE provider_sid <> '') AS segments,
		(SELECT COUNT(*) FROM inbound) AS inbound`).Scan(&sums).Error
	if err != nil {
		return fmt.Errorf("reading totals: %w", err)
	}
	out.Texts.OutboxAccepted, out.Texts.OutboxSegments, out.Texts.InboundRows = sums.Accepted, sums.Segments, sums.Inbound
	return nil
}

// countSends goes through what the carrier took.
func (r *run) countSends(out *Report, rows *tables) {
	out.Quiet.Hours = r.rules.Quiet.String()
	out.Quiet.Breaches = []Breach{}
	for _, p := range r.people {
		for _, one := range p.carrier.taken {
			out.Texts.CarrierTook++
			out.Texts.Segments += one.segments
			out.SendsByKind[one.kind]++
			zone, err := zones.Load(one.zone)
			if err != nil {
				zone = time.UTC
			}
			local := one.at.In(zone)
			out.SendsByHour[local.Hour()]++
			if !one.kind.Spec().Initiated {
				continue
			}
			out.Quiet.Started++
			switch {
			case !r.rules.Quiet.Contains(local):
			case r.isChosen(one, rows):
				out.Quiet.Chosen++
			default:
				out.Quiet.Breaches = append(out.Quiet.Breaches, Breach{ParticipantID: p.id, Kind: one.kind, Local: local.Format(time.RFC3339)})
			}
		}
	}
}

// isChosen reports whether a prompt came at the time that its person chose.
func (r *run) isChosen(one sent, rows *tables) bool {
	row, known := rows.prompts[one.promptID]
	if !known || one.kind != models.KindPrompt || row.Type == wire.ScheduleRandom {
		return false
	}
	return !one.at.After(row.TargetAt.Add(time.Minute)) && !one.at.Before(row.TargetAt.Add(-r.rules.PrepTime-time.Minute))
}

// countPrompts goes through the table of prompts.
func (r *run) countPrompts(out *Report, rows *tables) {
	out.Prompts = Prompts{States: map[models.PromptState]int{}, Reasons: map[string]int{}, ByDay: make([]DayCount, r.cfg.Days)}
	for day := range out.Prompts.ByDay {
		out.Prompts.ByDay[day].Day = day
	}
	arms := map[string]*Arm{}
	for _, p := range r.people {
		if arms[p.arm] == nil {
			arms[p.arm] = &Arm{Name: p.arm, Strata: map[string]int{}}
		}
		arms[p.arm].People++
		if p.stratum != "" {
			arms[p.arm].Strata[p.stratum]++
		}
	}
	for _, row := range rows.prompts {
		out.Prompts.States[row.State]++
		if row.Reason != "" {
			out.Prompts.Reasons[row.Reason]++
		}
		if row.SentAt == nil {
			continue
		}
		day := &out.Prompts.ByDay[min(max(r.dayOf(*row.SentAt), 0), r.cfg.Days-1)]
		arm := arms[r.byID[row.ParticipantID].arm]
		out.Prompts.Sent, day.Sent, arm.Sent = out.Prompts.Sent+1, day.Sent+1, arm.Sent+1
		if row.isAnswered() {
			out.Prompts.Answered, day.Answered, arm.Answered = out.Prompts.Answered+1, day.Answered+1, arm.Answered+1
		}
	}
	countAvailability(out.Availability, rows)
	for _, arm := range arms {
		out.Arms = append(out.Arms, *arm)
	}
	slices.SortFunc(out.Arms, func(a, b Arm) int { return strings.Compare(a.Name, b.Name) })
}

// available is what a decision point is counted as at which the person was
// available.
const available = "available"

// countAvailability counts decision points; a study without them shows what became
// of its prompts.
func countAvailability(counts map[string]int, rows *tables) {
	for _, d := range rows.decisions {
		if d.Available {
			counts[available+", "+d.Option]++
		} else {
			counts[d.Reason]++
		}
	}
	if len(rows.decisions) > 0 {
		return
	}
	for _, row := range rows.prompts {
		if row.SentAt != nil {
			counts[available]++
		} else {
			counts[cmp.Or(row.Reason, string(row.State))]++
		}
	}
}

func (r *run) readAttention(ctx context.Context) ([]AttentionDay, error) {
	var raised []models.AttentionEntry
	if err := r.store.Database().Reader(ctx).Order("raised_at, id").Find(&raised).Error; err != nil {
		return nil, fmt.Errorf("reading attention: %w", err)
	}
	out := []AttentionDay{}
	for _, entry := range raised {
		day := r.dayOf(entry.RaisedAt)
		if n := len(out); n == 0 || out[n-1].Day != day {
			out = append(out, AttentionDay{Day: day, Raised: map[wire.Attention]int{}})
		}
		out[len(out)-1].Raised[entry.Kind]++
	}
	return out, nil
}
