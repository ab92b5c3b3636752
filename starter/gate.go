package starter

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/rs/cors"
	"go.temporal.io/sdk/converter"
)

// gate admits an operator's request: with the bearer token, or, when none is
// configured, from this machine and not on behalf of a foreign web page.
type gate struct {
	want    [sha256.Size]byte
	open    bool
	origins *http.CrossOriginProtection
}

// newGate builds a gate; pages of the trusted origins may call through it.
func newGate(token string, trusted ...string) gate {
	origins := http.NewCrossOriginProtection()
	for _, origin := range trusted {
		// Configuration has checked the form of an origin; one that is not
		// trusted is refused, which is the safe side.
		_ = origins.AddTrustedOrigin(origin)
	}
	return gate{want: sha256.Sum256([]byte(token)), open: token == "", origins: origins}
}

// refusal says why a request is not admitted; status 0 means that it is.
func (g gate) refusal(r *http.Request) (status int, why string) {
	if g.open {
		if !loopbackHost(r.Host) || g.origins.Check(r) != nil {
			return http.StatusForbidden, "without an API token only local requests are answered"
		}
		return 0, ""
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	got := sha256.Sum256([]byte(strings.TrimSpace(token)))
	if !strings.EqualFold(scheme, bearerScheme) || subtle.ConstantTimeCompare(got[:], g.want[:]) != 1 {
		return http.StatusUnauthorized, "a valid bearer token is required"
	}
	return 0, ""
}

// loopbackHost reports whether a Host header names this machine; a page that
// rebinds its own name to 127.0.0.1 sends its own name.
func loopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// CodecConfig is the endpoint by which the Temporal UI and command line read
// sealed payloads. A nil Codec leaves the routes out.
type CodecConfig struct {
	Codec converter.PayloadCodec
	// Origins are the web origins of the Temporal UI that may ask.
	Origins []string
}

// codecOperation describes a route of the codec, in the JSON form of Temporal's
// protobuf message Payloads.
func codecOperation(path string) *huma.Operation {
	op := plain{http.MethodPost, path, "Temporal's remote codec", "application/json"}.operation(
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
	op.RequestBody = &huma.RequestBody{Required: true, Content: body}
	op.Responses["200"].Content = body
	// The protocol's own handler answers a body that it cannot read.
	op.Responses["400"].Content["text/plain"] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	return op
}

const maxCodecBody = 4 << 20

// codecPaths are the routes of Temporal's remote codec protocol.
var codecPaths = []string{"/codec/decode", "/codec/encode"}

// codecRoutes mounts Temporal's remote codec protocol. It opens what Temporal
// holds, which is ids and codes but no text, for a caller with the API key.
func (f *front) codecRoutes(mux *http.ServeMux, doc *huma.OpenAPI) {
	if f.cfg.Codec.Codec == nil {
		return
	}
	g := newGate(f.cfg.HTTP.APIToken, f.cfg.Codec.Origins...)
	codec := http.StripPrefix("/codec", converter.NewPayloadCodecHTTPHandler(f.cfg.Codec.Codec))
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refused := f.admit(g, r, w.Header()); refused != nil {
			writeFailure(w, refused)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxCodecBody)
		codec.ServeHTTP(w, r)
	})
	shared := cors.New(cors.Options{
		AllowedOrigins: f.cfg.Codec.Origins, AllowCredentials: true,
		AllowedMethods: []string{http.MethodPost},
		AllowedHeaders: []string{"Content-Type", "Authorization", "X-Namespace", "Authorization-Extras"},
	}).Handler(guarded)
	for _, path := range codecPaths {
		mux.Handle("POST "+path, shared)
		mux.Handle("OPTIONS "+path, shared)
		doc.AddOperation(codecOperation(path))
	}
}
