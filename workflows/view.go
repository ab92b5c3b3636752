package workflows

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"coachline/models/wire"
)

// Search attributes of a participant; see models for their meaning.
var (
	attrStatus  = temporal.NewSearchAttributeKeyKeyword(wire.AttrStatus)
	attrMode    = temporal.NewSearchAttributeKeyKeyword(wire.AttrMode)
	attrNextDue = temporal.NewSearchAttributeKeyTime(wire.AttrNextDue)

	attrAttention   = temporal.NewSearchAttributeKeyKeywordList(wire.AttrAttention)
	attrUnreachable = temporal.NewSearchAttributeKeyBool(wire.AttrUnreachable)
)

// unsaved is what the tables do not show yet.
type unsaved struct {
	mode, status, schedules bool
	missed                  []wire.MissedPrompt
	leftOut                 []wire.LeftOut
}

// isAny reports whether the tables lack anything.
func (d unsaved) isAny() bool {
	return d.mode || d.status || d.schedules || len(d.missed) > 0 || len(d.leftOut) > 0
}

// mergeLater returns what two of them leave to be saved; d is the earlier one.
func (d unsaved) mergeLater(later unsaved) unsaved {
	return unsaved{
		mode: d.mode || later.mode, status: d.status || later.status, schedules: d.schedules || later.schedules,
		missed: slices.Concat(d.missed, later.missed), leftOut: slices.Concat(d.leftOut, later.leftOut),
	}
}

// shownAttributes is what the search attributes say, as far as this run knows: a run takes
// them over from the one before it, which says whether they show its state.
type shownAttributes struct {
	status  wire.Status
	mode    wire.Mode
	nextDue time.Time
	flags   shownFlags
}

// shownFlags are flags that can be compared; attention holds the kinds with
// commas between them.
type shownFlags struct {
	attention   string
	unreachable bool
}

func (p *participant) flagsToShow() shownFlags {
	return shownFlags{strings.Join(attentionNames(p.state.Flags), ","), p.state.Flags.Unreachable}
}

func attentionNames(flags wire.ParticipantFlags) []string {
	names := make([]string, 0, len(flags.Attention))
	for _, kind := range flags.Attention {
		names = append(names, string(kind))
	}
	return names
}

// statusView returns the state as queries and updates answer it.
func (p *participant) statusView() wire.StatusView {
	due := slices.Clone(p.state.Due)
	slices.SortStableFunc(due, func(a, b wire.Due) int { return a.At.Compare(b.At) })
	return wire.StatusView{
		Status: p.state.Status, Mode: p.state.Mode, Zone: p.state.Zone,
		Due: due, Pending: p.state.Pending, Feedback: p.state.Feedback,
		Turns: p.state.Turn, Waiting: len(p.state.Inbox.Items) + len(p.arrived), LastSeq: p.state.Inbox.LastSeq,
		Greeted: p.state.Greeted, Ended: p.state.Ended, InTurn: p.inTurn, Commands: len(p.state.Commands),
		Flags: p.state.Flags.Clone(), TakenOverUntil: p.state.TakenOverUntil,
	}
}

// publishState brings tables, search attributes and the current details up to
// date; each only when it changed.
func (p *participant) publishState(ctx workflow.Context) {
	p.saveState(ctx)
	p.upsertAttributes(ctx)
	workflow.SetCurrentDetails(ctx, p.statusPage())
}

// saveState writes what the tables do not show yet.
func (p *participant) saveState(ctx workflow.Context) {
	in := p.unsavedState(ctx)
	if in == nil {
		return
	}
	p.unsaved = unsaved{}
	if err := workflow.ExecuteLocalActivity(withLocalOptions(ctx), turns.SaveState, *in).Get(ctx, nil); err != nil {
		workflow.GetLogger(ctx).Error("saving state for operators failed", "error", err)
	}
}

// unsavedState returns the state for the tables; nil when they show it.
func (p *participant) unsavedState(ctx workflow.Context) *wire.SaveStateInput {
	if !p.unsaved.isAny() {
		return nil
	}
	in := &wire.SaveStateInput{
		ParticipantID: p.state.ParticipantID,
		Mode:          p.state.Mode,
		Schedules:     slices.Clone(p.state.Schedules),
		Missed:        p.unsaved.missed,
		LeftOut:       p.unsaved.leftOut,
		Now:           workflow.Now(ctx),
	}
	if p.unsaved.status {
		in.Status, in.Applied = p.state.Status, p.appliedNotice()
	}
	return in
}

// appliedNotice returns the number of the newest notice that the state follows from;
// 0 where none has come.
func (p *participant) appliedNotice() int64 {
	applied := p.state.Notices.Last
	for _, c := range p.state.Commands {
		if notice, ok := wire.ParseNoticeUpdateID(c.ID); ok {
			applied = min(applied, notice-1)
		}
	}
	return applied
}

// attributesToShow returns what the search attributes are to say.
func (p *participant) attributesToShow() shownAttributes {
	return shownAttributes{status: p.state.Status, mode: p.state.Mode, nextDue: p.nextDue(), flags: p.flagsToShow()}
}

// upsertAttributes sets the search attributes that have changed.
func (p *participant) upsertAttributes(ctx workflow.Context) {
	now := p.attributesToShow()
	if now.flags != p.shown.flags && !showsFlags(ctx) {
		now.flags = p.shown.flags
	}
	if p.dueMayLag(ctx) {
		now.nextDue = p.shown.nextDue
	}
	if now == p.shown {
		return
	}
	changes := []temporal.SearchAttributeUpdate{}
	if now.status != p.shown.status {
		changes = append(changes, attrStatus.ValueSet(string(now.status)))
	}
	if now.mode != p.shown.mode {
		changes = append(changes, attrMode.ValueSet(string(now.mode)))
	}
	if !now.nextDue.Equal(p.shown.nextDue) {
		if now.nextDue.IsZero() {
			changes = append(changes, attrNextDue.ValueUnset())
		} else {
			changes = append(changes, attrNextDue.ValueSet(now.nextDue))
		}
	}
	changes = append(changes, p.flagChanges(now.flags)...)
	p.shown = now
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
func (p *participant) dueMayLag(ctx workflow.Context) bool {
	prompted := p.prompted
	p.prompted = false
	return prompted && !p.shown.nextDue.IsZero() && workflow.Now(ctx).Sub(p.shown.nextDue) < nextDueLag
}

// flagChanges returns the search attributes of flags that are not shown yet.
func (p *participant) flagChanges(now shownFlags) []temporal.SearchAttributeUpdate {
	var changes []temporal.SearchAttributeUpdate
	switch now.attention {
	case p.shown.flags.attention:
	case "":
		changes = append(changes, attrAttention.ValueUnset())
	default:
		changes = append(changes, attrAttention.ValueSet(attentionNames(p.state.Flags)))
	}
	if now.unreachable != p.shown.flags.unreachable {
		changes = append(changes, attrUnreachable.ValueSet(now.unreachable))
	}
	return changes
}

// nextDue returns the first due time that an operator would ask about; a debounce
// is over before they could.
func (p *participant) nextDue() time.Time {
	var next time.Time
	for _, d := range p.state.Due {
		if d.Kind != wire.DueDebounce && (next.IsZero() || d.At.Before(next)) {
			next = d.At
		}
	}
	return next
}

// statusPage returns the page of a participant in the Temporal UI (Markdown).
func (p *participant) statusPage() string {
	v := p.statusView()
	lines := []string{fmt.Sprintf("**%s**, mode **%s**, zone %s, %d turns", v.Status, v.Mode, v.Zone, v.Turns), ""}
	if names := attentionNames(v.Flags); len(names) > 0 {
		lines = append(lines, "Needs an operator: **"+strings.Join(names, ", ")+"**", "")
	}
	if v.Flags.Unreachable {
		lines = append(lines, "The carrier cannot reach the number.", "")
	}
	if !v.TakenOverUntil.IsZero() {
		lines = append(lines, "An operator writes in the place of the coach until "+v.TakenOverUntil.Format(time.RFC3339)+".", "")
	}
	if v.Waiting > 0 {
		lines = append(lines, fmt.Sprintf("%d texts waiting", v.Waiting), "")
	}
	if v.Pending != nil {
		lines = append(lines, fmt.Sprintf("Outstanding prompt `%s`, sent %s", v.Pending.PromptID, v.Pending.SentAt.Format(time.RFC3339)), "")
	}
	if v.Feedback != wire.FeedbackNone {
		lines = append(lines, fmt.Sprintf("Feedback on the newest prompt: **%s**", v.Feedback), "")
	}
	if len(v.Due) == 0 {
		lines = append(lines, "Nothing is due.")
	}
	for _, d := range v.Due {
		lines = append(lines, "- "+describeDue(d))
	}
	for _, s := range p.state.Schedules {
		lines = append(lines, fmt.Sprintf("- schedule `%s`: %s %s%s, next %s", s.ID, s.Type, s.At, formatWindow(s), s.Next.TargetAt.Format(time.RFC3339)))
	}
	return strings.Join(lines, "\n")
}

// formatWindow returns the window of a random schedule; empty for others.
func formatWindow(s wire.Schedule) string {
	if s.Type == wire.ScheduleRandom {
		return s.From + "-" + s.To
	}
	return ""
}
