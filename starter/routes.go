package starter

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/console"
	"coachline/internal/keylock"
	"coachline/internal/safety"
	"coachline/internal/study"
	"coachline/models"
	"coachline/starter/relay"
)

// maxAPIBody is the largest JSON body that is read, in bytes.
const maxAPIBody = 1 << 20

const bearerScheme = "bearer"

// answer is a JSON answer in the envelope.
type answer[T any] struct {
	Body api.Envelope[T]
}

func newAnswer[T any](message string, result T) *answer[T] {
	return &answer[T]{Body: api.Envelope[T]{Status: api.StatusOK, Message: message, Result: result}}
}

// taggedAnswer is an answer whose ETag is made from its content, for If-None-Match.
type taggedAnswer[T any] struct {
	ETag string `header:"ETag" doc:"Changes with the content, for If-None-Match. Its part before a dash changes with the settings alone, which is what If-Match compares."`
	Body api.Envelope[T]
}

func newTagged[T any](result T) (*taggedAnswer[T], error) {
	tag, err := newTag(result)
	if err != nil {
		return nil, err
	}
	return &taggedAnswer[T]{ETag: strconv.Quote(tag), Body: newAnswer("", result).Body}, nil
}

// newTag is the digest of the content, behind that of its settings where some of it
// changes without an operator.
func newTag[T any](content T) (string, error) {
	whole, err := digestOf(content)
	if err != nil {
		return "", err
	}
	adjustable, ok := any(content).(interface{ Settings() T })
	if !ok {
		return whole, nil
	}
	settings, err := digestOf(adjustable.Settings())
	return settings + "-" + whole, err
}

func digestOf(content any) (string, error) {
	raw, err := json.Marshal(content)
	if err != nil {
		return "", fmt.Errorf("encoding an answer: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:12]), nil
}

// checkTag refuses an If-Match with other settings than the content's; an empty one
// and * mean any.
func checkTag[T any](ifMatch string, content T) error {
	want := strings.TrimSpace(ifMatch)
	if want == "" || want == "*" {
		return nil
	}
	tag, err := newTag(content)
	if err != nil {
		return err
	}
	now, _, _ := strings.Cut(tag, "-")
	if based, _, _ := strings.Cut(strings.Trim(want, `"`), "-"); based != now {
		return newFailure(http.StatusPreconditionFailed, "If-Match: somebody changed it meanwhile; read it again")
	}
	return nil
}

// created is an answer that names where the new thing is found.
type created[T any] struct {
	Location string `header:"Location" doc:"Path of what was created."`
	Body     api.Envelope[T]
}

func newCreated[T any](location, message string, result T) *created[T] {
	return &created[T]{Location: location, Body: newAnswer(message, result).Body}
}

// participantRequest names the participant of a route that needs nothing else.
type participantRequest struct {
	ID string `path:"id" maxLength:"64" doc:"Participant id."`
}

// base is what the routes of each noun have.
type base struct {
	log   *slog.Logger
	clock func() time.Time
	relay *relay.Relay
}

// now is the present instant at the precision that every database keeps.
func (b *base) now() time.Time { return b.clock().UTC().Truncate(time.Microsecond) }

// handlers is what answers requests. The routes of a noun are a struct of its own, in
// the file of its name.
type handlers struct {
	base
	cfg Config
	// closing is closed when the server stops, for answers that would not end.
	closing chan struct{}
	// resolver says what is in force for a person.
	resolver *study.Resolver
	numbers  *numbers
	cohorts  *cohortRoutes
}

// newHandler builds the whole HTTP surface: the API, and the console, which calls
// it.
func (h *handlers) newHandler() (http.Handler, error) {
	answers := h.newAPI()
	access := newAccess(h.cfg.HTTP, h.cfg.Store.Users)
	pages, err := console.New(console.Config{
		API: answers, Users: h.cfg.Store.Users, Sessions: h.cfg.Store.Sessions, RecordAudit: h.cfg.Store.Audit.RecordAudit, Changes: h.cfg.Changes, Closing: h.closing, IsOpen: access.isOpenTo, PublicURL: h.cfg.HTTP.PublicURL,
		Provider:    h.cfg.HTTP.Provider,
		TemporalURL: h.cfg.HTTP.TemporalURL, PhonesURL: h.cfg.HTTP.PhonesURL,
		Version: h.cfg.Version, Metrics: h.cfg.Metrics, Logger: h.cfg.Logger, Now: h.cfg.Now,
	})
	if err != nil {
		return nil, fmt.Errorf("building the console: %w", err)
	}
	public, err := safety.New(h.cfg.Safety)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", answers)
	mux.Handle(safety.Path, withFailures(h.log, withHeaders(public)))
	mux.Handle(console.Path, withFailures(h.log, withHeaders(pages)))
	return mux, nil
}

// newAPI builds the routes of the API, webhooks included.
func (h *handlers) newAPI() http.Handler {
	useFailures()
	mux := http.NewServeMux()
	config := huma.DefaultConfig("Coachline", h.cfg.Version)
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "", "", ""
	config.Formats = map[string]huma.Format{"application/json": strictJSON, "json": strictJSON}
	config.CreateHooks = nil // the only default hook links to the schema pages
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		bearerScheme: {Type: "http", Scheme: "bearer", Description: "COACH_API_TOKEN"},
	}
	config.Info.Description = "Participants, their conversations, and who operates the programme. Every answer is JSON in one envelope; failures name code, field and request. " +
		"Routes keep their meaning: fields are added, never taken away or given another meaning. Header " + versionHeader + " (now " + apiVersion + ") would say otherwise."
	config.Info.Contact = &huma.Contact{Name: "The people who run this installation"}
	config.Info.License = &huma.License{Name: "As agreed with the people who run this installation", URL: "about:blank"}
	if h.cfg.HTTP.PublicURL != "" {
		config.Servers = []*huma.Server{{URL: h.cfg.HTTP.PublicURL}}
	}
	router := humago.New(mux, config)
	s, readings := h.cfg.Store, newReadings(h.base, h.cfg.Store.Audit)
	admission := newAdmission(h.base, h.cfg, readings)
	router.UseMiddleware(admission.requireAccess(router), (&requestKeys{h.base, s.RequestKeys}).answerOnce(router))
	carrier := &carrierRoutes{h.base, s.Inbound, s.Outbox, h.cfg.Carrier, h.cfg.Metrics, h.numbers, keylock.New()}
	health := &healthRoutes{h.base, s, h.cfg.Temporal, h.cfg.Workers, h.cfg.Metrics, h.cfg.Version}
	for _, register := range h.registrations(carrier, health, readings) {
		register(router)
	}
	doc := router.OpenAPI()
	carrier.register(mux, doc)
	admission.registerCodec(mux, doc, h.cfg.Codec)
	allowNull(doc, map[string]string{"State": "pending_prompt", "Round": "given", "StudyProgress": "costs"})
	// The library's own check of this rule panics where a value is an object.
	doc.Components.Schemas.Map()["Stratum"].Properties["levels"].Extensions = map[string]any{"uniqueItems": true}
	documentQuery(doc)
	documentTags(doc)
	health.registerMetrics(mux, doc)
	registerDocument(mux, doc, h.log)
	return withFailures(h.log, withHeaders(withEnvelope(mux, queryNames(doc))))
}

// cutPage takes the row behind a page away, which says that another page follows, and
// returns the cursor of that: nil where the page is the last one.
func cutPage[Row any](rows []Row, limit int, cursor func(last Row) string) ([]Row, *string) {
	if len(rows) <= limit {
		return rows, nil
	}
	return rows[:limit], new(cursor(rows[limit-1]))
}

func showAll[Row, Shown any](rows []Row, show func(Row) Shown) []Shown {
	out := make([]Shown, len(rows))
	for i, row := range rows {
		out[i] = show(row)
	}
	return out
}

// registrations lists the nouns of the API, each with the function that adds its
// routes.
func (h *handlers) registrations(carrier *carrierRoutes, health *healthRoutes, readings *readings) []func(huma.API) {
	b, cfg, s, resolver, numbers := h.base, h.cfg, h.cfg.Store, h.resolver, h.numbers
	return []func(huma.API){
		(&participantRoutes{b, s.People, cfg.Defaults, resolver, numbers}).register,
		newPeopleRoutes(b, s, cfg.Defaults.Region).register,
		(&conversationRoutes{b, s.People, s.Outbox, s.TakeOvers, carrier}).register,
		(&workflowRoutes{b, s.People, s.Inbound, s.Holds, s.Audit, cfg.Temporal, cfg.Metrics, cfg.Defaults.Rules, resolver}).register,
		(&recordRoutes{b, s.Records}).register,
		(&memoryRoutes{b, s.Memory, s.People, resolver, cfg.Settings.PromptsDir}).register,
		(&holdRoutes{b, s.Holds}).register,
		(&viewRoutes{b, s.Views}).register,
		(&reportRoutes{b, s.People, s.Reports}).register,
		(&costRoutes{b, s.Budgets, s.Costs, cfg.Prices}).register,
		h.cohorts.register,
		(&studyRoutes{base: b, studies: s.Studies, reports: s.Reports, resolver: resolver, numbers: numbers, readings: readings}).register,
		(&allocationRoutes{b, s.Allocations, s.Studies}).register,
		(&joinRoutes{b, s.Joins, s.Studies, numbers}).register,
		(&webhookRoutes{b, cfg.WebAllow, s.Webhooks}).register,
		(&erasureRoutes{b, s.Erasures, s.People, numbers}).register,
		(&attentionRoutes{b, s.Attention}).register,
		(&alertRoutes{b, s.Alerts}).register,
		(&accessRoutes{b, s.Sessions, s.Tokens, s.Users, h.cfg.HTTP.Provider.Issuer != ""}).register,
		(&auditRoutes{b, s.Audit}).register,
		(&settingRoutes{b, cfg.Settings, cfg.Version}).register,
		health.register,
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
		if err := huma.DefaultJSONFormat.Unmarshal(data, into); err != nil {
			return err
		}
		switch into.(type) {
		case *api.ParticipantChange, *api.StudyChange, *models.UserChange, *api.WebhookChange:
			return refuseNull(data)
		}
		return nil
	},
}

// refuseNull refuses null in a change of some fields, where it would be read as left
// out.
func refuseNull(data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err //nolint:wrapcheck // as of the library, above
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if isNull(fields[name]) {
			return fmt.Errorf("%s is null; leave it out, or clear it with PATCH", name)
		}
	}
	return nil
}

// route is what differs between the operations of the participants API.
type route struct {
	method, path, id, summary string
	// needs is the permission that a caller must have.
	needs auth.Permission
	// reads is the action under which the audit records who called; empty: none.
	reads  string
	status int
	// ownKey: the route's input names the Idempotency-Key, and it keeps its own
	// record of keys. isSecret: the answer holds a secret and is not kept.
	ownKey, isSecret bool
	// maxBody is the largest body, in bytes, and readLimit how long it may take to
	// come in; 0: maxAPIBody, and the library's limit.
	maxBody   int64
	readLimit time.Duration
	// errors are the statuses the route can answer with besides the ones that
	// every guarded route has.
	errors []int
}

func (r route) newOperation() huma.Operation {
	status := r.status
	if status == 0 {
		status = http.StatusOK
	}
	op := huma.Operation{
		Metadata:    map[string]any{permissionKey: r.needs, readsKey: r.reads},
		Extensions:  map[string]any{"x-permission": r.needs},
		OperationID: r.id, Method: r.method, Path: r.path, Summary: r.summary,
		DefaultStatus: status,
		// The library refuses a body of exactly its limit.
		MaxBodyBytes:    cmp.Or(r.maxBody, maxAPIBody) + 1,
		BodyReadTimeout: r.readLimit,
		Security:        []map[string][]string{{bearerScheme: {}}},
		Errors: append([]int{
			http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden,
			http.StatusTooManyRequests, http.StatusServiceUnavailable,
		}, r.errors...),
	}
	if r.method != http.MethodGet {
		op.Parameters = []*huma.Param{{
			Name: reasonHeader, In: "header", Schema: &huma.Schema{Type: huma.TypeString, MaxLength: new(maxReason)},
			Description: "Why; kept sealed in the audit.",
		}}
	}
	if r.method == http.MethodPost && !r.ownKey {
		op.Metadata[keyedKey], op.Metadata[secretKey] = true, r.isSecret
		op.Parameters = append(op.Parameters, newKeyParam())
		op.Errors = append(op.Errors, http.StatusConflict)
	}
	return op
}

// register adds a guarded JSON route. The library documents 422 for every
// checked input; here such an answer is a 400, so the entry is dropped.
func register[I, O any](router huma.API, r route, handle func(context.Context, *I) (*O, error)) {
	op := r.newOperation()
	op.Responses = map[string]*huma.Response{}
	huma.Register(router, op, handle)
	delete(op.Responses, "422")
}

// deliverLimit is how long an API answer waits for Temporal; after that the relay
// goes on.
const deliverLimit = 2 * time.Second

// deliverNotices delivers to Temporal what a request committed before the request
// is answered, within deliverLimit. The outcome does not change the answer: the
// notice is committed, and the relay delivers it later.
func (b *base) deliverNotices(ctx context.Context, participantID string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deliverLimit)
	defer cancel()
	if err := b.relay.Deliver(ctx, participantID); err != nil {
		b.log.Warn("delivery failed, the relay will try again", "participant", participantID, "error", err)
	}
}

// personRequest names a participant, who may have been removed.
type personRequest struct {
	ID string `path:"id" maxLength:"64"`
}

// noInput is the input of a route that takes none.
type noInput struct{}
