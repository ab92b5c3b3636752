package models

// Thompson asks for Thompson sampling between the two options of a study's decision
// points: the probability of an option is that of its being the better one, by what
// came of the decisions before.
type Thompson struct {
	// Prior is what each option begins with; nil is Beta(1, 1).
	Prior *Beta `json:"prior,omitempty"`
	// Clip is the least probability of an option; 0 is 0.1.
	Clip float64 `json:"clip,omitempty" minimum:"0" exclusiveMaximum:"0.5"`
}

// Beta holds the parameters of a Beta distribution. They are whole, so that the
// probabilities of options are sums that can be repeated.
type Beta struct {
	A int64 `json:"a" minimum:"1"`
	B int64 `json:"b" minimum:"1"`
}

// OptionPosterior is what is known of an option.
type OptionPosterior struct {
	Option string `json:"option"`
	Beta
}

// Posterior is what a decision by Thompson sampling rested on, and goes with its row.
type Posterior struct {
	// Day is the day in UTC at whose beginning the outcomes were counted; empty where
	// none were.
	Day     string            `json:"day"`
	Options []OptionPosterior `json:"options"`
	// Probability is that of the first option being the better one; Clipped is with
	// what probability it was drawn.
	Probability float64 `json:"probability"`
	Clip        float64 `json:"clip"`
	Clipped     float64 `json:"clipped"`
	// Version is that of the computation.
	Version int `json:"version"`
}

// The least and the greatest clip, the one where a study does not say it, and the
// greatest parameter of a prior.
const (
	defaultClip   = 0.1
	greatestClip  = 0.5
	greatestPrior = 1000
)

// ClipOf returns the least probability of an option.
func (t Thompson) ClipOf() float64 {
	if t.Clip == 0 {
		return defaultClip
	}
	return t.Clip
}

// PriorOf returns what each option begins with.
func (t Thompson) PriorOf() Beta {
	if t.Prior == nil {
		return Beta{A: 1, B: 1}
	}
	return *t.Prior
}

// ShareOfInterventions returns how many of the interventions are the option with an
// index, which is not the last one.
func (d DecisionPoints) ShareOfInterventions(i int) float64 {
	if d.Thompson != nil {
		return 1
	}
	return d.Options[i].Probability / (1 - d.Options[len(d.Options)-1].Probability)
}

func (t Thompson) check(options []DecisionOption) error {
	const field = "decision_points.thompson"
	if len(options) != 2 {
		return BadField("decision_points.options", "must be two where thompson is set")
	}
	if clip := t.ClipOf(); clip < leastProbability || clip >= greatestClip {
		return BadField(field+".clip", "must be at least %g and below %g", leastProbability, greatestClip)
	}
	if prior := t.PriorOf(); min(prior.A, prior.B) < 1 || max(prior.A, prior.B) > greatestPrior {
		return BadField(field+".prior", "must have whole a and b between 1 and %d", greatestPrior)
	}
	return nil
}

// DecisionPosterior is one row of table decision_posteriors: how often an option was
// answered and not answered until the beginning of a day. Rows are only added.
type DecisionPosterior struct {
	StudyID   string `gorm:"primaryKey"`
	Day       string `gorm:"primaryKey"`
	Option    string `gorm:"primaryKey"`
	Successes int64
	Failures  int64
}

// CountedOutcome is one row of table decision_outcomes: what came of a decision when
// it was counted for the posterior of a day. Rows are only added.
type CountedOutcome struct {
	DecisionID string `gorm:"primaryKey"`
	StudyID    string
	Day        string
	Option     string
	Answered   bool
}

// TableName is the table's name.
func (CountedOutcome) TableName() string { return "decision_outcomes" }
