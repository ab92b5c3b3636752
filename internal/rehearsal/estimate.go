package rehearsal

import (
	"math"
	"time"
)

// Effect is a known effect and what an analysis of the rehearsed tables finds.
type Effect struct {
	// Added is what the treatment added to the probability of an answer in time,
	// while a person took part; True is that on average over all prompts or points,
	// with those who no longer took part.
	Added float64 `json:"added"`
	True  float64 `json:"true"`
	// Method names the analysis: difference_of_means of people's shares between two
	// arms, or weighted_centred_least_squares over decision points.
	Method   string  `json:"method"`
	Estimate float64 `json:"estimate"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	// Covers says whether the 95 % interval holds True. One rehearsal in twenty does
	// not.
	Covers bool `json:"covers"`
	Points int  `json:"points"`
}

// Methods of an analysis.
const (
	methodMeans = "difference_of_means"
	methodWCLS  = "weighted_centred_least_squares"
)

// observation is one decision point as the analysis sees it.
type observation struct {
	person      int
	day         int
	treated     bool
	probability float64 // of the treatment
	answered    bool
}

type interval struct{ estimate, low, high float64 }

func (i interval) covers(value float64) bool { return i.low <= value && value <= i.high }

func newInterval(estimate, standardError, degrees float64) interval {
	half := studentQuantile(degrees) * standardError
	return interval{estimate, estimate - half, estimate + half}
}

// differenceOfMeans compares the people of two arms by their shares of answered
// prompts, each person once, with variances of their own (Welch). Fewer than two
// people in an arm give an interval of everything.
func differenceOfMeans(control, treatment []float64) interval {
	a, va := moments(control)
	b, vb := moments(treatment)
	if len(control) < 2 || len(treatment) < 2 {
		return interval{b - a, -1, 1}
	}
	sa, sb := va/float64(len(control)), vb/float64(len(treatment))
	if sa+sb == 0 {
		return interval{b - a, b - a, b - a}
	}
	degrees := (sa + sb) * (sa + sb) / (sa*sa/float64(len(control)-1) + sb*sb/float64(len(treatment)-1))
	return newInterval(b-a, math.Sqrt(sa+sb), degrees)
}

func moments(values []float64) (mean, variance float64) {
	if len(values) == 0 {
		return 0, 0
	}
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	for _, v := range values {
		variance += (v - mean) * (v - mean)
	}
	if len(values) > 1 {
		variance /= float64(len(values) - 1)
	}
	return mean, variance
}

// terms of the regression: a constant, the day, and the centred treatment.
const terms = 3

// weightedCentred estimates the marginal effect of a micro-randomised treatment by
// weighted and centred least squares (Boruvka and others, 2018): the outcome on a
// constant, the day of the study and the treatment less its share, with weights
// that undo the randomisation, and a variance that is robust to what the points of
// one person have in common.
func weightedCentred(points []observation) interval {
	rows := newRegression(points)
	var normal [terms][terms]float64
	var right [terms]float64
	for _, row := range rows {
		for a := range terms {
			right[a] += row.weight * row.terms[a] * row.outcome
			for b := range terms {
				normal[a][b] += row.weight * row.terms[a] * row.terms[b]
			}
		}
	}
	inverse, ok := invert(normal)
	if !ok {
		return interval{0, -1, 1}
	}
	var fit [terms]float64
	for a := range terms {
		for b := range terms {
			fit[a] += inverse[a][b] * right[b]
		}
	}
	return robustInterval(rows, fit, inverse[terms-1])
}

// regressionRow is one point as the regression sees it.
type regressionRow struct {
	person          int
	terms           [terms]float64
	weight, outcome float64
}

func newRegression(points []observation) []regressionRow {
	share, last := 0.0, 1.0
	for _, o := range points {
		share += o.probability
		last = max(last, float64(o.day))
	}
	share /= max(float64(len(points)), 1)
	rows := make([]regressionRow, len(points))
	for i, o := range points {
		act, weight := 0.0, (1-share)/(1-o.probability)
		if o.treated {
			act, weight = 1, share/o.probability
		}
		rows[i] = regressionRow{person: o.person, terms: [terms]float64{1, float64(o.day)/last - 0.5, act - share}, weight: weight, outcome: outcome(o)}
	}
	return rows
}

// robustInterval is the interval of the last term, with a variance that adds up
// over people; bread is its row of the inverted normal matrix.
func robustInterval(rows []regressionRow, fit, bread [terms]float64) interval {
	scores := map[int]float64{}
	for _, row := range rows {
		residual, part := row.outcome, 0.0
		for a := range terms {
			residual -= row.terms[a] * fit[a]
			part += bread[a] * row.terms[a]
		}
		scores[row.person] += row.weight * part * residual
	}
	people := float64(len(scores))
	if people <= terms {
		return interval{fit[terms-1], -1, 1}
	}
	variance := 0.0
	for _, score := range scores {
		variance += score * score
	}
	// People are few compared with points: the usual correction for the terms.
	variance *= people / (people - terms)
	return newInterval(fit[terms-1], math.Sqrt(variance), people-terms)
}

func outcome(o observation) float64 {
	if o.answered {
		return 1
	}
	return 0
}

// invert inverts a matrix by elimination; false where it has no inverse.
func invert(m [terms][terms]float64) (inverse [terms][terms]float64, ok bool) {
	for i := range terms {
		inverse[i][i] = 1
	}
	for column := range terms {
		pivot := column
		for row := column; row < terms; row++ {
			if math.Abs(m[row][column]) > math.Abs(m[pivot][column]) {
				pivot = row
			}
		}
		if math.Abs(m[pivot][column]) < 1e-12 {
			return inverse, false
		}
		m[column], m[pivot] = m[pivot], m[column]
		inverse[column], inverse[pivot] = inverse[pivot], inverse[column]
		scale := m[column][column]
		for k := range terms {
			m[column][k] /= scale
			inverse[column][k] /= scale
		}
		for row := range terms {
			factor := m[row][column]
			if row == column || factor == 0 {
				continue
			}
			for k := range terms {
				m[row][k] -= factor * m[column][k]
				inverse[row][k] -= factor * inverse[column][k]
			}
		}
	}
	return inverse, true
}

// studentQuantile is the 97.5 % quantile of Student's distribution, by the
// expansion around the normal one; from 5 degrees on it errs by less than 0.01.
func studentQuantile(degrees float64) float64 {
	const z = 1.959963984540054
	d := max(degrees, 1)
	const z3, z5, z7 = z * z * z, z * z * z * z * z, z * z * z * z * z * z * z
	first := (z3 + z) / 4
	second := (5*z5 + 16*z3 + 3*z) / 96
	third := (3*z7 + 19*z5 + 17*z3 - 15*z) / 384
	return z + first/d + second/(d*d) + third/(d*d*d)
}

// estimate analyses the tables; nil where no effect was added. A study with
// decision points is analysed by these, another one by arms.
func (r *run) estimate(rows *tables) *Effect {
	if r.cfg.Effect == 0 {
		return nil
	}
	out := &Effect{Added: r.cfg.Effect, Method: methodMeans}
	for _, p := range r.people {
		for _, at := range p.heard.points {
			out.True += at.added
			out.Points++
		}
	}
	out.True /= max(float64(out.Points), 1)
	found := differenceOfMeans(r.sharesByArm(rows))
	if points := r.observations(rows); len(points) > 0 {
		out.Method, out.Points, found = methodWCLS, len(points), weightedCentred(points)
		out.True = r.addedAtDecisions(rows) / float64(len(points))
	}
	out.Estimate, out.Low, out.High, out.Covers = found.estimate, found.low, found.high, found.covers(out.True)
	return out
}

// addedAtDecisions adds up what the interventions add to the probability of an answer
// in time, over all points at which people were available: an option that sends no
// prompt gets no answer, and the last option of the study is what the others are
// compared with.
func (r *run) addedAtDecisions(rows *tables) float64 {
	points := *r.study.settings.DecisionPoints
	options := points.Options
	last, sum := len(options)-1, 0.0
	for _, d := range rows.decisions {
		p := r.byID[d.ParticipantID]
		if !d.Available || p == nil || p.isBlockedAt(d.DecidedAt) {
			continue
		}
		for i, option := range options {
			if !option.Send {
				continue
			}
			if i == last {
				sum -= p.habits.chance(d.DecidedAt, 0)
			} else {
				sum += points.ShareOfInterventions(i) * p.habits.chance(d.DecidedAt, r.cfg.Effect)
			}
		}
	}
	return sum
}

// isBlockedAt reports whether the network keeps the messages from the person.
func (p *person) isBlockedAt(at time.Time) bool {
	since := p.carrier.blockedAt
	return !since.IsZero() && !at.Before(since)
}

// sharesByArm returns each person's share of answered prompts, by arm.
func (r *run) sharesByArm(rows *tables) (control, treatment []float64) {
	sent, answered := map[string]float64{}, map[string]float64{}
	for _, row := range rows.prompts {
		if row.SentAt == nil {
			continue
		}
		sent[row.ParticipantID]++
		if row.isAnswered() {
			answered[row.ParticipantID]++
		}
	}
	for _, p := range r.people {
		if sent[p.id] == 0 {
			continue
		}
		share := answered[p.id] / sent[p.id]
		if p.treats(nil) {
			treatment = append(treatment, share)
		} else {
			control = append(control, share)
		}
	}
	return control, treatment
}

// observations are the decision points at which the person was available.
func (r *run) observations(rows *tables) []observation {
	var points []observation
	for _, d := range rows.decisions {
		p := r.byID[d.ParticipantID]
		if !d.Available || p == nil {
			continue
		}
		row := rows.prompts[d.ID]
		until := d.DecidedAt.Add(time.Duration(d.OutcomeHours) * time.Hour)
		points = append(points, observation{
			person: p.number, day: d.DayInStudy, treated: d.Intervention, probability: d.RandProb,
			answered: row.RespondedAt != nil && !row.RespondedAt.After(until),
		})
	}
	return points
}
