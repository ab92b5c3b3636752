package rehearsal

import (
	"log/slog"
	"time"

	"coachline/models"
	"coachline/starter/relay"
	"coachline/worker"
)

// staffDelay is how long operators take to look at what calls for them.
const staffDelay = 4 * time.Hour

// operators is what runs beside people: the sweeps of the starter and the operators.
type operators struct {
	r     *run
	clock time.Time
	relay *relay.Relay
}

// newOperators has the sweeps find every person's workflow.
func (r *run) newOperators() (*operators, error) {
	s := &operators{r: r, clock: r.from}
	now := func() time.Time { return s.clock }
	set, err := r.parts.NewSet(worker.Outside{Model: &model{r: r, id: actor}, Carrier: &carrier{}, Pager: pager{r}, Now: now})
	if err != nil {
		return nil, err
	}
	j := newJobs(r.suite, set)
	j.now = now
	j.fault = func(where string, err error) { r.broke(where, "", err) }
	s.relay = relay.New(relay.Config{
		Store: relay.StoreOf(r.store), Engine: &engine{run: r, jobs: j}, Metrics: r.metrics, Logger: slog.New(slog.DiscardHandler), Now: now,
		Costs: r.store.Costs, Budgets: r.store.Budgets, Prices: r.cfg.Settings.Costs.Prices, Escalation: r.cfg.Settings.Worker.AlertEscalation,
	})
	return s, nil
}

// endDay sweeps once, at the end of a day. No person is played meanwhile.
func (s *operators) endDay(day int) {
	s.clock = s.r.from.Add(time.Duration(day) * dayLength)
	if err := s.relay.Sweep(s.r.ctx); err != nil {
		s.r.broke("sweep", "", err)
	}
}

// attend has an operator look at a person, if something calls for it.
func (p *person) attend() {
	_, err := p.r.store.Attention.ClearAttention(p.r.ctx, models.AttentionClearing{ParticipantID: p.id, Note: "seen in the rehearsal", Actor: actor, Now: p.now()})
	if err != nil {
		p.r.broke("attention", p.id, err)
		return
	}
	p.deliver(p.r.ctx)
}
