package models

import "slices"

// Channel names how a person and the programme exchange messages. Rows and
// payloads of messages leave it empty for SMS: Spec and Name read that, Column
// writes it.
type Channel string

const (
	ChannelSMS Channel = "sms"
	// ChannelTerminal is what participants of the operator's chat command are
	// enrolled with; their messages are on ChannelSMS.
	ChannelTerminal Channel = "terminal"
	// ChannelChat is the API, for terminal and web front ends: an answer is shown
	// where it is read from, and no carrier has a part in it.
	ChannelChat Channel = "chat"
)

// ChannelSpec is what the code knows of a channel.
type ChannelSpec struct {
	Name Channel
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
	{Name: ChannelSMS, ViaCarrier: true, HasSegments: true, Notice: NoticeMessage, Rights: Rights{MemoryStep: true}},
	{Name: ChannelTerminal, ViaCarrier: true, HasSegments: true, RemembersFirst: true, Rights: Rights{MemoryStep: true}},
	{Name: ChannelChat, Notice: NoticeChat, Rights: Rights{ToolCalls: 3, ReadOnly: true}},
}

// Spec returns the registration of the channel.
func (c Channel) Spec() ChannelSpec {
	i := slices.IndexFunc(Channels, func(spec ChannelSpec) bool { return spec.Name == c })
	return Channels[max(i, 0)]
}

// Name returns the channel's name, also where a row leaves it empty.
func (c Channel) Name() Channel {
	if c == "" {
		return ChannelSMS
	}
	return c
}

// Column returns what rows and payloads of messages hold for the channel: its
// name, and nothing for SMS.
func (c Channel) Column() Channel {
	if c == ChannelSMS {
		return ""
	}
	return c
}

// HasInbound reports whether persons write on the channel of that name.
func (c Channel) HasInbound() bool {
	return slices.ContainsFunc(Channels, func(spec ChannelSpec) bool { return spec.Name == c && spec.Notice != "" })
}

// ChannelOf returns the channel whose messages a notice of that kind announces,
// as payloads hold it; ok is false for notices of anything else.
func ChannelOf(kind NoticeKind) (c Channel, ok bool) {
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
