package seal

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"
)

func entry(id string, fill byte) string {
	return id + ":" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(string(rune(fill)), keySize)))
}

func ring(t require.TestingT, list ...string) *Ring {
	r, err := Parse(strings.Join(list, ","))
	require.NoError(t, err)
	return r
}

func TestParseRefuses(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"nothing", "", "key 1: it is empty: want keyid:base64"},
		{"no id", base64.StdEncoding.EncodeToString(make([]byte, keySize)), "key 1: want keyid:base64"},
		{"empty id", entry("", 'a'), "key 1: the id must be"},
		{"odd id", entry("k 1", 'a'), "key 1: the id must be"},
		{"long id", entry(strings.Repeat("k", maxKeyID+1), 'a'), "key 1: the id must be"},
		{"not base64", "k1:secret-not-base64!", `id "k1": not base64`},
		{"short", "k1:c2hvcnQ=", "want 32 bytes, got 5"},
		{"same id twice", entry("k1", 'a') + "," + entry("k1", 'b'), `key 2: id "k1" is used twice`},
		{"trailing comma", entry("k1", 'a') + ",", "key 2: it is empty: want keyid:base64"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse(test.in)
			require.ErrorContains(t, err, test.want)
			require.NotContains(t, err.Error(), "secret", "an error must not show key material")
		})
	}
}

func TestGenerateGivesFreshUsableKeys(t *testing.T) {
	first, err := Generate()
	require.NoError(t, err)
	second, err := Generate()
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	sealed, err := ring(t, first).Seal([]byte("hello"), nil)
	require.NoError(t, err)
	_, err = ring(t, second).Open(sealed, nil)
	require.ErrorIs(t, err, ErrTampered, "same id, other key")
}

func TestSealOpenAnyText(t *testing.T) {
	r := ring(t, entry("new", 'n'), entry("old", 'o'))
	rapid.Check(t, func(t *rapid.T) {
		plain := rapid.SliceOf(rapid.Byte()).Draw(t, "plain")
		sealed, err := r.Seal(plain, nil)
		require.NoError(t, err)
		if len(plain) > 8 {
			require.NotContains(t, string(sealed), string(plain))
		}
		opened, err := r.Open(sealed, nil)
		require.NoError(t, err)
		require.Equal(t, string(plain), string(opened))
		again, err := r.Seal(plain, nil)
		require.NoError(t, err)
		require.NotEqual(t, sealed, again)
	})
}

func TestAnyChangeIsNoticed(t *testing.T) {
	r := ring(t, entry("k1", 'a'))
	rapid.Check(t, func(t *rapid.T) {
		sealed, err := r.Seal(rapid.SliceOf(rapid.Byte()).Draw(t, "plain"), nil)
		require.NoError(t, err)
		at := rapid.IntRange(0, len(sealed)-1).Draw(t, "at")
		if rapid.Bool().Draw(t, "cut") {
			sealed = sealed[:at]
		} else {
			sealed[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "flip"))
		}
		_, err = r.Open(sealed, nil)
		require.Error(t, err)
	})
}

func TestOpenRefusesWhatWasNeverSealed(t *testing.T) {
	r := ring(t, entry("k1", 'a'))
	for _, in := range []string{"", "\x01", "plain text", "\x01\x02k1", "\x02\x02k1xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "\x01\xffk1"} {
		_, err := r.Open([]byte(in), nil)
		require.ErrorIs(t, err, ErrTampered, "%q", in)
	}
}

func TestRotation(t *testing.T) {
	before := ring(t, entry("2025", 'a'))
	after := ring(t, entry("2026", 'b'), entry("2025", 'a'))
	dropped := ring(t, entry("2026", 'b'))

	old, err := before.Seal([]byte("kept"), nil)
	require.NoError(t, err)
	fresh, err := after.Seal([]byte("new"), nil)
	require.NoError(t, err)

	plain, err := after.Open(old, nil)
	require.NoError(t, err)
	require.Equal(t, "kept", string(plain))

	_, err = before.Open(fresh, nil)
	require.ErrorIs(t, err, ErrUnknownKey)
	require.ErrorContains(t, err, `"2026"`)
	_, err = dropped.Open(old, nil)
	require.ErrorIs(t, err, ErrUnknownKey)
	require.ErrorContains(t, err, `"2025"`)
}

func TestIndexOfARingWithoutInstallation(t *testing.T) {
	first := ring(t, entry("a", 'a'))
	rotated := ring(t, entry("c", 'c'), entry("b", 'b'), entry("a", 'a'))
	other := ring(t, entry("a", 'a'), entry("z", 'z'))
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.String().Draw(t, "value")
		require.Regexp(t, `^[0-9a-f]{64}$`, first.Index(value))
		require.Equal(t, first.Index(value), rotated.Index(value))
		require.NotEqual(t, first.Index(value), other.Index(value))
		require.NotEqual(t, first.Index(value), first.Index(value+"x"))
	})
}

func TestCodecRoundTrip(t *testing.T) {
	c := ring(t, entry("k1", 'a')).Codec()
	rapid.Check(t, func(t *rapid.T) {
		payload := &commonpb.Payload{
			Metadata: map[string][]byte{
				converter.MetadataEncoding: []byte("json/plain"),
				"note":                     rapid.SliceOf(rapid.Byte()).Draw(t, "note"),
			},
			Data: rapid.SliceOf(rapid.Byte()).Draw(t, "data"),
		}
		encoded, err := c.Encode([]*commonpb.Payload{payload, payload})
		require.NoError(t, err)
		require.Len(t, encoded, 2)
		require.Equal(t, "binary/encrypted", string(encoded[0].Metadata[converter.MetadataEncoding]))
		require.Equal(t, "k1", string(encoded[0].Metadata[metadataKeyID]))
		require.Len(t, encoded[0].Metadata, 2, "the payload's own metadata must not show")
		decoded, err := c.Decode(encoded)
		require.NoError(t, err)
		require.True(t, proto.Equal(payload, decoded[0]))
		require.True(t, proto.Equal(payload, decoded[1]))
	})
}

func TestCodecLeavesPlainPayloadsAlone(t *testing.T) {
	c := ring(t, entry("k1", 'a')).Codec()
	plain := []*commonpb.Payload{
		{Metadata: map[string][]byte{converter.MetadataEncoding: []byte("json/plain")}, Data: []byte(`"x"`)},
		{},
	}
	out, err := c.Decode(plain)
	require.NoError(t, err)
	require.Equal(t, plain, out)
}

func TestCodecRefuses(t *testing.T) {
	r := ring(t, entry("k1", 'a'))
	payload := &commonpb.Payload{Data: []byte("secret")}
	for _, test := range []struct {
		name   string
		change func(*commonpb.Payload)
		want   error
	}{
		{"unknown key", func(p *commonpb.Payload) { p.Metadata[metadataKeyID] = []byte("k9") }, ErrUnknownKey},
		{"no key id", func(p *commonpb.Payload) { delete(p.Metadata, metadataKeyID) }, ErrTampered},
		{"changed data", func(p *commonpb.Payload) { p.Data[len(p.Data)-1] ^= 1 }, ErrTampered},
		{"cut data", func(p *commonpb.Payload) { p.Data = p.Data[:3] }, ErrTampered},
		{"a stored text passed off as a payload", func(p *commonpb.Payload) {
			sealed, err := r.Seal([]byte("stored"), nil)
			require.NoError(t, err)
			p.Data = sealed[len(header(versionUnbound, "k1")):]
		}, ErrTampered},
	} {
		t.Run(test.name, func(t *testing.T) {
			encoded, err := r.Codec().Encode([]*commonpb.Payload{payload})
			require.NoError(t, err)
			test.change(encoded[0])
			_, err = r.Codec().Decode(encoded)
			require.ErrorIs(t, err, test.want)
			require.NotContains(t, err.Error(), "secret")
		})
	}
}

func TestCodecInsideTheDataConverter(t *testing.T) {
	old := ring(t, entry("k1", 'a'))
	rotated := ring(t, entry("k2", 'b'), entry("k1", 'a'))
	written, err := converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), old.Codec()).ToPayload("participant")
	require.NoError(t, err)
	require.NotContains(t, string(written.Data), "participant")
	var got string
	err = converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), rotated.Codec()).FromPayload(written, &got)
	require.NoError(t, err)
	require.Equal(t, "participant", got)
}
