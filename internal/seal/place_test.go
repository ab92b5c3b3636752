package seal

import (
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"pgregory.net/rapid"
)

// sealUnbound seals as builds did that bound values to no place.
func sealUnbound(r *Ring, plain []byte) []byte {
	head := header(versionUnbound, r.current)
	return r.keys[r.current].store.Seal(head, nil, plain, head)
}

func TestOpenNeedsTheSamePlace(t *testing.T) {
	r := ring(t, entry("k1", 'a'))
	rapid.Check(t, func(t *rapid.T) {
		here := rapid.SliceOf(rapid.Byte()).Draw(t, "here")
		there := rapid.SliceOf(rapid.Byte()).Draw(t, "there")
		sealed, err := r.Seal([]byte("text"), here)
		require.NoError(t, err)
		plain, err := r.Open(sealed, here)
		require.NoError(t, err)
		require.Equal(t, "text", string(plain))
		if string(here) != string(there) {
			_, err = r.Open(sealed, there)
			require.ErrorIs(t, err, ErrTampered)
		}
	})
}

func TestUnboundValuesStayReadable(t *testing.T) {
	r := ring(t, entry("k1", 'a'))
	old := sealUnbound(r, []byte("text"))
	plain, err := r.Open(old, []byte("anywhere"))
	require.NoError(t, err)
	require.Equal(t, "text", string(plain))
	require.False(t, r.IsFresh(old))
	bound, err := r.Seal([]byte("text"), []byte("here"))
	require.NoError(t, err)
	require.True(t, r.IsFresh(bound))
	require.False(t, ring(t, entry("k2", 'b'), entry("k1", 'a')).IsFresh(bound), "another key seals now")
	bound[0] = versionUnbound
	_, err = r.Open(bound, []byte("there"))
	require.ErrorIs(t, err, ErrTampered, "a bound value cannot be made an unbound one")
	require.Equal(t, "k1", KeyOf(old))
	require.Empty(t, KeyOf([]byte("plain")))
}

func TestIndexKeyIsKeptThroughRotation(t *testing.T) {
	first := ring(t, entry("k1", 'a'))
	wrapped, err := first.WrapIndexKey("k1")
	require.NoError(t, err)
	both := ring(t, entry("k2", 'b'), entry("k1", 'a'), entry("k3", 'c'))
	key, err := both.UnwrapIndexKey("k1", wrapped)
	require.NoError(t, err)
	require.Equal(t, first.Index("x"), both.WithIndexKey(key).Index("x"))
	require.NotEqual(t, first.Index("x"), both.Index("x"))
	_, err = both.UnwrapIndexKey("k2", wrapped)
	require.ErrorIs(t, err, ErrTampered)
	_, err = ring(t, entry("k2", 'b')).UnwrapIndexKey("k1", wrapped)
	require.ErrorIs(t, err, ErrUnknownKey)
	require.Regexp(t, "^[0-9a-f]{16}$", both.Fingerprint("k1"))
	require.NotEqual(t, both.Fingerprint("k1"), both.Fingerprint("k2"))
	require.Equal(t, first.Fingerprint("k1"), both.Fingerprint("k1"))
}

func TestPayloadsAreBoundToTheirWorkflow(t *testing.T) {
	r := ring(t, entry("k1", 'a'))
	of := func(namespace, workflowID string) converter.PayloadCodec {
		return codec{ring: r}.WithSerializationContext(converter.WorkflowSerializationContext{Namespace: namespace, WorkflowID: workflowID})
	}
	payload := []*commonpb.Payload{{Data: []byte("p1")}}
	encoded, err := of("default", "participant-1").Encode(payload)
	require.NoError(t, err)
	inActivity := codec{ring: r}.WithSerializationContext(converter.ActivitySerializationContext{Namespace: "default", WorkflowID: "participant-1", ActivityType: "CallModel"})
	for name, reader := range map[string]converter.PayloadCodec{
		"the same workflow":  of("default", "participant-1"),
		"its activity":       inActivity,
		"the codec endpoint": r.Codec(),
		"its scheduled run":  of("default", "participant-1-2026-03-02T09:00:00Z"),
	} {
		out, err := reader.Decode(encoded)
		require.NoError(t, err, name)
		require.Equal(t, "p1", string(out[0].Data), name)
	}
	for name, reader := range map[string]converter.PayloadCodec{
		"another workflow":      of("default", "participant-2"),
		"one of a longer name":  of("default", "participant-1-x"),
		"another namespace":     of("other", "participant-1"),
		"one of a shorter name": of("default", "participant-"),
	} {
		_, err := reader.Decode(encoded)
		require.ErrorIs(t, err, ErrTampered, name)
	}
	encoded[0].Metadata[metadataExecution] = []byte("default/participant-2")
	_, err = of("default", "participant-2").Decode(encoded)
	require.ErrorIs(t, err, ErrTampered, "the name of the workflow is authenticated")
	_, err = r.Codec().Decode(encoded)
	require.ErrorIs(t, err, ErrTampered)
	delete(encoded[0].Metadata, metadataExecution)
	_, err = r.Codec().Decode(encoded)
	require.ErrorIs(t, err, ErrTampered, "the binding cannot be taken off")

	old, err := r.Codec().Encode(payload)
	require.NoError(t, err)
	_, err = of("default", "participant-1").Decode(old)
	require.NoError(t, err, "payloads of earlier builds stay readable")
}
