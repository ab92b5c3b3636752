package models

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models/wire"
)

// Every channel has one registration, and the notice of a message leads back to
// the channel that the message came on.
func TestChannels(t *testing.T) {
	seen := map[wire.Channel]bool{}
	for _, spec := range Channels {
		require.False(t, seen[spec.Name], spec.Name)
		seen[spec.Name] = true
		require.Equal(t, spec, ChannelSpecOf(spec.Name))
		require.Equal(t, spec.Name, spec.Name.Column().Name())
		require.Equal(t, spec, ChannelSpecOf(spec.Name.Column()))
		require.Equal(t, spec.Notice != "", HasInbound(spec.Name))
		if spec.Notice == "" {
			continue
		}
		back, ok := ChannelOf(spec.Notice)
		require.True(t, ok)
		require.Equal(t, spec.Name.Column(), back)
		require.Contains(t, MessageNotices(), spec.Notice)
	}
	require.Len(t, MessageNotices(), 2)
	_, ok := ChannelOf(NoticePause)
	require.False(t, ok)
}

// Rows and payloads leave SMS empty, and what an older or newer build has written
// has the rights of an SMS.
func TestEmptyChannelIsSMS(t *testing.T) {
	require.Equal(t, wire.Channel(""), wire.ChannelSMS.Column())
	require.Equal(t, wire.ChannelSMS, wire.Channel("").Name())
	require.Equal(t, ChannelSpecOf(wire.ChannelSMS), ChannelSpecOf(""))
	require.Equal(t, ChannelSpecOf(wire.ChannelSMS), ChannelSpecOf("fax"))
	require.False(t, HasInbound("fax"))
	require.False(t, HasInbound(""))
}
