package models

import (
	"slices"

	"coachline/models/wire"
)

// ChannelSpec is what the code knows of a channel.
type ChannelSpec struct {
	Name wire.Channel
	// ViaCarrier: a carrier brings and takes its messages. A row of any other
	// channel is delivered when it is written, because it is read from where it is
	// stored.
	ViaCarrier bool
	// HasSegments: the carrier counts characters, so a long message is split.
	HasSegments bool
	// Notice is how a participant's workflow is told of a message of the channel;
	// empty where persons do not write on it.
	Notice NoticeKind
	// RemembersFirst: no delivery has to be awaited, so the memory step may come
	// before the reply.
	RemembersFirst bool
	Rights
}

// Rights are what a turn that a channel's texts begin may do.
type Rights struct {
	// ToolCalls bounds the calls of a turn; 0 leaves it to the programme's limit.
	ToolCalls int
	// ReadOnly: only tools that change nothing are on offer.
	ReadOnly bool
	// MemoryStep: what the person told is remembered at the end of the turn.
	MemoryStep bool
}

// Channels registers every channel. The first one stands in for an empty or
// unknown name.
var Channels = []ChannelSpec{
	{Name: wire.ChannelSMS, ViaCarrier: true, HasSegments: true, Notice: NoticeMessage, Rights: Rights{MemoryStep: true}},
	{Name: wire.ChannelTerminal, ViaCarrier: true, HasSegments: true, RemembersFirst: true, Rights: Rights{MemoryStep: true}},
	{Name: wire.ChannelChat, Notice: NoticeChat, Rights: Rights{ToolCalls: 3, ReadOnly: true}},
}

// ChannelSpecOf returns the registration of the channel.
func ChannelSpecOf(c wire.Channel) ChannelSpec {
	i := slices.IndexFunc(Channels, func(spec ChannelSpec) bool { return spec.Name == c })
	return Channels[max(i, 0)]
}

// HasInbound reports whether persons write on the channel of that name.
func HasInbound(c wire.Channel) bool {
	return slices.ContainsFunc(Channels, func(spec ChannelSpec) bool { return spec.Name == c && spec.Notice != "" })
}

// ChannelOf returns the channel whose messages a notice of that kind announces,
// as payloads hold it; ok is false for notices of anything else.
func ChannelOf(kind NoticeKind) (c wire.Channel, ok bool) {
	i := slices.IndexFunc(Channels, func(spec ChannelSpec) bool { return spec.Notice != "" && spec.Notice == kind })
	if i < 0 {
		return "", false
	}
	return Channels[i].Name.Column(), true
}

// MessageNotices lists the kinds of notices that announce a message.
func MessageNotices() []NoticeKind {
	var kinds []NoticeKind
	for _, spec := range Channels {
		if spec.Notice != "" {
			kinds = append(kinds, spec.Notice)
		}
	}
	return kinds
}
