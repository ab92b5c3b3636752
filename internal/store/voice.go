package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gorm.io/gorm"

	"coachline/internal/agent/marks"
	"coachline/internal/text"
	"coachline/internal/wrap"
	"coachline/models"
)

// UntranscribedNotes returns, by text, the voice notes of some texts that were not
// transcribed yet.
func (s *Inbound) UntranscribedNotes(ctx context.Context, inboundIDs []int64) (map[int64][]models.VoiceNote, error) {
	out := map[int64][]models.VoiceNote{}
	if len(inboundIDs) == 0 {
		return out, nil
	}
	var rows []models.Inbound
	err := s.db.Reader(ctx).Select("id", "provider_sid", "voice").Where("id IN ? AND media_count > 0", inboundIDs).Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("reading voice notes: %w", classify(err))
	}
	for _, row := range rows {
		for _, note := range row.VoiceNotes() {
			if !note.Heard {
				out[row.ID] = append(out[row.ID], note)
			}
		}
	}
	return out, nil
}

// AcceptTranscription stores what was heard of a voice note and screens it as
// AcceptInbound screens what is typed, in one transaction: a spoken crisis raises
// its alert, a spoken STOP opts out. A text whose voice note is answered like
// this takes no turn of the model. The first result stays and acts once, so a
// retry is safe: Duplicate says that nothing was written. ErrNotFound for an
// unknown text.
func (s *Inbound) AcceptTranscription(ctx context.Context, t models.Transcription) (models.AcceptedInbound, error) {
	var out models.AcceptedInbound
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		var in models.Inbound
		if err := tx.Select("participant_id").Where("id = ?", t.InboundID).Take(&in).Error; err != nil {
			return err
		}
		p, err := lockParticipant(tx, in.ParticipantID)
		if err != nil {
			return err
		}
		in = models.Inbound{}
		if err := tx.Where("id = ?", t.InboundID).Take(&in).Error; err != nil {
			return err
		}
		if settled, err := addTranscription(&in, t.Note); err != nil || !settled {
			out = models.AcceptedInbound{Inbound: in, Duplicate: true}
			return err
		}
		if len(t.Note.Calls) > 0 {
			if err := tx.Create(&costRef{Source: "voice", Ref: fmt.Sprintf("%d/%d", t.InboundID, t.Note.Index)}).Error; err != nil {
				return err
			}
		}
		out, err = s.acceptTranscription(tx, in, p, t)
		return err
	})
	return out, wrap.Error(classify(err), "accepting a transcript")
}

// isSpoken reports whether what is accepted is a transcript. Its message was limited,
// numbered and announced when it came.
func isSpoken(in models.Inbound) bool { return in.ID != 0 }

// acceptTranscription acts on a transcript that is new. What an earlier part of the
// same message was found to say stays on its row.
func (s *Inbound) acceptTranscription(tx *gorm.DB, in models.Inbound, p models.Participant, t models.Transcription) (models.AcceptedInbound, error) {
	before := in
	screenMessage(&in, t.Note.Text)
	in.ReceivedAt = instant(t.At)
	if needsQuestion(in.Intent) && isRuledIntent(before.Intent) {
		in.Intent, in.IntentMethod = models.IntentNone, ""
	}
	if p.RemovedAt != nil || in.Intent == models.IntentNone && in.Danger == models.DangerNone {
		in.Intent, in.IntentMethod = before.Intent, before.IntentMethod
		in.Danger, in.DangerTier, in.DangerRule, in.DangerKind = before.Danger, before.DangerTier, before.DangerRule, before.DangerKind
		in.DangerScore = before.DangerScore
		return models.AcceptedInbound{Inbound: in}, saveTranscription(tx, in)
	}
	return s.acceptScreened(tx, in, p)
}

// addTranscription puts what was heard of a note among the notes of a text. It is
// false when the note was transcribed before.
func addTranscription(in *models.Inbound, heard models.VoiceNote) (bool, error) {
	notes := in.VoiceNotes()
	settled := false
	for i, note := range notes {
		if note.Index == heard.Index && !note.Heard {
			heard.Heard, settled = true, true
			notes[i] = heard
		}
	}
	if !settled {
		return false, nil
	}
	raw, err := json.Marshal(notes)
	in.Voice = string(raw)
	return true, err
}

// isRuledIntent reports whether the programme itself answers an intent.
func isRuledIntent(intent models.Intent) bool {
	switch intent {
	case models.IntentStop, models.IntentHelp, models.IntentUnclear, models.IntentWrongNumber, models.IntentDoubted, models.IntentData, models.IntentErasure, models.IntentMinor:
		return true
	case models.IntentNone, models.IntentStart, models.IntentYes:
	}
	return false
}

// isAnswered reports whether the programme itself has answered, because of what
// was said in their voice notes, all texts of a turn that does not stand yet.
func isAnswered(tx *gorm.DB, turnID string, texts []models.Inbound) (bool, error) {
	if len(texts) == 0 {
		return false, nil
	}
	var ids []int64
	for _, text := range texts {
		switch {
		case !slices.ContainsFunc(text.VoiceNotes(), func(note models.VoiceNote) bool { return note.Heard && note.Text != "" }):
			return false, nil
		case !isRuledIntent(text.Intent):
			ids = append(ids, text.ID)
		}
	}
	var answered, turns int64
	if err := tx.Model(&models.Alert{}).Where("inbound_id IN ? AND answer", ids).Count(&answered).Error; err != nil {
		return false, err
	}
	err := tx.Model(&models.Turn{}).Where("id = ?", turnID).Count(&turns).Error
	return answered == int64(len(ids)) && turns == 0, err
}

// saveTranscription writes what a transcript adds to the row of a text.
func saveTranscription(tx *gorm.DB, in models.Inbound) error {
	return tx.Select("voice", "intent", "intent_method", "danger", "danger_tier", "danger_rule", "danger_kind", "danger_score").
		UpdateColumns(&in).Error
}

// spokenLines returns what was heard of a text's voice notes, a line for each that was
// listened to.
func spokenLines(in models.Inbound) []string {
	var lines []string
	for _, note := range in.VoiceNotes() {
		if !note.Heard {
			continue
		}
		line := marks.VoiceNoteNotOpened + note.Problem + "]"
		if note.Problem == "" {
			words, _ := text.Cut(text.Visible(note.Text), text.ReadLimit)
			line = marks.VoiceNote + marks.NeutraliseReceived(words)
		}
		lines = append(lines, line)
	}
	return lines
}

// costVoice is the source of references to voice notes, "7/0" for the first one of
// text 7.
const costVoice = "voice"

// textOfVoice returns the id of the text that a reference to a voice note names.
func textOfVoice(ref string) string {
	id, _, _ := strings.Cut(ref, "/")
	return id
}

// costsOfVoice has a row for each call that it took to write a voice note down.
func (c *costRows) costsOfVoice(ref string) []models.Cost {
	id, index, _ := strings.Cut(ref, "/")
	row := c.inbound[id]
	var out []models.Cost
	for _, note := range row.VoiceNotes() {
		if strconv.Itoa(note.Index) != index {
			continue
		}
		for i, call := range note.Calls {
			stage := models.Stage{Name: models.StageTranscribe, Model: call.Model, Usage: call.Usage, CreatedAt: row.ReceivedAt}
			if call.Lost {
				stage.Name = models.StageLost
			}
			out = append(out, callCost(c.list, fmt.Sprintf("voice/%s/%d", ref, i), row.ParticipantID, stage))
		}
	}
	return out
}
