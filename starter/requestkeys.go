package starter

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"coachline/internal/store"
	"coachline/models"
)

const (
	keyHeader = "Idempotency-Key"
	maxKey    = 200
	// repeatedHeader marks an answer that an earlier request with the key was given.
	repeatedHeader = "Idempotency-Replayed"
	// keyedKey and secretKey are the operation's metadata that say whether it takes
	// an Idempotency-Key by answerOnce, and whether its answer is not to be kept.
	keyedKey  = "keyed"
	secretKey = "secret"
	// answerTime is how long a request may take until its answer is kept.
	answerTime = 30 * time.Second
)

// newKeyParam documents the Idempotency-Key, by the draft of the HTTP working group.
func newKeyParam() *huma.Param {
	return &huma.Param{
		Name: keyHeader, In: "header", Schema: &huma.Schema{Type: huma.TypeString, MaxLength: new(maxKey)},
		Description: "Requests of one caller with equal keys are carried out once, for 24 hours. A repetition is answered as the first was, with " +
			repeatedHeader + ": true; another request with the key is refused with 409, and so is a repetition whose answer was not kept, such as one with a secret.",
	}
}

// newRequestText is random, and the same for all requests with one Idempotency-Key.
func newRequestText(ctx context.Context) string {
	claim := models.OriginOf(ctx).Claim
	if claim == nil {
		return strings.ToLower(rand.Text())
	}
	sum := sha256.Sum256([]byte("request text " + claim.Row.ID))
	return hex.EncodeToString(sum[:16])
}

type keptAnswer struct {
	Status int         `json:"status"`
	Header http.Header `json:"header,omitempty"`
	Body   []byte      `json:"body"`
}

// requestKeys answers a repeated request as the first one.
type requestKeys struct {
	base
	requestKeys *store.RequestKeys
}

// answerOnce carries a request with an Idempotency-Key out once. The row of the key
// is committed with what the request does, and its answer after that; a failure
// keeps nothing, so that the request may be tried again.
func (h *requestKeys) answerOnce(router huma.API) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		isKeyed, _ := ctx.Operation().Metadata[keyedKey].(bool)
		key := ctx.Header(keyHeader)
		if !isKeyed || key == "" {
			next(ctx)
			return
		}
		asked, isWhole, err := h.readKeyed(ctx, key)
		if err == nil && !isWhole {
			next(ctx) // which refuses the body
			return
		}
		var row models.RequestKey
		isNew := false
		if err == nil {
			row, isNew, err = h.requestKeys.OpenRequestKey(ctx.Context(), asked)
		}
		if err == nil && isNew {
			h.carryOut(router, ctx, next, row, asked)
			return
		}
		if err == nil {
			err = h.repeatAnswer(ctx, row)
		}
		if err != nil {
			writeRefusal(router, ctx, h.toFailure("looking for an earlier request", err))
		}
	}
}

// readKeyed reads a request and puts its body back; isWhole is false where that is
// too large for the operation.
func (h *requestKeys) readKeyed(ctx huma.Context, key string) (asked models.KeyedRequest, isWhole bool, err error) {
	if utf8.RuneCountInString(key) > maxKey {
		return asked, false, newFailure(http.StatusBadRequest, "%s: must have at most %d characters", keyHeader, maxKey)
	}
	op := ctx.Operation()
	if limit := op.BodyReadTimeout; limit > 0 {
		if err := ctx.SetReadDeadline(time.Now().Add(limit)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return asked, false, err
		}
	}
	request, _ := humago.Unwrap(ctx)
	body, err := io.ReadAll(io.LimitReader(request.Body, op.MaxBodyBytes+1))
	if err != nil {
		return asked, false, newBodyFailure(err)
	}
	request.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), request.Body))
	sum := sha256.New()
	for _, part := range []string{ctx.Method(), request.URL.RequestURI(), string(body)} {
		length := sha256.Sum256([]byte(part))
		sum.Write(length[:])
	}
	asked = models.KeyedRequest{
		Actor: actorOf(ctx.Context()), Key: key, Request: hex.EncodeToString(sum.Sum(nil)), RequestID: requestID(ctx.Context()), At: h.now(),
	}
	if strings.HasPrefix(op.Path, participantsPath+"/{id}") {
		asked.ParticipantID = ctx.Param("id")
	}
	return asked, int64(len(body)) <= op.MaxBodyBytes, nil
}

// carryOut has a request carried out whose key is new, and keeps the answer.
func (h *requestKeys) carryOut(router huma.API, ctx huma.Context, next func(huma.Context), row models.RequestKey, asked models.KeyedRequest) {
	origin := models.OriginOf(ctx.Context())
	origin.Claim = &models.KeyClaim{Row: row}
	held := &heldAnswer{humaContext: huma.WithContext(ctx, models.WithOrigin(ctx.Context(), origin)), header: http.Header{}}
	next(held)
	if held.status >= http.StatusBadRequest {
		// An equal request may have been faster.
		if other, isNew, err := h.requestKeys.OpenRequestKey(ctx.Context(), asked); err == nil && !isNew && other.RequestID != row.RequestID {
			if err := h.repeatAnswer(ctx, other); err != nil {
				writeRefusal(router, ctx, h.toFailure("repeating an answer", err))
			}
			return
		}
		held.send(ctx)
		return
	}
	isSecret, _ := ctx.Operation().Metadata[secretKey].(bool)
	if err := h.keepAnswer(context.WithoutCancel(ctx.Context()), row, held, isSecret); err != nil {
		h.log.Error("keeping an answer failed; a repetition of the request will be refused", "request", row.RequestID, "error", err)
	}
	held.send(ctx)
}

func (h *requestKeys) keepAnswer(ctx context.Context, row models.RequestKey, held *heldAnswer, isSecret bool) error {
	if !isSecret {
		kept, err := json.Marshal(keptAnswer{Status: held.status, Header: held.header, Body: held.body.Bytes()})
		if err != nil {
			return err
		}
		row.Answer = string(kept)
	}
	return h.requestKeys.KeepAnswer(ctx, row)
}

func (h *requestKeys) repeatAnswer(ctx huma.Context, row models.RequestKey) error {
	if row.Answer == "" {
		if isSecret, _ := ctx.Operation().Metadata[secretKey].(bool); !isSecret && h.now().Sub(row.CreatedAt) < answerTime {
			ctx.SetHeader("Retry-After", "1")
			return newFailure(http.StatusConflict, "%s: the first request is still being answered; wait as Retry-After says", keyHeader)
		}
		return newFailure(http.StatusConflict, "%s: the request was carried out before and its answer was not kept; read the result instead", keyHeader)
	}
	var kept keptAnswer
	if err := json.Unmarshal([]byte(row.Answer), &kept); err != nil {
		return err
	}
	held := heldAnswer{header: kept.Header, status: kept.Status}
	held.body.Write(kept.Body)
	ctx.SetHeader(repeatedHeader, "true")
	held.send(ctx)
	return nil
}

func writeRefusal(router huma.API, ctx huma.Context, err error) {
	var refused *failure
	if errors.As(err, &refused) {
		_ = huma.WriteErr(router, ctx, refused.code, refused.body.Message)
	}
}

type humaContext = huma.Context

// heldAnswer takes an answer instead of the network.
type heldAnswer struct {
	humaContext
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *heldAnswer) Unwrap() huma.Context { return a.humaContext }

// SetStatus sets the answer's status.
func (a *heldAnswer) SetStatus(code int) { a.status = code }

// Status is the answer's status.
func (a *heldAnswer) Status() int { return a.status }

// SetHeader sets a header of the answer.
func (a *heldAnswer) SetHeader(name, value string) { a.header.Set(name, value) }

// AppendHeader adds to a header of the answer.
func (a *heldAnswer) AppendHeader(name, value string) { a.header.Add(name, value) }

// BodyWriter takes the body of the answer.
func (a *heldAnswer) BodyWriter() io.Writer { return &a.body }

func (a *heldAnswer) send(to huma.Context) {
	for name, values := range a.header {
		for _, value := range values {
			to.AppendHeader(name, value)
		}
	}
	to.SetStatus(a.status)
	_, _ = to.BodyWriter().Write(a.body.Bytes()) // The caller may be gone.
}
