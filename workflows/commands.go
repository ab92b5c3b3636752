package workflows

import (
	"errors"
	"fmt"
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"coachline/models"
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
		registerUpdate(ctx, p, spec[models.TakeOverRequest]{
			name: models.UpdateTakeOver, about: "hold the coach while an operator writes",
			command: func(r models.TakeOverRequest) models.Command {
				return models.Command{Kind: models.CommandTakeOver, Until: r.Until}
			},
			valid: func(r models.TakeOverRequest) error {
				if r.Until.IsZero() {
					return errNoUntil
				}
				return nil
			},
		}),
		registerUpdate(ctx, p, spec[models.HandBackRequest]{
			name: models.UpdateHandBack, about: "let the coach write again, answer the texts given",
			command: func(r models.HandBackRequest) models.Command {
				return models.Command{Kind: models.CommandHandBack, Answer: r.Answer, Items: r.Items}
			},
			valid: func(models.HandBackRequest) error { return nil },
		}),
	)
}

// registerHandlers declares queries and updates. Handlers only record; the loop
// acts.
func (p *participant) registerHandlers(ctx workflow.Context) error {
	return errors.Join(
		workflow.SetQueryHandlerWithOptions(ctx, models.QueryStatus,
			func() (models.StatusView, error) { return p.statusView(), nil },
			workflow.QueryHandlerOptions{Description: "mode, status, due times and counters"}),
		workflow.SetQueryHandlerWithOptions(ctx, models.QuerySchedules,
			func() ([]models.Schedule, error) { return p.state.Schedules, nil },
			workflow.QueryHandlerOptions{Description: "daily schedules with their next slot"}),
		// Older builds ask without an argument, which leaves the request empty.
		registerUpdate(ctx, p, spec[models.PauseRequest]{
			name: models.UpdatePause, about: "hold prompts, reminders and replies, until an instant where one is given",
			command: func(r models.PauseRequest) models.Command {
				return models.Command{Kind: models.CommandPause, Until: r.Until}
			},
			valid: func(models.PauseRequest) error { return nil },
		}),
		registerUpdate(ctx, p, spec[models.ResumeRequest]{
			name: models.UpdateResume, about: "go on with the next slot, answer the texts given",
			command: func(r models.ResumeRequest) models.Command {
				return models.Command{Kind: models.CommandResume, Items: r.Items}
			},
			valid: func(models.ResumeRequest) error { return nil },
		}),
		p.handleTakeOver(ctx),
		p.handleSchedules(ctx),
		p.handleBare(ctx, models.UpdateUnenroll, models.CommandUnenroll, "cancel everything, send one notice, end"),
		registerUpdate(ctx, p, spec[models.SetModeRequest]{
			name: models.UpdateSetMode, about: "change the coaching mode between turns",
			command: func(r models.SetModeRequest) models.Command {
				return models.Command{Kind: models.CommandSetMode, Mode: r.Mode}
			},
			valid: func(r models.SetModeRequest) error {
				switch {
				case !r.Mode.Known():
					return errUnknownMode
				case !p.state.Status.Coached():
					return fmt.Errorf("the participant is %s; a mode can be set only while they are active or paused", p.state.Status)
				}
				return nil
			},
		}),
		registerUpdate(ctx, p, spec[models.SendMessageRequest]{
			name: models.UpdateSendMessage, about: "send an operator's stored message",
			command: func(r models.SendMessageRequest) models.Command {
				return models.Command{Kind: models.CommandSend, OutboxID: r.OutboxID}
			},
			valid: func(r models.SendMessageRequest) error {
				if r.OutboxID == "" {
					return errNoOutboxID
				}
				return nil
			},
		}),
		registerUpdate(ctx, p, spec[models.ParticipantChanged]{
			name: models.UpdateParticipant, about: "take over a changed zone, status or flags, confirm consent, answer HELP",
			command: func(r models.ParticipantChanged) models.Command {
				return models.Command{Kind: models.CommandUpdate, Zone: r.Zone, ZoneAssumed: r.ZoneAssumed, Status: r.Status, Confirm: r.Confirm, Help: r.Help, Flags: r.Flags, Arm: r.Arm}
			},
			valid: func(r models.ParticipantChanged) error { return checkStatus(r.Status) },
		}),
	)
}

// spec describes one update: its argument, the command it becomes and what is
// refused.
type spec[A any] struct {
	name, about string
	command     func(A) models.Command
	valid       func(A) error
}

func (p *participant) handleBare(ctx workflow.Context, name string, kind models.CommandKind, about string) error {
	return workflow.SetUpdateHandlerWithOptions(ctx, name,
		func(ctx workflow.Context) (models.StatusView, error) {
			return p.acceptCommand(ctx, models.Command{Kind: kind})
		},
		workflow.UpdateHandlerOptions{Description: about, Validator: func() error { return p.checkOpen() }})
}

// registerUpdate declares one update and its validator.
func registerUpdate[A any](ctx workflow.Context, p *participant, s spec[A]) error {
	return workflow.SetUpdateHandlerWithOptions(ctx, s.name,
		func(ctx workflow.Context, arg A) (models.StatusView, error) {
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
func checkStatus(s models.Status) error {
	if s == "" {
		return nil
	}
	for _, known := range models.Statuses() {
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
func (p *participant) acceptCommand(ctx workflow.Context, c models.Command) (models.StatusView, error) {
	c.ID = workflow.GetCurrentUpdateInfo(ctx).ID
	if !p.state.Notices.Take(c.ID) {
		return p.statusView(), nil
	}
	p.state.Commands = append(p.state.Commands, c)
	if err := workflow.Await(ctx, func() bool { return !p.isCommandWaiting(c.ID) }); err != nil {
		return models.StatusView{}, err
	}
	if refused := p.refusals[c.ID]; refused != "" {
		delete(p.refusals, c.ID)
		return models.StatusView{}, temporal.NewNonRetryableApplicationError(refused, models.ErrTypeRefused, nil)
	}
	return p.statusView(), nil
}

// isCommandWaiting reports whether the loop has not applied the command yet.
func (p *participant) isCommandWaiting(id string) bool {
	return slices.ContainsFunc(p.state.Commands, func(c models.Command) bool { return c.ID == id })
}

// applyCommand applies an accepted command.
func (p *participant) applyCommand(ctx workflow.Context, c models.Command) {
	if c.Kind == models.CommandSubagent {
		workflow.GetLogger(ctx).Info("subagent ended", "turn", c.Subagent.TurnID, "failed", c.Subagent.Failed, "told", c.Subagent.Tell)
	}
	if c.Kind == models.CommandCancel {
		p.removeParticipant(ctx)
	}
	if len(c.Items) > 0 || c.Answer && p.state.Status == models.StatusActive {
		p.state.Inbox.Return(c.Items)
		// A turn that only stores texts must not take them.
		p.plans = slices.DeleteFunc(p.plans, func(plan models.TurnPlan) bool { return plan.Kind == models.TurnMessage })
	}
	if c.Flags != nil {
		p.state.Flags = c.Flags.Clone()
	}
	if c.Arm != "" {
		p.state.Arm = c.Arm
	}
	for _, ev := range eventsOf(c) {
		if refused := p.handleEvent(ctx, ev); refused != "" && c.Kind == models.CommandSchedule {
			p.refusals[c.ID] = refused
		}
	}
	// The handler's own command is dropped only now: until its effects are
	// applied, isLeaving must see an unenrolment that waits.
	p.state.Commands = slices.DeleteFunc(p.state.Commands, func(x models.Command) bool { return x.ID == c.ID })
}

// asksHelp finds a HELP that waits; nil when there is none.
func (p *participant) asksHelp() *models.Command {
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

func eventsOf(c models.Command) []models.Event {
	switch c.Kind {
	case models.CommandPause:
		return []models.Event{{Kind: models.EventPaused, At: c.Until}}
	case models.CommandResume:
		return []models.Event{{Kind: models.EventStatus, Status: models.StatusActive, Answer: len(c.Items) > 0}}
	case models.CommandTakeOver:
		return []models.Event{{Kind: models.EventTakenOver, At: c.Until}}
	case models.CommandHandBack:
		return []models.Event{{Kind: models.EventHandedBack, Answer: c.Answer}}
	case models.CommandSchedule:
		return []models.Event{{Kind: models.EventScheduleTool, Schedule: c.Schedule}}
	case models.CommandSetMode:
		return []models.Event{{Kind: models.EventMode, Mode: c.Mode}}
	case models.CommandSend:
		return []models.Event{{Kind: models.EventSend, OutboxID: c.OutboxID}}
	case models.CommandUnenroll, models.CommandCancel:
		return []models.Event{{Kind: models.EventUnenrolled}}
	case models.CommandSubagent:
		return []models.Event{{Kind: models.EventSubagentDone, Plan: models.TurnPlan{Kind: models.TurnSubagent, Subagent: c.Subagent}}}
	case models.CommandUpdate:
		var events []models.Event
		if c.Zone != "" {
			events = append(events, models.Event{Kind: models.EventZone, Zone: c.Zone, ZoneAssumed: c.ZoneAssumed})
		}
		if c.Status != "" {
			events = append(events, models.Event{Kind: models.EventStatus, Status: c.Status, Confirm: c.Confirm})
		}
		if c.Help {
			events = append(events, models.Event{Kind: models.EventHelp})
		}
		return events
	}
	return nil
}
