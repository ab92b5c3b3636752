package metrics

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.temporal.io/api/serviceerror"

	"coachline/models"
	"coachline/models/wire"
)

type starterMetrics struct {
	texts    *prometheus.CounterVec
	webhooks *prometheus.HistogramVec
	consents *prometheus.CounterVec
	calls    *prometheus.CounterVec
	alerts   *prometheus.CounterVec
	refusals *prometheus.CounterVec
	checks   *prometheus.CounterVec
	budgets  *prometheus.CounterVec
}

// Verdicts on a delivered text.
const (
	verdictAccepted    = "accepted"
	verdictDuplicate   = "duplicate"
	verdictHeld        = "held"
	verdictRefused     = "refused"
	verdictUnavailable = "unavailable"
)

func newFront(factory promauto.Factory) starterMetrics {
	f := starterMetrics{
		texts: counter(factory, "inbound_texts_total",
			"Texts that the carrier delivered, by what became of them.", "verdict", "reason"),
		webhooks: histogram(factory, "webhook_duration_seconds", histogramSpec{
			"How long the carrier waited for the answer to a webhook.",
			[]float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15},
		}, "hook", "code"),
		consents: counter(factory, "consent_changes_total",
			"People who opted out or came back, by how.", "action", "method"),
		calls: counter(factory, "workflow_calls_total",
			"What the starter told participants' workflows, by kind of call and outcome.", "call", "outcome"),
		alerts: counter(factory, "attention_total",
			"Texts for which an operator should look after a person, by reason.", "kind"),
		refusals: counter(factory, "api_refusals_total",
			"API requests that were not admitted, by reason.", "reason"),
		checks: counter(factory, "audit_checks_total",
			"Checks of the audit's chain, by what they found.", "result"),
		budgets: counter(factory, "budget_crossings_total",
			"Budgets that crossed their warning or were spent.", "state"),
	}
	f.checks.WithLabelValues(string(AuditBroken))
	f.alerts.WithLabelValues(string(wire.AttentionCrisis))
	f.alerts.WithLabelValues(kindWeakSign)
	f.budgets.WithLabelValues(string(models.BudgetWarned))
	f.budgets.WithLabelValues(string(models.BudgetSpent))
	// A rate needs a first value to rise from.
	for _, verdict := range []string{verdictAccepted, verdictDuplicate, verdictUnavailable} {
		f.texts.WithLabelValues(verdict, "")
	}
	return f
}

// BudgetCrossed counts a budget that reached its warning or is spent.
func (m *Metrics) BudgetCrossed(state models.BudgetState) {
	m.front.budgets.WithLabelValues(label(state)).Inc()
}

// APIRefused counts an API request that was not admitted.
func (m *Metrics) APIRefused(reason string) { m.front.refusals.WithLabelValues(reason).Inc() }

// AuditResult is what a check of the audit found.
type AuditResult string

const (
	// AuditWhole: every row is as it was written.
	AuditWhole AuditResult = "whole"
	// AuditBroken: a row was changed or taken out.
	AuditBroken AuditResult = "broken"
	// AuditUnknown: the audit could not be read.
	AuditUnknown AuditResult = "unknown"
)

// AuditChecked counts a check of the audit.
func (m *Metrics) AuditChecked(found AuditResult) {
	m.front.checks.WithLabelValues(string(found)).Inc()
}

// Text counts a text that the store took, and the opting out or coming back that
// it meant.
func (m *Metrics) Text(accepted models.AcceptedInbound) {
	in := accepted.Inbound
	m.alert(accepted)
	switch {
	case accepted.Duplicate:
		m.front.texts.WithLabelValues(verdictDuplicate, "").Inc()
		return
	case in.Limit != models.LimitNone:
		m.front.texts.WithLabelValues(verdictHeld, label(in.Limit)).Inc()
		return
	}
	m.front.texts.WithLabelValues(verdictAccepted, "").Inc()
	// A text with a number goes to the coach and changed nothing; without a
	// notice nothing was changed either.
	if in.Seq != 0 || accepted.NoticeID == 0 {
		return
	}
	m.intent(in)
}

// kindWeakSign counts alerts that page no person.
const kindWeakSign = "weak_sign"

func (m *Metrics) alert(accepted models.AcceptedInbound) {
	kind := string(wire.AttentionCrisis)
	if accepted.Inbound.DangerTier == models.TierB {
		kind = kindWeakSign
	}
	if accepted.AlertID != "" {
		m.front.alerts.WithLabelValues(kind).Inc()
	}
}

func (m *Metrics) intent(in models.Inbound) {
	switch in.Intent {
	case models.IntentStop:
		m.Consent(models.ConsentOptOut, in.IntentMethod)
	case models.IntentStart, models.IntentYes:
		m.Consent(models.ConsentOptIn, in.IntentMethod)
	case models.IntentNone, models.IntentHelp, models.IntentUnclear, models.IntentWrongNumber, models.IntentDoubted, models.IntentData, models.IntentErasure, models.IntentMinor:
	}
}

// Consent counts a participant who opted out or came back.
func (m *Metrics) Consent(action models.ConsentAction, method models.ConsentMethod) {
	if m == nil {
		return
	}
	m.front.consents.WithLabelValues(label(action), label(method)).Inc()
}

// Call is a way to reach a participant's workflow.
type Call string

const (
	CallStart  Call = "start"
	CallSignal Call = "signal"
	CallUpdate Call = "update"
)

// Outcome is how a call of a workflow ended.
type Outcome string

const (
	OutcomeTold Outcome = "told"
	// OutcomeClosed: the workflow has ended or never began.
	OutcomeClosed Outcome = "closed"
	OutcomeFailed Outcome = "failed"
)

// WorkflowCall counts a call of a participant's workflow, and how it ended.
func (m *Metrics) WorkflowCall(call Call, err error) {
	m.front.calls.WithLabelValues(string(call), string(outcomeOf(err))).Inc()
}

// outcomeOf classifies the answer of Temporal. A start that finds the workflow
// running has delivered what there was to deliver.
func outcomeOf(err error) Outcome {
	var running *serviceerror.WorkflowExecutionAlreadyStarted
	var closed *serviceerror.NotFound
	switch {
	case err == nil, errors.As(err, &running):
		return OutcomeTold
	case errors.As(err, &closed):
		return OutcomeClosed
	}
	return OutcomeFailed
}

// hooks are the carrier's webhooks below their common path.
const (
	hooksPath   = "/twilio/"
	hookInbound = "inbound"
	hookStatus  = "status"
)

// Webhooks is middleware that measures the carrier's webhooks and counts the
// texts that were refused; what the store took is told to Text.
func (m *Metrics) Webhooks(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hook, ours := strings.CutPrefix(r.URL.Path, hooksPath)
		if !ours || hook != hookInbound && hook != hookStatus {
			next.ServeHTTP(w, r)
			return
		}
		began := time.Now()
		seen := &SeenStatus{ResponseWriter: w, Status: http.StatusOK}
		next.ServeHTTP(seen, r)
		m.front.webhooks.WithLabelValues(hook, strconv.Itoa(seen.Status)).Observe(time.Since(began).Seconds())
		if hook == hookInbound {
			m.turnedAway(seen.Status)
		}
	})
}

func (m *Metrics) turnedAway(status int) {
	switch {
	case status >= http.StatusInternalServerError:
		m.front.texts.WithLabelValues(verdictUnavailable, "").Inc()
	case status >= http.StatusBadRequest:
		m.front.texts.WithLabelValues(verdictRefused, refusal(status)).Inc()
	}
}

func refusal(status int) string {
	switch status {
	case http.StatusForbidden:
		return "signature"
	case http.StatusRequestEntityTooLarge:
		return "too_large"
	case http.StatusUnsupportedMediaType:
		return "content_type"
	case http.StatusMethodNotAllowed:
		return "method"
	}
	return "malformed"
}

// SeenStatus remembers the status of an answer that it passes on.
type SeenStatus struct {
	http.ResponseWriter
	Status int
}

// WriteHeader passes the status on.
func (s *SeenStatus) WriteHeader(status int) {
	s.Status = status
	s.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the writer below.
func (s *SeenStatus) Unwrap() http.ResponseWriter { return s.ResponseWriter }
