package starter

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"coachline/internal/keylock"
	"coachline/starter/records"
	"coachline/starter/relay"
)

// maxAPIBody is the largest JSON body that is read, in bytes.
const maxAPIBody = 1 << 20

const bearerScheme = "bearer"

// Envelope is the answer of the participants API: status ok, a sentence where
// there is something to say, and the result.
type Envelope[T any] struct {
	Status  string `json:"status" enum:"ok"`
	Message string `json:"message,omitempty"`
	Result  T      `json:"result"`
}

type answer[T any] struct {
	Body Envelope[T]
}

func newAnswer[T any](message string, result T) *answer[T] {
	return &answer[T]{Body: Envelope[T]{Status: "ok", Message: message, Result: result}}
}

// byID is the input of the routes that only need the participant.
type byID struct {
	ID string `path:"id" maxLength:"64" doc:"Participant id."`
}

// front answers the HTTP routes.
type front struct {
	cfg   Config
	store FrontStore
	// records are what operators look up of the past.
	records *records.Room
	relay   *relay.Relay
	// locks let each sender's texts into the database one at a time, so that a
	// flood of one waits behind itself.
	locks *keylock.Locks
	log   *slog.Logger
	// throttle limits wrong tokens.
	throttle *throttle
}

// handler builds the whole HTTP surface.
func (f *front) handler() http.Handler {
	useEnvelope()
	mux := http.NewServeMux()
	config := huma.DefaultConfig("Coachline", f.cfg.Version)
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "", "", ""
	config.Formats = map[string]huma.Format{"application/json": strictJSON, "json": strictJSON}
	config.CreateHooks = nil // the only default hook links to the schema pages
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		bearerScheme: {Type: "http", Scheme: "bearer", Description: "COACH_API_TOKEN"},
	}
	if f.cfg.HTTP.PublicURL != "" {
		config.Servers = []*huma.Server{{URL: f.cfg.HTTP.PublicURL}}
	}
	api := humago.New(mux, config)
	api.UseMiddleware(f.guard(api))
	f.participantRoutes(api)
	f.conversationRoutes(api)
	f.stateRoutes(api)
	f.holdRoutes(api)
	f.recordRoutes(api)
	f.attentionRoutes(api)
	f.opsRoutes(api)
	f.twilioRoutes(mux, api.OpenAPI())
	f.codecRoutes(mux, api.OpenAPI())
	allowNull(api.OpenAPI(), map[string]string{"StateView": "pending_prompt", "Round": "given"})
	documentQuery(api.OpenAPI())
	f.plainRoutes(mux, api.OpenAPI())
	return withHeaders(withEnvelope(mux, queryNames(api.OpenAPI())))
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

// strictJSON reads JSON in UTF-8 only, where the standard library would put
// replacement characters for other bytes.
var strictJSON = huma.Format{
	Marshal: huma.DefaultJSONFormat.Marshal,
	Unmarshal: func(data []byte, into any) error {
		if !utf8.Valid(data) {
			return errors.New("is not valid UTF-8")
		}
		return huma.DefaultJSONFormat.Unmarshal(data, into)
	},
}

// route is what differs between the operations of the participants API.
type route struct {
	method, path, id, summary string
	status                    int
	// errors are the statuses the route can answer with besides the ones that
	// every guarded route has.
	errors []int
}

func (r route) operation() huma.Operation {
	status := r.status
	if status == 0 {
		status = http.StatusOK
	}
	return huma.Operation{
		OperationID: r.id, Method: r.method, Path: r.path, Summary: r.summary,
		DefaultStatus: status,
		// The library refuses a body of exactly its limit.
		MaxBodyBytes: maxAPIBody + 1,
		Security:     []map[string][]string{{bearerScheme: {}}},
		Errors: append([]int{
			http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden,
			http.StatusTooManyRequests, http.StatusServiceUnavailable,
		}, r.errors...),
	}
}

// register adds a guarded JSON route. The library documents 422 for every
// checked input; here such an answer is a 400, so the entry is dropped.
func register[I, O any](api huma.API, r route, handle func(context.Context, *I) (*O, error)) {
	op := r.operation()
	op.Responses = map[string]*huma.Response{}
	huma.Register(api, op, handle)
	delete(op.Responses, "422")
}

// guard admits requests to guarded operations only through the gate.
func (f *front) guard(api huma.API) func(huma.Context, func(huma.Context)) {
	g := newGate(f.cfg.HTTP.APIToken)
	return func(ctx huma.Context, next func(huma.Context)) {
		if len(ctx.Operation().Security) == 0 {
			next(ctx)
			return
		}
		request, _ := humago.Unwrap(ctx)
		header := http.Header{}
		if refused := f.admit(g, request, header); refused != nil {
			for name := range header {
				ctx.SetHeader(name, header.Get(name))
			}
			_ = huma.WriteErr(api, ctx, refused.status, refused.Message)
			return
		}
		next(ctx)
	}
}

// withEnvelope gives unknown paths and methods the envelope of everything else,
// and refuses query parameters that the route does not have.
func withEnvelope(mux *http.ServeMux, known map[string][]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" {
			if refused := unknownQuery(r, known, pattern); refused != nil {
				writeFailure(w, refused)
				return
			}
			mux.ServeHTTP(w, r)
			return
		}
		probe := &statusProbe{header: http.Header{}}
		mux.ServeHTTP(probe, r)
		if probe.status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", probe.header.Get("Allow"))
			writeFailure(w, failure(probe.status, "method not allowed"))
			return
		}
		writeFailure(w, failure(http.StatusNotFound, "no such route"))
	})
}

// statusProbe takes the mux's own refusal and keeps its status and headers.
type statusProbe struct {
	header http.Header
	status int
}

func (p *statusProbe) Header() http.Header         { return p.header }
func (p *statusProbe) Write(b []byte) (int, error) { return len(b), nil }
func (p *statusProbe) WriteHeader(status int)      { p.status = status }

func newHTTPServer(handler http.Handler, limits HTTPLimits, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: cmp.Or(limits.Header, 5*time.Second),
		ReadTimeout:       cmp.Or(limits.Read, 15*time.Second),
		WriteTimeout:      cmp.Or(limits.Write, 30*time.Second),
		IdleTimeout:       cmp.Or(limits.Idle, 2*time.Minute),
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}
