package store

import (
	"slices"
	"strings"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/text"
	"coachline/models"
)

// reactedTexts is how many of the newest messages either way a reaction is looked for in.
const reactedTexts = 100

// isReactionToText reports whether a text of a participant is a tapback at a picture or at
// a message of the conversation. A text that only has the form of one, and quotes
// what neither side has written, is a text like any other, also in the screening.
func isReactionToText(tx *gorm.DB, in models.Inbound) (bool, error) {
	reaction, ok := text.ReadReaction(in.Body)
	if !ok || reaction.Quoted == "" {
		return ok, nil
	}
	tx = tx.WithContext(database.AllowUnreadable(tx.Statement.Context))
	recent := func() *gorm.DB {
		return tx.Where("participant_id = ?", in.ParticipantID).Limit(reactedTexts)
	}
	isQuoted := func(body string) bool { return strings.HasPrefix(text.FoldQuotes(body), reaction.Quoted) }
	var ours []models.Outbox
	err := recent().Order("created_at DESC").Find(&ours).Error
	if err != nil || slices.ContainsFunc(ours, func(row models.Outbox) bool { return isQuoted(row.Body) }) {
		return err == nil, err
	}
	var theirs []models.Inbound
	err = recent().Where("gate <> ?", models.LimitReaction).Order("id DESC").Find(&theirs).Error
	return err == nil && slices.ContainsFunc(theirs, func(row models.Inbound) bool { return isQuoted(row.Body) }), err
}

// keepReaction stores a tapback, which asks for nothing: it has no number, answers no
// prompt, and is neither danger nor consent, as it quotes words that were read before.
func keepReaction(tx *gorm.DB, in models.Inbound) (models.AcceptedInbound, error) {
	kept := models.Inbound{
		ProviderSID: in.ProviderSID, ParticipantID: in.ParticipantID, From: in.From, To: in.To, Body: in.Body,
		MediaCount: in.MediaCount, Channel: in.Channel, Limit: models.LimitReaction,
		FromIndex: in.FromIndex, RepeatIndex: in.RepeatIndex, ReceivedAt: in.ReceivedAt,
	}
	err := tx.Create(&kept).Error
	if err == nil {
		err = tx.Model(&models.Participant{ID: in.ParticipantID}).UpdateColumn("last_inbound_at", in.ReceivedAt).Error
	}
	return models.AcceptedInbound{Inbound: kept}, err
}
