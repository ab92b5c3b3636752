package starter

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/rs/cors"
	"go.temporal.io/sdk/converter"

	"coachline/internal/auth"
	"coachline/internal/metrics"
)

// registerDocument serves the API document. It is called last, because the
// document describes the routes that are registered before.
func registerDocument(mux *http.ServeMux, doc *huma.OpenAPI, log *slog.Logger) {
	document := plainRoute{http.MethodGet, "/openapi.json", "This document", "application/openapi+json"}.newOperation(http.StatusBadRequest)
	document.Responses["200"].Content["application/openapi+json"].Schema = &huma.Schema{
		Type: huma.TypeObject, Required: []string{"openapi", "info", "paths"}, AdditionalProperties: true,
		Properties: map[string]*huma.Schema{
			"openapi": {Type: huma.TypeString}, "info": {Type: huma.TypeObject, AdditionalProperties: true},
			"paths": {Type: huma.TypeObject, AdditionalProperties: true},
		},
	}
	doc.AddOperation(document)
	describeOperations(doc)
	// Few processes are asked for it, and it takes longer to write than all else here.
	write := sync.OnceValues(func() ([]byte, error) { return json.Marshal(doc) })
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		raw, err := write()
		if err != nil {
			log.Error("writing the API document failed", "error", err)
			writeFailure(w, newFailure(http.StatusInternalServerError, "internal error"))
			return
		}
		writeBody(w, "application/openapi+json", raw)
	})
}

// tags divide the operations by what they are about. The first prefix that fits
// decides.
var tags = []struct{ prefix, name, description string }{
	{participantPath + "/turns", "turns", "Why the coach said what it said."},
	{participantPath + "/memor", "memory", "What is remembered of a person."},
	{participantPath + "/history", "conversation", "What was said, and messages of operators."},
	{participantPath + "/messages", "conversation", ""},
	{participantPath + "/chat", "conversation", ""},
	{participantPath + "/waiting", "conversation", ""},
	{participantPath + "/attention", "attention", "What operators should look at: crisis, failed sends, unreachable numbers."},
	{participantPath + "/study-consents", "studies", ""},
	{participantsPath, "participants", "People in the programme: enrolment, profile, status, consent."},
	{"/studies", "studies", "Studies, their consent texts, and what people have agreed to."},
	{"/attention", "attention", ""},
	{"/erasures", "participants", ""},
	{"/alerts", "attention", ""},
	{"/reports", "attention", ""},
	{"/users", "access", "Users, sessions, API tokens and the audit."},
	{"/sessions", "access", ""},
	{"/tokens", "access", ""},
	{"/self", "access", ""},
	{"/audit", "access", ""},
	{"/twilio", "carrier", "Webhooks of the carrier, signed by it."},
	{"/costs", "costs", "Tokens, segments and money, and budgets that bound them."},
	{"/budgets", "costs", ""},
	{"/codec", "temporal", "Temporal's remote codec, by which its UI opens payloads."},
	{"/livez", "health", "Probes, version, metrics and this document."},
	{"/readyz", "health", ""},
	{"/version", "health", ""},
	{"/metrics", "health", ""},
	{"/openapi.json", "health", ""},
}

// otherTag is for operations of none of the prefixes.
const otherTag = "programme"

// describeOperations gives every operation its tag, its description and what it
// asks of the caller.
func describeOperations(doc *huma.OpenAPI) {
	doc.Tags = []*huma.Tag{{Name: otherTag, Description: "What concerns the whole programme."}}
	for _, tag := range tags {
		if tag.description != "" {
			doc.Tags = append(doc.Tags, &huma.Tag{Name: tag.name, Description: tag.description})
		}
	}
	for _, op := range listOperations(doc) {
		op.Tags = []string{tagOf(op.Path)}
		if op.Description == "" {
			op.Description = op.Summary + "."
		}
		if needs, guarded := op.Metadata[permissionKey].(auth.Permission); guarded && needs != anyCaller {
			op.Description += " Needs permission " + string(needs) + "."
		}
		if op.Security == nil {
			op.Security = []map[string][]string{{}} // open to everybody
		}
	}
}

func tagOf(path string) string {
	for _, tag := range tags {
		if strings.HasPrefix(path, tag.prefix) {
			return tag.name
		}
	}
	return otherTag
}

// plainRoute is a route that is served outside the API library.
type plainRoute struct{ method, path, summary, contentType string }

func (p plainRoute) newOperation(errors ...int) *huma.Operation {
	op := &huma.Operation{
		Method: p.method, Path: p.path, Summary: p.summary, OperationID: newOperationID(p.method, p.path),
		Responses: map[string]*huma.Response{
			"200": {Description: "OK", Content: map[string]*huma.MediaType{p.contentType: {Schema: &huma.Schema{Type: huma.TypeString}}}},
		},
	}
	for _, code := range errors {
		op.Responses[strconv.Itoa(code)] = &huma.Response{
			Description: http.StatusText(code),
			Content: map[string]*huma.MediaType{
				"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/Failure"}},
			},
		}
	}
	return op
}

func newOperationID(method, path string) string {
	id := []byte(method)
	for _, c := range []byte(path) {
		if c == '/' || c == '.' {
			c = '-'
		}
		id = append(id, c)
	}
	return string(id)
}

// writeFailure answers outside the API library. A failed write means that the
// caller has gone, and the error cannot be reported.
func writeFailure(w http.ResponseWriter, refused *failure) {
	raw, err := json.Marshal(refused)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(refused.code)
	_, _ = w.Write(append(raw, '\n'))
}

func writeBody(w http.ResponseWriter, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

// allowNull declares a property of each named schema to be an object or null,
// which the library does not say of a pointer to a struct.
func allowNull(doc *huma.OpenAPI, properties map[string]string) {
	schemas := doc.Components.Schemas.Map()
	for name, property := range properties {
		reference := schemas[name].Properties[property]
		schemas[name].Properties[property] = &huma.Schema{AnyOf: []*huma.Schema{reference, {Type: "null"}}}
	}
}

// documentTags adds what a GET with an ETag answers to a caller who has that content.
func documentTags(doc *huma.OpenAPI) {
	for _, item := range doc.Paths {
		if item.Get == nil || item.Get.Responses["200"] == nil || item.Get.Responses["200"].Headers["ETag"] == nil {
			continue
		}
		item.Get.Responses["304"] = &huma.Response{Description: "Not modified: the content still has the ETag of If-None-Match"}
		item.Get.Parameters = append(item.Get.Parameters, &huma.Param{
			Name: "If-None-Match", In: "header", Schema: &huma.Schema{Type: huma.TypeString}, Description: "ETag of what the caller has.",
		})
	}
}

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
	payloads := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: false, Properties: map[string]*huma.Schema{
		"payloads": {Type: huma.TypeArray, Nullable: true, Items: &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{
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
	access := newAccess(h.http, h.users, cfg.Origins...)
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
		seen := &metrics.SeenStatus{ResponseWriter: w, Status: http.StatusOK}
		codec.ServeHTTP(seen, r)
		if r.URL.Path == codecDecode && seen.Status == http.StatusOK {
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
