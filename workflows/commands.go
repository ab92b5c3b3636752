package workflows

import (
	"errors"
	"fmt"
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"coachline/models/wire"
)

// Validators refuse before anything is written to the history.
var (
	errLeft        = errors.New("the participant has left the programme")
	errUnknownMode = errors.New("mode: must be INTAKE or FEEDBACK")
	errNoOutboxID  = errors.New("outbox_id: is required")
	errNoUntil     = errors.New("until: is required")
)

// handleTakeOver declares the updates by which an operator takes a conversation
// over and hands it back.
func (p *participant) handleTakeOver(ctx workflow.Context) error {
	return errors.Join(
		registerUpdate(ctx, p, spec[wire.TakeOverRequest]{
			name: wire.UpdateTakeOver, about: "hold the coach while an operator writes",
			command: func(r wire.TakeOverRequest) wire.Command {
				return wire.Command{Kind: wire.CommandTakeOver, Until: r.Until}
			},
			valid: func(r wire.TakeOverRequest) error {
				if r.Until.IsZero() {
					return errNoUntil
				}
				return nil
			},
		}),
		registerUpdate(ctx, p, spec[wire.HandBackRequest]{
			name: wire.UpdateHandBack, about: "let the coach write again, answer the texts given",
			command: func(r wire.HandBackRequest) wire.Command {
				return wire.Command{Kind: wire.CommandHandBack, Answer: r.Answer, Items: r.Items}
			},
			valid: func(wire.HandBackRequest) error { return nil },
		}),
	)
}

// registerHandlers declares queries and updates. Handlers only record; the loop
// acts.
func (p *participant) registerHandlers(ctx workflow.Context) error {
	return errors.Join(
		workflow.SetQueryHandlerWithOptions(ctx, wire.QueryStatus,
			func() (wire.StatusView, error) { return p.statusView(), nil },
			workflow.QueryHandlerOptions{Description: "mode, status, due times and counters"}),
		workflow.SetQueryHandlerWithOptions(ctx, wire.QuerySchedules,
			func() ([]wire.Schedule, error) { return p.state.Schedules, nil },
			workflow.QueryHandlerOptions{Description: "daily schedules with their next slot"}),
		// Older builds ask without an argument, which leaves the request empty.
		registerUpdate(ctx, p, spec[wire.PauseRequest]{
			name: wire.UpdatePause, about: "hold prompts, reminders and replies, until an instant where one is given",
			command: func(r wire.PauseRequest) wire.Command {
				return wire.Command{Kind: wire.CommandPause, Until: r.Until}
			},
			valid: func(wire.PauseRequest) error { return nil },
		}),
		registerUpdate(ctx, p, spec[wire.ResumeRequest]{
			name: wire.UpdateResume, about: "go on with the next slot, answer the texts given",
			command: func(r wire.ResumeRequest) wire.Command {
				return wire.Command{Kind: wire.CommandResume, Items: r.Items}
			},
			valid: func(wire.ResumeRequest) error { return nil },
		}),
		p.handleTakeOver(ctx),
		p.handleSchedules(ctx),
		p.handleBare(ctx, wire.UpdateUnenroll, wire.CommandUnenroll, "cancel everything, send one notice, end"),
		registerUpdate(ctx, p, spec[wire.SetModeRequest]{
			name: wire.UpdateSetMode, about: "change the coaching mode between turns",
			command: func(r wire.SetModeRequest) wire.Command {
				return wire.Command{Kind: wire.CommandSetMode, Mode: r.Mode}
			},
			valid: func(r wire.SetModeRequest) error {
				switch {
				case !r.Mode.Known():
					return errUnknownMode
				case !p.state.Status.Coached():
					return fmt.Errorf("the participant is %s; a mode can be set only while they are active or paused", p.state.Status)
				}
				return nil
			},
		}),
		registerUpdate(ctx, p, spec[wire.SendMessageRequest]{
			name: wire.UpdateSendMessage, about: "send an operator's stored message",
			command: func(r wire.SendMessageRequest) wire.Command {
				return wire.Command{Kind: wire.CommandSend, OutboxID: r.OutboxID}
			},
			valid: func(r wire.SendMessageRequest) error {
				if r.OutboxID == "" {
					return errNoOutboxID
				}
				return nil
			},
		}),
		registerUpdate(ctx, p, spec[wire.ParticipantChanged]{
			name: wire.UpdateParticipant, about: "take over a changed zone, status or flags, confirm consent, answer HELP",
			command: func(r wire.ParticipantChanged) wire.Command {
				return wire.Command{Kind: wire.CommandUpdate, Zone: r.Zone, ZoneAssumed: r.ZoneAssumed, Status: r.Status, Confirm: r.Confirm, Help: r.Help, Flags: r.Flags, Arm: r.Arm}
			},
			valid: func(r wire.ParticipantChanged) error { return checkStatus(r.Status) },
		}),
	)
}

// spec describes one update: its argument, the command it becomes and what is
// refused.
type spec[A any] struct {
	name, about string
	command     func(A) wire.Command
	valid       func(A) error
}

func (p *participant) handleBare(ctx workflow.Context, name string, kind wire.CommandKind, about string) error {
	return workflow.SetUpdateHandlerWithOptions(ctx, name,
		func(ctx workflow.Context) (wire.StatusView, error) {
			return p.acceptCommand(ctx, wire.Command{Kind: kind})
		},
		workflow.UpdateHandlerOptions{Description: about, Validator: func() error { return p.checkOpen() }})
}

func registerUpdate[A any](ctx workflow.Context, p *participant, s spec[A]) error {
	return workflow.SetUpdateHandlerWithOptions(ctx, s.name,
		func(ctx workflow.Context, arg A) (wire.StatusView, error) {
			return p.acceptCommand(ctx, s.command(arg))
		},
		workflow.UpdateHandlerOptions{Description: s.about, Validator: func(arg A) error {
			return errors.Join(p.checkOpen(), s.valid(arg))
		}})
}

// checkOpen returns errLeft for a participant who is leaving.
func (p *participant) checkOpen() error {
	if p.isLeaving() {
		return errLeft
	}
	return nil
}

// checkStatus returns an error for a status that does not exist.
func checkStatus(s wire.Status) error {
	if s == "" {
		return nil
	}
	for _, known := range wire.Statuses() {
		if s == known {
			return nil
		}
	}
	return fmt.Errorf("status: unknown value %q", s)
}

// acceptCommand records a command and waits until the loop has applied it. The
// update answers with the state that resulted. A notice that an earlier run
// applied is answered and not applied again: the server knows update ids of one
// run only.
func (p *participant) acceptCommand(ctx workflow.Context, c wire.Command) (wire.StatusView, error) {
	c.ID = workflow.GetCurrentUpdateInfo(ctx).ID
	if !p.state.Notices.Take(c.ID) {
		return p.statusView(), nil
	}
	p.state.Commands = append(p.state.Commands, c)
	if err := workflow.Await(ctx, func() bool { return !p.isCommandWaiting(c.ID) }); err != nil {
		return wire.StatusView{}, err
	}
	if refused := p.refusals[c.ID]; refused != "" {
		delete(p.refusals, c.ID)
		return wire.StatusView{}, temporal.NewNonRetryableApplicationError(refused, wire.ErrTypeRefused, nil)
	}
	return p.statusView(), nil
}

// isCommandWaiting reports whether the loop has not applied the command yet.
func (p *participant) isCommandWaiting(id string) bool {
	return slices.ContainsFunc(p.state.Commands, func(c wire.Command) bool { return c.ID == id })
}

func (p *participant) applyCommand(ctx workflow.Context, c wire.Command) {
	if c.Kind == wire.CommandSubagent {
		workflow.GetLogger(ctx).Info("subagent ended", "turn", c.Subagent.TurnID, "failed", c.Subagent.Failed, "told", c.Subagent.Tell)
	}
	if c.Kind == wire.CommandCancel {
		p.removeParticipant(ctx)
	}
	if len(c.Items) > 0 || c.Answer && p.state.Status == wire.StatusActive {
		p.state.Inbox.Return(c.Items)
		// A turn that only stores texts must not take them.
		p.plans = slices.DeleteFunc(p.plans, func(plan wire.TurnPlan) bool { return plan.Kind == wire.TurnMessage })
	}
	if c.Flags != nil {
		p.state.Flags = c.Flags.Clone()
	}
	if c.Arm != "" {
		p.state.Arm = c.Arm
	}
	for _, ev := range eventsOf(c) {
		if refused := p.handleEvent(ctx, ev); refused != "" && c.Kind == wire.CommandSchedule {
			p.refusals[c.ID] = refused
		}
	}
	// The handler's own command is dropped only now: until its effects are
	// applied, isLeaving must see an unenrolment that waits.
	p.state.Commands = slices.DeleteFunc(p.state.Commands, func(x wire.Command) bool { return x.ID == c.ID })
}

// asksHelp finds a HELP that waits; nil when there is none.
func (p *participant) asksHelp() *wire.Command {
	for i := range p.state.Commands {
		if c := p.state.Commands[i]; c.Help && c.Status == "" && c.Zone == "" {
			return &c
		}
	}
	return nil
}

// sendHelp answers a HELP in the middle of another turn: it must not wait for a
// model or a carrier.
func (p *participant) sendHelp(ctx workflow.Context) {
	waiting := p.plans
	p.plans = nil
	p.applyCommand(ctx, *p.asksHelp())
	asides := p.plans
	p.plans = waiting
	for _, plan := range asides {
		p.runTurn(ctx, plan)
	}
}

func eventsOf(c wire.Command) []wire.Event {
	switch c.Kind {
	case wire.CommandPause:
		return []wire.Event{{Kind: wire.EventPaused, At: c.Until}}
	case wire.CommandResume:
		return []wire.Event{{Kind: wire.EventStatus, Status: wire.StatusActive, Answer: len(c.Items) > 0}}
	case wire.CommandTakeOver:
		return []wire.Event{{Kind: wire.EventTakenOver, At: c.Until}}
	case wire.CommandHandBack:
		return []wire.Event{{Kind: wire.EventHandedBack, Answer: c.Answer}}
	case wire.CommandSchedule:
		return []wire.Event{{Kind: wire.EventScheduleTool, Schedule: c.Schedule}}
	case wire.CommandSetMode:
		return []wire.Event{{Kind: wire.EventMode, Mode: c.Mode}}
	case wire.CommandSend:
		return []wire.Event{{Kind: wire.EventSend, OutboxID: c.OutboxID}}
	case wire.CommandUnenroll, wire.CommandCancel:
		return []wire.Event{{Kind: wire.EventUnenrolled}}
	case wire.CommandSubagent:
		return []wire.Event{{Kind: wire.EventSubagentDone, Plan: wire.TurnPlan{Kind: wire.TurnSubagent, Subagent: c.Subagent}}}
	case wire.CommandUpdate:
		var events []wire.Event
		if c.Zone != "" {
			events = append(events, wire.Event{Kind: wire.EventZone, Zone: c.Zone, ZoneAssumed: c.ZoneAssumed})
		}
		if c.Status != "" {
			events = append(events, wire.Event{Kind: wire.EventStatus, Status: c.Status, Confirm: c.Confirm})
		}
		if c.Help {
			events = append(events, wire.Event{Kind: wire.EventHelp})
		}
		return events
	}
	return nil
}
