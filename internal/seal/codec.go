package seal

import (
	"fmt"
	"regexp"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

const (
	// encodingEncrypted is the encoding name of Temporal's own encryption
	// samples, which tools know.
	encodingEncrypted = "binary/encrypted"
	metadataKeyID     = "encryption-key-id"
	// metadataExecution names namespace and workflow id, "default/participant-1".
	metadataExecution = "encryption-workflow"
)

type codec struct {
	ring *Ring
	// execution is the workflow that the payloads belong to; empty where the SDK
	// does not say, as at the codec endpoint.
	execution string
}

// Codec encrypts Temporal payloads, metadata included, with the current key. A
// payload is bound to the namespace and id of its workflow wherever the SDK
// names them: it names both in clear metadata, authenticated, and does not
// decode for another workflow. Where the reader knows no workflow (the codec
// endpoint) only the authentication is checked. Decode leaves payloads of any
// other encoding as they are, so that histories from before encryption stay
// readable; an unknown key id is ErrUnknownKey.
func (r *Ring) Codec() converter.PayloadCodec { return codec{ring: r} }

// WithSerializationContext implements converter.PayloadCodecWithSerializationContext.
func (c codec) WithSerializationContext(ctx converter.SerializationContext) converter.PayloadCodec {
	switch at := ctx.(type) {
	case converter.WorkflowSerializationContext:
		c.execution = executionOf(at.Namespace, at.WorkflowID)
	case converter.ActivitySerializationContext:
		c.execution = executionOf(at.Namespace, at.WorkflowID)
	default:
		c.execution = ""
	}
	return c
}

// executionOf names a workflow; empty for an activity without one.
func executionOf(namespace, workflowID string) string {
	if workflowID == "" {
		return ""
	}
	return namespace + "/" + workflowID
}

// Encode implements converter.PayloadCodec.
func (c codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, payload := range payloads {
		plain, err := proto.Marshal(payload)
		if err != nil {
			return nil, fmt.Errorf("encoding payload %d: %w", i, err)
		}
		id := c.ring.current
		metadata := map[string][]byte{
			converter.MetadataEncoding: []byte(encodingEncrypted),
			metadataKeyID:              []byte(id),
		}
		if c.execution != "" {
			metadata[metadataExecution] = []byte(c.execution)
		}
		out[i] = &commonpb.Payload{
			Metadata: metadata, Data: c.ring.keys[id].payload.Seal(nil, nil, plain, payloadPlace(id, c.execution)),
		}
	}
	return out, nil
}

// payloadPlace is what a payload is bound to beside its key.
func payloadPlace(id, execution string) []byte {
	if execution == "" {
		return header(versionUnbound, id)
	}
	return bind(header(versionBound, id), []byte(execution))
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
	execution := string(payload.GetMetadata()[metadataExecution])
	if execution != "" && c.execution != "" && !belongsTo(execution, c.execution) {
		return nil, fmt.Errorf("%w: it belongs to workflow %q, not to %q", ErrTampered, execution, c.execution)
	}
	data, err := key.payload.Open(nil, nil, payload.GetData(), payloadPlace(id, execution))
	if err != nil {
		return nil, ErrTampered
	}
	var plain commonpb.Payload
	if err := proto.Unmarshal(data, &plain); err != nil {
		return nil, fmt.Errorf("reading the decrypted payload: %w", err)
	}
	return &plain, nil
}

// scheduledSuffix is what Temporal appends to the workflow id of a schedule's
// action at each start; the action's input was encoded under the id without it.
var scheduledSuffix = regexp.MustCompile(`^-\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$`)

// belongsTo reports whether a payload that was encoded for one execution may be
// decoded for another: the same one, or a start of the same schedule.
func belongsTo(encoded, decoding string) bool {
	suffix, found := strings.CutPrefix(decoding, encoded)
	return found && (suffix == "" || scheduledSuffix.MatchString(suffix))
}
