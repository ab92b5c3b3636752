package metrics

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"coachline/models"
	"coachline/models/wire"
)

type turn struct {
	turns    *prometheus.CounterVec
	outages  *prometheus.CounterVec
	duration prometheus.Histogram
	texts    prometheus.Histogram
	tools    *prometheus.CounterVec
	modes    *prometheus.CounterVec
	prompts  *prometheus.CounterVec
	security *prometheus.CounterVec
	pages    prometheus.Counter
	advice   *prometheus.CounterVec
}

func newTurn(factory promauto.Factory) turn {
	return turn{
		turns: counter(factory, "turns_total",
			"Finished turns by kind and by where their words came from, or why they said nothing.", "kind", "outcome"),
		outages: counter(factory, "fallbacks_total",
			"Turns in which a fixed text stood in for the model, by reason: the class of its failure, time_out, guard, other.", "reason"),
		duration: factory.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Name: "turn_duration_seconds",
			Help:    "From the first text that a reply answers until the carrier took the reply.",
			Buckets: []float64{.1, .25, .5, 1, 2, 3, 5, 8, 13, 20, 30, 60, 120, 300, 1800},
		}),
		texts: factory.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Name: "turn_texts", Help: "Texts that one reply answers.", Buckets: []float64{1, 2, 3, 5, 8, 13, 21, 50},
		}),
		tools: counter(factory, "tool_runs_total", "Tool calls that were decided or run, by tool and result.", "tool", "result"),
		modes: counter(factory, "mode_changes_total", "Changes of the coaching mode that were decided, by the mode that follows.", "mode"),
		prompts: counter(factory, "prompts_total",
			"Daily prompts: sent, late (taken more than a minute after the time asked for), failed, missed with the reason.", "outcome", "reason"),
		security: counter(factory, "security_events_total", "What a model tried and may not, by event.", "event"),
		advice:   counter(factory, "advice_looks_total", "Drafts of the model that were judged for what they advise, by verdict and kind.", "verdict", "kind"),
		pages: factory.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Name: "pages_total", Help: "Pages to the people on call that were taken, also second ones.",
		}),
	}
}

// Exchange is what is noted while one activity ends a turn or
// sends a text. It travels in the context of that activity, which works in one
// goroutine, and is forgotten with it.
type Exchange struct {
	kind   models.EntryKind // of the text that is being sent
	class  string           // why the carrier did not take it
	texts  int              // that the turn answers
	textAt time.Time        // when the first of them arrived
}

type exchangeKey struct{}

// Begin starts an exchange.
func Begin(ctx context.Context) context.Context {
	return context.WithValue(ctx, exchangeKey{}, &Exchange{})
}

// Of is the exchange that ctx belongs to; one that is never read when it
// belongs to none.
func Of(ctx context.Context) *Exchange {
	if e, ok := ctx.Value(exchangeKey{}).(*Exchange); ok {
		return e
	}
	return &Exchange{}
}

// Loaded notes the texts that a turn answers.
func (e *Exchange) Loaded(turn models.TurnContext) {
	e.texts, e.textAt = 0, time.Time{}
	for _, entry := range turn.Window {
		if entry.TurnID != turn.Turn.ID || entry.Role != models.RoleUser {
			continue
		}
		e.texts++
		if e.textAt.IsZero() || entry.At.Before(e.textAt) {
			e.textAt = entry.At
		}
	}
}

// lateAfter is how long after the time that a person asked for a prompt counts
// as late: sends of one minute are spread, and take seconds themselves.
const lateAfter = time.Minute

// TurnEnded counts a turn that was brought to its end, with what ctx's exchange
// noted of it.
func (m *Metrics) TurnEnded(ctx context.Context, in wire.PersistTurnInput, out wire.SendTurnResult) {
	if m == nil {
		return
	}
	m.turn.turns.WithLabelValues(label(in.Plan.Kind), turnOutcome(in, out)).Inc()
	noted := Of(ctx)
	if in.Plan.Kind == wire.TurnReply && noted.texts > 0 {
		m.turn.texts.Observe(float64(noted.texts))
		if !out.First.AcceptedAt.IsZero() {
			m.turn.duration.Observe(out.First.AcceptedAt.Sub(noted.textAt).Seconds())
		}
	}
	if in.Plan.Kind == wire.TurnPrompt {
		m.promptEnded(in.Plan.Slot, out.First)
	}
}

func turnOutcome(in wire.PersistTurnInput, out wire.SendTurnResult) string {
	switch {
	case out.Begun != nil && out.Begun.Skip:
		return "skipped"
	case out.First.Status == wire.OutboxCanceled:
		return string(wire.OutboxCanceled)
	}
	return label(in.Source)
}

func (m *Metrics) promptEnded(slot wire.Slot, sent wire.SendSMSResult) {
	switch {
	case sent.AcceptedAt.IsZero() && sent.Status == wire.OutboxCanceled:
	case sent.AcceptedAt.IsZero():
		m.turn.prompts.WithLabelValues("failed", "").Inc()
	case !slot.TargetAt.IsZero() && sent.AcceptedAt.Sub(slot.TargetAt) > lateAfter:
		m.turn.prompts.WithLabelValues("late", "").Inc()
	default:
		m.turn.prompts.WithLabelValues("sent", "").Inc()
	}
}

// FellBack counts a turn in which a fixed text stood in for the model.
func (m *Metrics) FellBack(reason string) {
	if m != nil {
		m.turn.outages.WithLabelValues(label(reason)).Inc()
	}
}

// Advised counts the drafts of a step that were judged.
func (m *Metrics) Advised(stages []models.Stage) {
	if m == nil {
		return
	}
	for _, stage := range stages {
		if verdict, kind, ok := stage.Advice(); ok {
			m.turn.advice.WithLabelValues(string(verdict), label(cmp.Or(kind, models.AdviceOther))).Inc()
		}
	}
}

// Kept counts a turn that only stored its texts.
func (m *Metrics) Kept(kind wire.TurnKind) {
	if m == nil {
		return
	}
	m.turn.turns.WithLabelValues(label(kind), "kept").Inc()
}

// Missed counts prompts that were not sent and never will be.
func (m *Metrics) Missed(prompts []wire.MissedPrompt) {
	if m == nil {
		return
	}
	for _, p := range prompts {
		m.turn.prompts.WithLabelValues("missed", label(p.Reason)).Inc()
	}
}

// Decided counts the changes of mode among the effects of a decision.
func (m *Metrics) Decided(effects []wire.Effect) {
	if m == nil {
		return
	}
	for _, effect := range effects {
		if effect.Kind == wire.EffectSetMode {
			m.turn.modes.WithLabelValues(label(strings.ToLower(string(effect.Mode)))).Inc()
		}
	}
}

// ToolRun counts a tool call. The name must be one of the product's own tools,
// or empty for one that a model made up.
func (m *Metrics) ToolRun(name string, failed bool) {
	if m == nil {
		return
	}
	if name == "" {
		name = "unknown"
	}
	result := outcomeOK
	if failed {
		result = "failed"
	}
	m.turn.tools.WithLabelValues(label(name), result).Inc()
}

// Paged counts a page that was taken.
func (m *Metrics) Paged() {
	if m != nil {
		m.turn.pages.Inc()
	}
}

// Security counts something that a model tried and was refused, and that an
// operator should look into.
func (m *Metrics) Security(event string) { m.turn.security.WithLabelValues(label(event)).Inc() }

// Claimed notes the text that is about to be sent, and counts it when a send check
// refuses it.
func (m *Metrics) Claimed(ctx context.Context, claim models.SendClaim) {
	if m == nil {
		return
	}
	e := Of(ctx)
	e.kind, e.class = claim.Outbox.Kind, ""
	refused := claim.Outbox.Status == wire.OutboxCanceled || claim.Outbox.Status == wire.OutboxUnknown
	if !claim.Post && refused {
		e.class = label(claim.Outbox.ErrorCode)
		m.Sent(ctx, claim.Outbox.Status)
	}
}

// Sent counts where the claimed text stands now: ready when it was given back
// to be tried again.
func (m *Metrics) Sent(ctx context.Context, status wire.OutboxStatus) {
	if m == nil {
		return
	}
	e := Of(ctx)
	m.post.sends.WithLabelValues(label(e.kind), label(status), e.class).Inc()
}

// NotSent counts a text that ended without the carrier taking it.
func (m *Metrics) NotSent(ctx context.Context, f models.SendFailure) {
	if m == nil {
		return
	}
	if e := Of(ctx); e.class == "" && f.Code != "" {
		e.class = label(f.Code)
	}
	m.Sent(ctx, f.Status)
	if f.Class.Spec().OptsOut {
		m.Consent(models.ConsentOptOut, models.MethodCarrierError)
	}
}
