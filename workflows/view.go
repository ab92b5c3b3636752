package workflows

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"coachline/models"
)

// Search attributes of a participant; see models for their meaning.
var (
	attrStatus  = temporal.NewSearchAttributeKeyKeyword(models.AttrStatus)
	attrMode    = temporal.NewSearchAttributeKeyKeyword(models.AttrMode)
	attrNextDue = temporal.NewSearchAttributeKeyTime(models.AttrNextDue)

	attrAttention   = temporal.NewSearchAttributeKeyKeywordList(models.AttrAttention)
	attrUnreachable = temporal.NewSearchAttributeKeyBool(models.AttrUnreachable)
)

// dirty is what the tables do not show yet.
type dirty struct {
	mode, status, schedules bool
	missed                  []models.MissedPrompt
}

func (d dirty) any() bool { return d.mode || d.status || d.schedules || len(d.missed) > 0 }

// and is what two of them leave to be shown; d is the earlier one.
func (d dirty) and(later dirty) dirty {
	return dirty{
		mode: d.mode || later.mode, status: d.status || later.status, schedules: d.schedules || later.schedules,
		missed: slices.Concat(d.missed, later.missed),
	}
}

// shown is what the search attributes said last in this run.
type shown struct {
	status  models.Status
	mode    models.Mode
	nextDue time.Time
	flags   shownFlags
}

// shownFlags are flags that can be compared; attention holds the kinds with
// commas between them.
type shownFlags struct {
	attention   string
	unreachable bool
}

func (l *life) flagsToShow() shownFlags {
	return shownFlags{strings.Join(attentionNames(l.state.Flags), ","), l.state.Flags.Unreachable}
}

func attentionNames(flags models.ParticipantFlags) []string {
	names := make([]string, 0, len(flags.Attention))
	for _, kind := range flags.Attention {
		names = append(names, string(kind))
	}
	return names
}

// view is the state as queries and updates answer it.
func (l *life) view() models.StatusView {
	due := slices.Clone(l.state.Due)
	slices.SortStableFunc(due, func(a, b models.Due) int { return a.At.Compare(b.At) })
	return models.StatusView{
		Status: l.state.Status, Mode: l.state.Mode, Zone: l.state.Zone,
		Due: due, Pending: l.state.Pending,
		Turns: l.state.Turn, Waiting: len(l.state.Inbox.Items), LastSeq: l.state.Inbox.LastSeq,
		Greeted: l.state.Greeted, Ended: l.state.Ended, InTurn: l.inTurn, Commands: len(l.state.Commands),
		Flags: l.state.Flags.Clone(),
	}
}

// show brings tables, search attributes and the current details up to date;
// each only when it changed.
func (l *life) show(ctx workflow.Context) {
	l.save(ctx)
	l.upsert(ctx)
	workflow.SetCurrentDetails(ctx, l.details())
}

func (l *life) save(ctx workflow.Context) {
	in := l.unsaved(ctx)
	if in == nil {
		return
	}
	l.dirty = dirty{}
	if err := workflow.ExecuteLocalActivity(local(ctx), turns.SaveState, *in).Get(ctx, nil); err != nil {
		workflow.GetLogger(ctx).Error("saving state for operators failed", "error", err)
	}
}

// unsaved is the state for the tables; nil when they show it.
func (l *life) unsaved(ctx workflow.Context) *models.SaveStateInput {
	if !l.dirty.any() {
		return nil
	}
	in := &models.SaveStateInput{
		ParticipantID: l.state.ParticipantID,
		Mode:          l.state.Mode,
		Schedules:     slices.Clone(l.state.Schedules),
		Missed:        l.dirty.missed,
		Now:           workflow.Now(ctx),
	}
	if l.dirty.status {
		in.Status = l.state.Status
	}
	return in
}

func (l *life) upsert(ctx workflow.Context) {
	now := shown{status: l.state.Status, mode: l.state.Mode, nextDue: l.nextDue(), flags: l.shown.flags}
	if flags := l.flagsToShow(); flags != l.shown.flags && showsFlags(ctx) {
		now.flags = flags
	}
	if l.dueMayLag(ctx) {
		now.nextDue = l.shown.nextDue
	}
	if now == l.shown {
		return
	}
	changes := []temporal.SearchAttributeUpdate{}
	if now.status != l.shown.status {
		changes = append(changes, attrStatus.ValueSet(string(now.status)))
	}
	if now.mode != l.shown.mode {
		changes = append(changes, attrMode.ValueSet(string(now.mode)))
	}
	if !now.nextDue.Equal(l.shown.nextDue) {
		if now.nextDue.IsZero() {
			changes = append(changes, attrNextDue.ValueUnset())
		} else {
			changes = append(changes, attrNextDue.ValueSet(now.nextDue))
		}
	}
	changes = append(changes, l.flagChanges(now.flags)...)
	l.shown = now
	if err := workflow.UpsertTypedSearchAttributes(ctx, changes...); err != nil {
		workflow.GetLogger(ctx).Error("search attributes not set", "error", err)
	}
}

// nextDueLag is how long CoachNextDue may show a time that has passed.
const nextDueLag = 24 * time.Hour

// dueMayLag reports whether the attribute of the next due time may stay as it is:
// after a prompt, once, for a day at most. The update would be an event of every
// prompt, and what is due stands in the tables. Only a prompt whose decision came
// with its send counts, which older histories do not hold.
func (l *life) dueMayLag(ctx workflow.Context) bool {
	prompted := l.prompted
	l.prompted = false
	return prompted && !l.shown.nextDue.IsZero() && workflow.Now(ctx).Sub(l.shown.nextDue) < nextDueLag
}

// flagChanges are the search attributes of flags that are not shown yet.
func (l *life) flagChanges(now shownFlags) []temporal.SearchAttributeUpdate {
	var changes []temporal.SearchAttributeUpdate
	switch now.attention {
	case l.shown.flags.attention:
	case "":
		changes = append(changes, attrAttention.ValueUnset())
	default:
		changes = append(changes, attrAttention.ValueSet(attentionNames(l.state.Flags)))
	}
	if now.unreachable != l.shown.flags.unreachable {
		changes = append(changes, attrUnreachable.ValueSet(now.unreachable))
	}
	return changes
}

// nextDue is the first due time that an operator would ask about; a debounce
// is over before anybody could.
func (l *life) nextDue() time.Time {
	var next time.Time
	for _, d := range l.state.Due {
		if d.Kind != models.DueDebounce && (next.IsZero() || d.At.Before(next)) {
			next = d.At
		}
	}
	return next
}

// details is the status page of a participant in the Temporal UI (Markdown).
func (l *life) details() string {
	v := l.view()
	lines := []string{fmt.Sprintf("**%s**, mode **%s**, zone %s, %d turns", v.Status, v.Mode, v.Zone, v.Turns), ""}
	if names := attentionNames(v.Flags); len(names) > 0 {
		lines = append(lines, "Needs an operator: **"+strings.Join(names, ", ")+"**", "")
	}
	if v.Flags.Unreachable {
		lines = append(lines, "The carrier cannot reach the number.", "")
	}
	if v.Waiting > 0 {
		lines = append(lines, fmt.Sprintf("%d texts waiting", v.Waiting), "")
	}
	if v.Pending != nil {
		lines = append(lines, fmt.Sprintf("Outstanding prompt `%s`, sent %s", v.Pending.PromptID, v.Pending.SentAt.Format(time.RFC3339)), "")
	}
	if len(v.Due) == 0 {
		lines = append(lines, "Nothing is due.")
	}
	for _, d := range v.Due {
		lines = append(lines, "- "+describe(d))
	}
	for _, s := range l.state.Schedules {
		lines = append(lines, fmt.Sprintf("- schedule `%s`: %s %s%s, next %s", s.ID, s.Type, s.At, window(s), s.Next.TargetAt.Format(time.RFC3339)))
	}
	return strings.Join(lines, "\n")
}

func window(s models.Schedule) string {
	if s.Type == models.ScheduleRandom {
		return s.From + "-" + s.To
	}
	return ""
}
