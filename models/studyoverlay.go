package models

import "slices"

// CanStart reports whether messages are started that no participant has asked for:
// prompts, reminders, check-ins, greetings.
func (s StudyState) CanStart() bool {
	switch s {
	case StudyRecruiting, StudyRunning:
		return true
	case StudyDraft, StudyClosed, StudyArchived:
	}
	return false
}

// OverlayFor returns what changes for the people of an arm: what the arm says,
// and where it says nothing what the study says. Tools that either leaves out are
// left out. An unknown arm changes nothing more than the study.
func (s StudySettings) OverlayFor(arm string) StudyOverlay {
	out := s.StudyOverlay
	out.ToolsOff = slices.Clone(out.ToolsOff)
	i := slices.IndexFunc(s.Arms, func(a StudyArm) bool { return a.Name == arm })
	if i < 0 {
		return out
	}
	over := s.Arms[i].Overlay
	for _, field := range []struct{ own, arm *string }{
		{&out.Model, &over.Model}, {&out.SmallModel, &over.SmallModel}, {&out.PromptsDir, &over.PromptsDir}, {&out.QuietHours, &over.QuietHours},
	} {
		if *field.arm != "" {
			*field.own = *field.arm
		}
	}
	if over.Reminders != nil {
		out.Reminders = over.Reminders
	}
	if over.CheckIns != nil {
		out.CheckIns = over.CheckIns
	}
	if over.MaxPerDay != nil {
		out.MaxPerDay = over.MaxPerDay
	}
	if over.BackOff != nil {
		out.BackOff = over.BackOff
	}
	for _, name := range over.ToolsOff {
		if !slices.Contains(out.ToolsOff, name) {
			out.ToolsOff = append(out.ToolsOff, name)
		}
	}
	return out
}

// Sender is a number (E.164) or a messaging service that texts come from; the
// zero value is the installation's.
type Sender struct {
	From             string `json:"from,omitempty"`
	MessagingService string `json:"messaging_service,omitempty"`
}

// Name is the number or the service; empty for the installation's sender.
func (s Sender) Name() string { return s.From + s.MessagingService }

// IsZero reports whether the sender is the installation's.
func (s Sender) IsZero() bool { return s == Sender{} }
