package seal

import (
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

const (
	// encodingEncrypted is the encoding name of Temporal's own encryption
	// samples, which tools know.
	encodingEncrypted = "binary/encrypted"
	metadataKeyID     = "encryption-key-id"
)

type codec struct{ ring *Ring }

// Codec encrypts Temporal payloads, metadata included, with the current key.
// Decode leaves payloads of any other encoding as they are, so that histories
// from before encryption stay readable; an unknown key id is ErrUnknownKey.
func (r *Ring) Codec() converter.PayloadCodec { return codec{ring: r} }

// Encode implements converter.PayloadCodec.
func (c codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, payload := range payloads {
		plain, err := proto.Marshal(payload)
		if err != nil {
			return nil, fmt.Errorf("encoding payload %d: %w", i, err)
		}
		id := c.ring.current
		out[i] = &commonpb.Payload{
			Metadata: map[string][]byte{
				converter.MetadataEncoding: []byte(encodingEncrypted),
				metadataKeyID:              []byte(id),
			},
			Data: c.ring.keys[id].payload.Seal(nil, nil, plain, header(id)),
		}
	}
	return out, nil
}

// Decode implements converter.PayloadCodec.
func (c codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, payload := range payloads {
		if string(payload.GetMetadata()[converter.MetadataEncoding]) != encodingEncrypted {
			out[i] = payload
			continue
		}
		plain, err := c.open(payload)
		if err != nil {
			return nil, fmt.Errorf("decoding payload %d: %w", i, err)
		}
		out[i] = plain
	}
	return out, nil
}

func (c codec) open(payload *commonpb.Payload) (*commonpb.Payload, error) {
	id := string(payload.GetMetadata()[metadataKeyID])
	key, ok := c.ring.keys[id]
	if !ok {
		return nil, unknownKey(id)
	}
	data, err := key.payload.Open(nil, nil, payload.GetData(), header(id))
	if err != nil {
		return nil, ErrTampered
	}
	var plain commonpb.Payload
	if err := proto.Unmarshal(data, &plain); err != nil {
		return nil, fmt.Errorf("reading the decrypted payload: %w", err)
	}
	return &plain, nil
}
