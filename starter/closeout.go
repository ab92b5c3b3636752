package starter

import (
	"context"
	"errors"
	"time"

	"coachline/internal/coach"
	"coachline/internal/region"
	"coachline/internal/store"
	"coachline/internal/study"
	"coachline/internal/wait"
	"coachline/internal/zones"
	"coachline/models"
	"coachline/models/wire"
)

const (
	// closeOutInterval is how often people are looked for whose study is over, and
	// closeOutBatch how many of them are closed out each time: 600 a minute.
	closeOutInterval = 5 * time.Second
	closeOutBatch    = 50
	// closeOutPage is how many are looked at each time: of some it is night.
	closeOutPage = 200
)

// closeOuts ends the coaching of people whose study is over.
type closeOuts struct {
	base
	people   *store.People
	rules    coach.Rules
	resolver *study.Resolver
}

// run ends the coaching of people whose study is over, until ctx ends. What
// is left to do is in the tables, so another process goes on with it.
func (h *closeOuts) run(ctx context.Context) {
	after := ""
	for ctx.Err() == nil {
		if h.resolver.HasOver() {
			var err error
			if after, err = h.closeOutSome(ctx, after); err != nil && ctx.Err() == nil {
				h.log.Error("closing out a study failed, trying again", "error", err)
			}
		}
		select {
		case <-ctx.Done():
		case <-wait.After(ctx, closeOutInterval):
		}
	}
}

// closeOutSome closes out some of the people behind an id, and returns behind which
// to go on. People in quiet hours are left for later: nothing is started for them
// meanwhile.
func (h *closeOuts) closeOutSome(ctx context.Context, after string) (string, error) {
	rows, err := h.people.PeopleToCloseOut(ctx, after, closeOutPage)
	if err != nil {
		return after, err
	}
	done := 0
	var failed []error
	for _, p := range rows {
		if done == closeOutBatch {
			return after, errors.Join(failed...)
		}
		after = p.ID
		open, err := h.isOpen(ctx, p)
		if err == nil && open {
			if err = h.people.CloseOut(ctx, p.ID, h.now()); err == nil {
				h.deliverNotices(ctx, p.ID)
				done++
			}
		}
		if err != nil {
			failed = append(failed, err)
		}
	}
	if len(rows) < closeOutPage {
		after = "" // from the first one again
	}
	return after, errors.Join(failed...)
}

// isOpen reports whether it is not quiet for a person, as their study has it.
func (h *closeOuts) isOpen(ctx context.Context, p models.Participant) (bool, error) {
	settings, err := h.resolver.Resolve(ctx, p.StudyID, p.Arm)
	if err != nil {
		return false, err
	}
	now := h.now()
	state := wire.ParticipantState{ParticipantID: p.ID, Zone: p.Timezone, ZoneAssumed: p.ZoneAssumed}
	open, err := coach.Input{State: state, Now: now, Rules: settings.Rules(h.rules).In(region.StateOf(p.Phone)), Zones: zones.Load}.Opens()
	return !open.After(now), err
}
