package starter

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/rs/cors"
	"go.temporal.io/sdk/converter"

	"coachline/internal/auth"
)

// CodecConfig is the endpoint by which the Temporal UI and command line read
// sealed payloads. A nil Codec leaves the routes out.
type CodecConfig struct {
	Codec converter.PayloadCodec
	// Origins are the web origins of the Temporal UI that may ask.
	Origins []string
}

// newCodecOperation describes a route of the codec, in the JSON form of Temporal's
// protobuf message Payloads.
func newCodecOperation(path string) *huma.Operation {
	op := plainRoute{http.MethodPost, path, "Temporal's remote codec", "application/json"}.newOperation(
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests)
	encoded := &huma.Schema{Type: huma.TypeString, ContentEncoding: "base64"}
	payloads := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{
		"payloads": {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{
			"metadata": {Type: huma.TypeObject, AdditionalProperties: encoded},
			"data":     encoded,
		}}},
	}}
	body := map[string]*huma.MediaType{"application/json": {Schema: payloads}}
	op.Security = []map[string][]string{{bearerScheme: {}}}
	op.Metadata = map[string]any{permissionKey: auth.PayloadDecode}
	op.Extensions = map[string]any{"x-permission": auth.PayloadDecode}
	op.RequestBody = &huma.RequestBody{Required: true, Content: body}
	op.Responses["200"].Content = body
	// The protocol's own handler answers a body that it cannot read.
	op.Responses["400"].Content["text/plain"] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	return op
}

const maxCodecBody = 4 << 20

// codecPaths are the routes of Temporal's remote codec protocol.
var codecPaths = []string{codecDecode, "/codec/encode"}

const codecDecode = "/codec/decode"

// registerCodec mounts Temporal's remote codec protocol. It opens what Temporal
// holds, which is ids and codes but no text, for a caller with the API key.
func (h *admission) registerCodec(mux *http.ServeMux, doc *huma.OpenAPI, cfg CodecConfig) {
	if cfg.Codec == nil {
		return
	}
	access := newAccess(h.apiToken, cfg.Origins...)
	codec := http.StripPrefix("/codec", converter.NewPayloadCodecHTTPHandler(cfg.Codec))
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, refused := h.admitRequest(access, r, w.Header())
		if refused == nil {
			refused = h.requirePermission(who, auth.PayloadDecode)
		}
		if refused != nil {
			writeFailure(w, refused)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxCodecBody)
		ctx := withCaller(r.Context(), who, r)
		seen := &seenStatus{ResponseWriter: w, status: http.StatusOK}
		codec.ServeHTTP(seen, r)
		if r.URL.Path == codecDecode && seen.status == http.StatusOK {
			h.readings.record(ctx, reading{actor: who.Actor, action: readPayload}, false)
		}
	})
	shared := cors.New(cors.Options{
		AllowedOrigins: cfg.Origins, AllowCredentials: true,
		AllowedMethods: []string{http.MethodPost},
		AllowedHeaders: []string{"Content-Type", "Authorization", "X-Namespace", "Authorization-Extras"},
	}).Handler(guarded)
	for _, path := range codecPaths {
		mux.Handle("POST "+path, shared)
		mux.Handle("OPTIONS "+path, shared)
		doc.AddOperation(newCodecOperation(path))
	}
}
