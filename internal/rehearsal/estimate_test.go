package rehearsal

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

// found is what the analyses of one simulated study found, and what the
// treatment added on average.
type found struct {
	arms, points  interval
	added, weight float64
}

// simulate draws the answers of a study by the rules of the rehearsal, without the
// programme: one prompt a day, treated by arm and, in a second study of the same
// people, by point.
func simulate(cfg Config, probability float64) found {
	var control, treatment []float64
	var points []observation
	var out found
	for number, isTreated := range drawPairs(cfg.Seed, cfg.People) {
		draw, h := cfg.drawPerson(number)
		answers := 0
		for day := range cfg.Days {
			at := cfg.Start.Add(time.Duration(day) * dayLength)
			out.added, out.weight = out.added+h.chanceAdded(at, cfg.Effect), out.weight+1
			lift := 0.0
			if isTreated {
				lift = cfg.Effect
			}
			if h.answers(draw, at, lift) {
				answers++
			}
			o := observation{person: number, day: day, probability: probability, treated: draw.Float64() < probability}
			if lift = 0; o.treated {
				lift = cfg.Effect
			}
			o.answered = h.answers(draw, at, lift)
			points = append(points, o)
		}
		share := float64(answers) / float64(cfg.Days)
		if isTreated {
			treatment = append(treatment, share)
		} else {
			control = append(control, share)
		}
	}
	out.arms, out.points = differenceOfMeans(control, treatment), weightedCentred(points)
	return out
}

// TestEffectIsFound: the 95 % interval holds the effect that was added in 93 to 97 %
// of the first 200 seeds, and of 1,000, for arms as for decision points, and the
// mean of the estimates is the effect. Only the answers of people are simulated here, by
// the rules that TestRehearsal plays against the programme.
func TestEffectIsFound(t *testing.T) {
	const first, seeds = 200, 1000
	var studies []found
	added, weight := 0.0, 0.0
	for seed := range uint64(seeds) {
		one := simulate(Config{Seed: seed, People: 80, Days: 40, Start: firstMonday, Effect: 0.1}, 0.4)
		studies = append(studies, one)
		added, weight = added+one.added, weight+one.weight
	}
	truth := added / weight
	require.InDelta(t, 0.059, truth, 0.004, "a person who no longer takes part is not moved by the treatment")
	for name, of := range map[string]func(found) interval{
		methodMeans: func(f found) interval { return f.arms },
		methodWCLS:  func(f found) interval { return f.points },
	} {
		covered, coveredFirst, mean, width := 0, 0, 0.0, 0.0
		for n, one := range studies {
			i := of(one)
			if i.covers(truth) {
				covered++
			}
			if n < first && i.covers(truth) {
				coveredFirst++
			}
			mean, width = mean+i.estimate/seeds, width+(i.high-i.low)/seeds
		}
		t.Logf("%s: %d of %d and %d of %d intervals cover %.4f; mean estimate %.4f, mean width %.4f", name, coveredFirst, first, covered, seeds, truth, mean, width)
		for of, count := range map[int]int{first: coveredFirst, seeds: covered} {
			require.GreaterOrEqual(t, float64(count), 0.93*float64(of), name)
			require.LessOrEqual(t, float64(count), 0.97*float64(of), name)
		}
		require.InDelta(t, truth, mean, width/20, name)
	}
}

// TestWeightedCentred compares with a study that can be solved by hand: with equal
// probabilities and no change over days the estimate is the difference of means.
func TestWeightedCentred(t *testing.T) {
	var points []observation
	for person := range 10 {
		for day := range 4 {
			treated := (person+day)%2 == 0
			points = append(points, observation{person: person, day: day, probability: 0.5, treated: treated, answered: treated && day < 2})
		}
	}
	got := weightedCentred(points)
	require.InDelta(t, 0.5, got.estimate, 1e-9)
	require.Less(t, got.low, got.estimate)
	require.Equal(t, interval{0, -1, 1}, weightedCentred(nil), "no point tells nothing")
}

func TestStudentQuantile(t *testing.T) {
	for degrees, want := range map[float64]float64{5: 2.571, 10: 2.228, 30: 2.042, 200: 1.972, 1e9: 1.960} {
		require.InDelta(t, want, studentQuantile(degrees), 0.005)
	}
}

// TestDecisionPointsAreAnalysed: where a study has decision points, they are what is
// counted and analysed, those at which the person was available.
func TestDecisionPointsAreAnalysed(t *testing.T) {
	r := &run{cfg: Config{Effect: 0.2}, byID: map[string]*person{}, study: study{settings: models.StudySettings{
		DecisionPoints: &models.DecisionPoints{Options: []models.DecisionOption{
			{Name: "warm", Probability: 0.25, Send: true}, {Name: "none", Probability: 0.25}, {Name: "plain", Probability: 0.5, Send: true},
		}},
	}}}
	rows := &tables{prompts: map[string]promptRow{}}
	for n := range 8 {
		p := &person{r: r, number: n, id: fmt.Sprintf("conv_%d", n), habits: habits{answer: 0.6, leaves: firstMonday.Add(time.Hour)}, carrier: &carrier{}}
		if n == 0 {
			p.carrier.blockedAt = firstMonday
		}
		r.people, r.byID[p.id] = append(r.people, p), p
		for day := range 4 {
			point := models.DecisionPoint{
				ID: fmt.Sprintf("%s-%d", p.id, day), ParticipantID: p.id, DayInStudy: day + 1, DecidedAt: firstMonday, Available: day != 3, Option: "plain",
				Intervention: (n+day)%2 == 0, RandProb: 0.5, OutcomeHours: 2,
			}
			if point.Intervention {
				point.Option = "warm"
			}
			if !point.Available {
				point.Reason = "paused"
			}
			require.Equal(t, point.Intervention, p.treats(&point))
			answer := firstMonday.Add(time.Hour)
			if !point.Intervention {
				answer = firstMonday.Add(3 * time.Hour) // too late to count
			}
			rows.decisions = append(rows.decisions, point)
			rows.prompts[point.ID] = promptRow{ID: point.ID, ParticipantID: p.id, RespondedAt: &answer}
		}
	}
	counts := map[string]int{}
	countAvailability(counts, rows)
	require.Equal(t, map[string]int{"available, plain": 12, "available, warm": 12, "paused": 8}, counts)
	effect := r.estimate(rows)
	require.Equal(t, methodWCLS, effect.Method)
	require.Equal(t, 24, effect.Points)
	require.InDelta(t, 1, effect.Estimate, 1e-9)
	require.InDelta(t, (0.5*0.8-0.6)*7/8, effect.True, 1e-9, "half of the interventions send nothing, and one person in eight is not reached")

	counts = map[string]int{}
	countAvailability(counts, &tables{prompts: map[string]promptRow{"a": {SentAt: &firstMonday}, "b": {Reason: "quiet_hours"}, "c": {State: models.PromptPlanned}}})
	require.Equal(t, map[string]int{"available": 1, "quiet_hours": 1, "planned": 1}, counts, "of a study without decision points")
}
