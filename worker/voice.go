package worker

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"coachline/activities"
	"coachline/internal/calls"
	"coachline/internal/config"
	"coachline/internal/metrics"
	"coachline/models"
	"coachline/models/wire"
)

// listenLimit bounds what listening may add to the beginning of a turn, which
// shares its activity with one call of the model.
const listenLimit = 12 * time.Second

// noteKeeper screens and keeps what was heard. Alerts and notices that follow
// from it are delivered by the starter's relay, like those of every other text.
type noteKeeper interface {
	UntranscribedNotes(ctx context.Context, inboundIDs []int64) (map[int64][]models.VoiceNote, error)
	AcceptTranscription(ctx context.Context, t models.Transcription) (models.AcceptedInbound, error)
}

// recorder fetches recordings; models.ErrNotOpened says why one is not opened.
type recorder interface {
	Recording(ctx context.Context, address string) (models.Recording, error)
}

// writer writes speech down; its errors are *models.ModelError.
type writer interface {
	Transcribe(ctx context.Context, sound models.Recording) (string, error)
}

// transcriber turns voice notes into text.
type transcriber struct {
	notes   noteKeeper
	carrier recorder
	model   writer
	metrics *metrics.Metrics
	log     *slog.Logger
	now     func() time.Time
}

// hearingRows begins a turn by listening to the voice notes of its texts, once
// each: what was heard is stored with the text before the turn reads it.
type hearingRows struct {
	activities.Turns
	transcriber transcriber
}

// newTranscriber has no model or carrier where those outside have no speech, as in a
// rehearsal.
func (p *Parts) newTranscriber(o Outside) transcriber {
	model, _ := o.Model.(writer)
	carrier, _ := o.Carrier.(recorder)
	return transcriber{notes: p.rows.Inbound, carrier: carrier, model: model, metrics: p.metrics, log: p.logger, now: o.Now}
}

// withTranscriber returns rows that transcribe voice notes, or rows as they are
// where no model for speech is set.
func withTranscriber(cfg config.Config, rows activities.Turns, e transcriber) activities.Turns {
	if cfg.Model.Transcribe == "" || e.model == nil || e.carrier == nil {
		return rows
	}
	return hearingRows{Turns: rows, transcriber: e}
}

// BeginTurn listens first. A note that cannot be heard is told to the model as
// such, and never keeps a turn from beginning.
func (r hearingRows) BeginTurn(ctx context.Context, in wire.PrepareTurnInput) (wire.PrepareTurnResult, error) {
	if err := r.transcribeTurn(ctx, in); err != nil {
		return wire.PrepareTurnResult{}, err
	}
	return r.Turns.BeginTurn(ctx, in)
}

// OpenTurn does so too.
func (r hearingRows) OpenTurn(ctx context.Context, in wire.PrepareTurnInput, window int) (wire.PrepareTurnResult, models.TurnContext, error) {
	if err := r.transcribeTurn(ctx, in); err != nil {
		return wire.PrepareTurnResult{}, models.TurnContext{}, err
	}
	return r.Turns.OpenTurn(ctx, in, window)
}

func (r hearingRows) transcribeTurn(ctx context.Context, in wire.PrepareTurnInput) error {
	if len(in.InboundIDs) == 0 {
		return nil
	}
	return r.transcriber.transcribeAll(ctx, in.InboundIDs)
}

func (e transcriber) transcribeAll(ctx context.Context, texts []int64) error {
	unheard, err := e.notes.UntranscribedNotes(ctx, texts)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, listenLimit)
	defer cancel()
	for _, id := range texts {
		for _, note := range unheard[id] {
			asking, asked := calls.With(limited)
			text, err := e.transcribeNote(asking, note)
			if ctx.Err() != nil { // the attempt is over, not the note
				passOn(ctx, asked)
				return ctx.Err()
			}
			note.Calls = voiceCalls(asked)
			note.Text, note.Problem = text, describeProblem(text, err)
			if err != nil {
				e.log.Warn("a voice note could not be heard", "inbound", id, "media", note.Index, "error", err)
			}
			accepted, err := e.notes.AcceptTranscription(ctx, models.Transcription{InboundID: id, Note: note, At: e.now()})
			if err != nil || accepted.Duplicate {
				passOn(ctx, asked)
			}
			if err != nil {
				return err
			}
			e.metrics.Transcription(accepted)
			if accepted.AlertID != "" {
				e.log.Error("a voice note may be a crisis", "participant", accepted.Inbound.ParticipantID, "inbound", id, "alert", accepted.AlertID)
			}
		}
	}
	return nil
}

// voiceCalls returns what a note is stored with of the calls that it took.
func voiceCalls(asked *calls.Log) (out []models.VoiceCall) {
	for _, call := range asked.Open() {
		out = append(out, models.VoiceCall{Model: cmp.Or(call.Model, call.Asked), Usage: call.Usage, Lost: call.Lost})
	}
	return out
}

// passOn leaves the calls of a note that was not stored to the attempt's log.
func passOn(ctx context.Context, asked *calls.Log) {
	for _, call := range asked.Open() {
		calls.Record(ctx, call)
	}
}

func (e transcriber) transcribeNote(ctx context.Context, note models.VoiceNote) (string, error) {
	sound, err := e.carrier.Recording(ctx, note.URL)
	if err != nil {
		return "", err
	}
	return e.model.Transcribe(ctx, sound)
}

// describeProblem returns what the model is told of a voice note; empty for a
// note that was transcribed.
func describeProblem(text string, err error) string {
	var refused *models.ModelError
	switch {
	case errors.Is(err, models.ErrNotOpened):
		_, why, _ := strings.Cut(err.Error(), models.ErrNotOpened.Error()+": ")
		return why
	case errors.As(err, &refused) && refused.Class == models.ModelRefused:
		return "its format is not supported"
	case err != nil:
		return "something went wrong on our side"
	case text == "":
		return "nothing was said"
	}
	return ""
}
