package starter

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/auth"
	"coachline/internal/store"
	"coachline/models"
)

// Actions of the audit for requests that change nothing and show what a person
// wrote, or take it out of the system.
const (
	readConversation = "read_conversation"
	readMemory       = "read_memory"
	readExport       = "export"
	readTexts        = "export_texts"
	readPayload      = "decode_payload"
)

const (
	// readsKey is the operation's metadata that names the action.
	readsKey = "reads"
	// followHeader marks requests that a page makes by itself.
	followHeader = "X-Follow"
)

const (
	// readStep is the least time between two rows of one actor, participant and
	// action.
	readStep = 15 * time.Minute
	// readAge is how long a page may follow a conversation under its first row.
	// It is the longest age of a console session.
	readAge = 12 * time.Hour
	// maxReads bounds the readings that are remembered.
	maxReads = 10_000
)

// reading identifies one kind of access: the reader, the participant or other
// object, and the action.
type reading struct{ actor, participant, object, action string }

// readings says which readings the audit has already. It is safe for concurrent
// use.
type readings struct {
	base
	audit *store.Audit

	mu   sync.Mutex
	seen map[reading]time.Time
}

func newReadings(b base, audit *store.Audit) *readings {
	return &readings{base: b, audit: audit, seen: map[reading]time.Time{}}
}

// needsRow reports whether a reading is to be recorded, and remembers that it is.
// A page that follows by itself goes on under the row of the request that opened
// it.
func (r *readings) needsRow(one reading, follows bool, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, known := r.seen[one]
	age := readStep
	if follows {
		age = readAge
	}
	if known && now.Sub(last) < age {
		return false
	}
	if len(r.seen) >= maxReads {
		r.forgetOld(now)
	}
	r.seen[one] = now
	return true
}

// forgetOld drops the readings of pages that cannot be open any more, and all of
// them where that is not enough.
func (r *readings) forgetOld(now time.Time) {
	for one, at := range r.seen {
		if now.Sub(at) >= readAge {
			delete(r.seen, one)
		}
	}
	if len(r.seen) >= maxReads {
		clear(r.seen)
	}
}

// forget has the next reading recorded, where this one could not be.
func (r *readings) forget(one reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.seen, one)
}

// recordOperation records what a request that was answered has read, where its
// operation names an action.
func (r *readings) recordOperation(ctx huma.Context) {
	action, _ := ctx.Operation().Metadata[readsKey].(string)
	if action == "" || ctx.Status() >= http.StatusBadRequest {
		return
	}
	one := reading{actor: actorOf(ctx.Context()), participant: ctx.Param("id"), action: action}
	if strings.HasPrefix(ctx.Operation().Path, studyPath) {
		one.participant, one.object = "", studyObject(ctx.Param("id"))
	}
	if strings.HasPrefix(ctx.Operation().Path, alertsPath) {
		one.participant, one.object = "", "alert:"+ctx.Param("id")
	}
	r.record(ctx.Context(), one, ctx.Header(followHeader) != "")
}

// record adds the row of a reading. The answer has gone out; where the row
// cannot be written the log keeps it.
func (r *readings) record(ctx context.Context, one reading, follows bool) {
	now := r.now()
	if !r.needsRow(one, follows, now) {
		return
	}
	entry := models.AuditRow{Actor: one.actor, Action: one.action, ParticipantID: one.participant, Object: one.object, At: now}
	if err := r.audit.RecordAudit(context.WithoutCancel(ctx), entry); err != nil {
		r.forget(one)
		r.log.Error("recording a reading in the audit failed", "actor", one.actor, "action", one.action, "participant", one.participant, "object", one.object, "error", err)
	}
}

// withCaller puts the caller of a request, and where it comes from, into a
// context.
func withCaller(ctx context.Context, who auth.Identity, r *http.Request) context.Context {
	origin := models.Origin{Actor: who.Actor, RequestID: requestID(ctx), Address: remoteAddress(r), Reason: r.Header.Get(reasonHeader)}
	return models.WithOrigin(auth.WithIdentity(ctx, who), origin)
}
