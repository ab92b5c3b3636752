package store

import (
	"strings"

	"gorm.io/gorm"

	"coachline/models"
	"coachline/models/wire"
)

// noteChannel keeps on the person's row, and in p, which external channel they wrote on
// last. It writes nothing where that is the same as before.
func noteChannel(tx *gorm.DB, p *models.Participant, in models.Inbound) error {
	last := in.Channel.Name()
	if p.LastChannel == last {
		return nil
	}
	return tx.Model(p).UpdateColumn("last_channel", last).Error
}

// isCarried reports whether a text came by the carrier, and so proves that the
// number can be reached.
func isCarried(in models.Inbound) bool { return models.ChannelSpecOf(in.Channel).ViaCarrier }

// carried returns the SQL condition that a carrier has a part in a message, where the
// column holds the message's channel. A name that is not known is SMS, as Spec has it.
func carried(column string) string {
	var others []string
	for _, spec := range models.Channels {
		if !spec.ViaCarrier {
			others = append(others, "'"+string(spec.Name)+"'")
		}
	}
	return column + " NOT IN (" + strings.Join(others, ", ") + ")"
}

// noticeKindOf returns the kind of notice that brings a text to the workflow.
func noticeKindOf(in models.Inbound) models.NoticeKind {
	return models.ChannelSpecOf(in.Channel).Notice
}

// channelOf returns the channel that a turn answers on; empty is SMS. What a text asked of
// the programme itself (to stop, to come back, for help) is answered where the
// person wrote last; what we start goes by SMS.
func channelOf(in wire.PrepareTurnInput, p models.Participant) wire.Channel {
	asked := in.Plan.Kind == wire.TurnConsent || in.Plan.Kind == wire.TurnHelp
	if last := p.LastChannel.Column(); asked && last != "" {
		return last
	}
	return in.Channel
}

// showMessage ends a row that no carrier has a part in: it is delivered as soon as it is
// written, because it is read from where it is stored. False leaves the row to be
// sent.
func showMessage(row *models.Outbox) bool {
	if models.ChannelSpecOf(row.Channel).ViaCarrier {
		return false
	}
	at := row.CreatedAt
	row.Status, row.AcceptedAt = wire.OutboxDelivered, &at
	return true
}
