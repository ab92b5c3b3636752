package console

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/internal/auth"
)

// refusal is what the API said to a request that it did not carry out.
type refusal struct {
	status  int
	message string
}

// Error is the API's message, which names the field to blame.
func (r *refusal) Error() string { return r.message }

// keyHeader names requests of the API that are to be carried out once.
const keyHeader = "Idempotency-Key"

const (
	// onceName is the hidden field that makes a form that is sent twice one request.
	onceName = "once"
	// aboutName is the hidden field that says what a form acts on. It is compared with
	// the address that the form is sent to.
	aboutName = "about"
)

func postForm(path string, nodes ...g.Node) g.Node {
	return h.Form(h.Method("post"), h.Action(Path+path), hidden(onceName, rand.Text()), hidden(aboutName, path), g.Group(nodes))
}

// hidden is a field of a form that no one fills in.
func hidden(name, value string) g.Node {
	return h.Input(h.Type("hidden"), h.Name(name), h.Value(value))
}

func get[T any](v *viewer, path string, query url.Values) (T, error) {
	return send[T](v, api.Request{Method: http.MethodGet, Path: path, Query: query})
}

// send calls the API as the viewer. What it refuses is a *refusal.
func send[T any](v *viewer, c api.Request) (T, error) {
	var out T
	raw, err := v.console.callAPI(v, c)
	if err != nil {
		return out, err
	}
	var envelope api.Envelope[T]
	if err := json.Unmarshal(raw, &envelope); err != nil {
		return out, fmt.Errorf("decoding the answer of %s %s: %w", c.Method, c.Path, err)
	}
	v.message = envelope.Message
	return envelope.Result, nil
}

// callAPI runs a request through the API's handler and returns the answer's body.
func (c *Console) callAPI(v *viewer, q api.Request) ([]byte, error) {
	r, err := newCall(v, q)
	if err != nil {
		return nil, err
	}
	answer := &answerWriter{header: http.Header{}}
	c.cfg.API.ServeHTTP(answer, r)
	v.header = answer.header
	if answer.status < http.StatusBadRequest {
		return answer.body.Bytes(), nil
	}
	var failure api.Failure
	if err := json.Unmarshal(answer.body.Bytes(), &failure); err != nil || failure.Message == "" {
		return nil, fmt.Errorf("%s %s answered %d", q.Method, q.Path, answer.status)
	}
	return nil, &refusal{status: answer.status, message: failure.Message}
}

// newCall builds a request to the API as the viewer. The identity travels in the
// context, where no request from outside can put one.
func newCall(v *viewer, q api.Request) (*http.Request, error) {
	// A canceled page must not leave an action half done.
	ctx := v.request.Context()
	if q.Method != http.MethodGet {
		ctx = context.WithoutCancel(ctx)
	}
	r, err := q.Build(auth.WithIdentity(ctx, v.who), "")
	if err != nil {
		return nil, err
	}
	if once := v.request.PostFormValue(onceName); q.Method == http.MethodPost && once != "" && r.Header.Get(keyHeader) == "" {
		// One form may make several requests, each with a key of its own.
		sum := sha256.Sum256([]byte(once + " " + q.Path))
		r.Header.Set(keyHeader, hex.EncodeToString(sum[:]))
	}
	r.RemoteAddr, r.Host = v.request.RemoteAddr, v.request.Host
	if follows := v.request.Header.Get("X-Follow"); follows != "" {
		r.Header.Set("X-Follow", follows)
	}
	return r, nil
}

// isRefusal reports whether the API refused with a status.
func isRefusal(err error, status int) bool {
	var r *refusal
	return errors.As(err, &r) && r.status == status
}

// answerWriter keeps an answer of the API.
type answerWriter struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header is the answer's headers.
func (a *answerWriter) Header() http.Header { return a.header }

// WriteHeader keeps the first status.
func (a *answerWriter) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write keeps the body.
func (a *answerWriter) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}
