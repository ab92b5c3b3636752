// Package cli is the command line. program.go runs it, client.go calls the HTTP API,
// output.go prints; a command is a function with its flags, its call and what it
// prints, in the file of its noun. roles.go, config.go, contexts.go, doctor.go,
// reseal.go and studyrehearse.go work without the API. The JSON types are in
// internal/api.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"coachline/internal/api"
	"coachline/internal/wrap"
)

const (
	callLimit = 30 * time.Second
	// maxAnswer bounds what is read of an answer, in bytes.
	maxAnswer = 8 << 20
	// maxFile bounds a file, in bytes.
	maxFile = 64 << 20
)

// APIError is a refusal by the API: its status and its message.
type APIError struct {
	Status  int
	Message string
}

func (e *APIError) Error() string { return fmt.Sprintf("%s (HTTP %d)", e.Message, e.Status) }

// Client calls the API, which it finds at its first call.
type Client struct {
	// find says where the API is, its token, which may be empty, and why something is
	// changed.
	find                func() (base, token, reason string, err error)
	base, token, reason string
	http                *http.Client
	// found holds the ids of participants by what they were called.
	found map[string]string
}

func newClient(find func() (base, token, reason string, err error)) *Client {
	return &Client{find: find, http: &http.Client{Timeout: callLimit}, found: map[string]string{}}
}

// connect finds the API. The error names what is wrong with its address.
func (c *Client) connect() error {
	if c.base != "" {
		return nil
	}
	base, token, reason, err := c.find()
	if err != nil {
		return err
	}
	if err := checkAddress(base); err != nil {
		return err
	}
	c.base, c.token, c.reason = strings.TrimRight(base, "/"), token, strings.Join(strings.Fields(reason), " ")
	return nil
}

func checkAddress(base string) error {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("the address %q is not of the form http://host:port", base)
	}
	return nil
}

// request is one call, a GET unless it says otherwise; body is sent as JSON unless
// nil, raw as it is.
type request struct {
	method string
	path   string
	// participant, unless empty, is the id, phone number or unique name of the person
	// below whom path is.
	participant string
	query       url.Values
	header      map[string]string
	body        any
	raw         []byte
	// progress is called as the answer comes in; nil is not.
	progress Progress
}

// result is what the API said: its sentence and the JSON of the result.
type result struct {
	message string
	raw     json.RawMessage
}

func (r result) decodeInto(value any) error {
	return wrap.Error(json.Unmarshal(r.raw, value), "decoding the API's answer")
}

// do sends the request once. A refusal is an *APIError.
func (c *Client) do(ctx context.Context, r request) (result, error) {
	status, raw, err := c.sendRequest(ctx, r, maxAnswer)
	if err != nil {
		return result{}, err
	}
	return parseAnswer(status, raw)
}

// listing is a list of the API that comes in pages: its path, and the name of the
// field that holds the items.
type listing struct{ path, field string }

// pageSize is the largest page that the API gives.
const pageSize = "200"

// listItems reads a list to its last page. As json.RawMessage the items stay as
// they came.
func listItems[T any](ctx context.Context, c *Client, l listing, query url.Values) ([]T, error) {
	items := []T{}
	query.Set("limit", pageSize)
	for {
		got, err := c.do(ctx, request{path: l.path, query: query})
		if err != nil {
			return nil, err
		}
		var page map[string]json.RawMessage
		if err := got.decodeInto(&page); err != nil {
			return nil, err
		}
		var more []T
		var next *string
		if err := errors.Join(decodeField(page, l.field, &more), decodeField(page, "next_cursor", &next)); err != nil {
			return nil, err
		}
		items = append(items, more...)
		if next == nil {
			return items, nil
		}
		query.Set("cursor", *next)
	}
}

// decodeField decodes a field of a page; one that is missing leaves value as it is.
func decodeField(page map[string]json.RawMessage, name string, value any) error {
	raw, ok := page[name]
	if !ok {
		return nil
	}
	return result{raw: raw}.decodeInto(value)
}

// joinPages makes one last page of all items of a list.
func joinPages(l listing, items []json.RawMessage) (result, error) {
	raw, err := json.Marshal(items)
	return result{raw: fmt.Appendf(nil, `{%q:%s,"next_cursor":null}`, l.field, raw)}, wrap.Error(err, "encoding the list")
}

// Progress is called with the number of bytes that have come and the number that
// will; of is -1 where the API does not say.
type Progress func(done, of int64)

// downloadFile gets a file, whole or not at all. A refusal is an *APIError.
func (c *Client) downloadFile(ctx context.Context, r request) ([]byte, error) {
	status, raw, err := c.sendRequest(ctx, r, maxFile+1)
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		_, err := parseAnswer(status, raw)
		return nil, err
	}
	if len(raw) > maxFile {
		return nil, fmt.Errorf("the file is larger than %d bytes", maxFile)
	}
	return raw, nil
}

// sendRequest sends the request once and reads at most so many bytes of the answer.
func (c *Client) sendRequest(ctx context.Context, r request, most int64) (status int, raw []byte, err error) {
	req, err := c.newRequest(ctx, r)
	if err != nil {
		return 0, nil, err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return 0, nil, fmt.Errorf("calling the API at %s: %w", c.base, unwrapURL(err))
	}
	defer res.Body.Close()
	body := io.LimitReader(res.Body, most)
	if r.progress != nil && res.StatusCode == http.StatusOK {
		body = &progressReader{Reader: body, of: res.ContentLength, progress: r.progress}
	}
	raw, err = io.ReadAll(body)
	return res.StatusCode, raw, wrap.Error(err, "reading the API's answer")
}

// progressReader reports how much of it has been read.
type progressReader struct {
	io.Reader
	done, of int64
	progress Progress
}

func (b *progressReader) Read(into []byte) (int, error) {
	n, err := b.Reader.Read(into)
	b.done += int64(n)
	b.progress(b.done, b.of)
	return n, err
}

func parseAnswer(status int, raw []byte) (result, error) {
	var envelope api.Envelope[json.RawMessage]
	if err := json.Unmarshal(raw, &envelope); err != nil || envelope.Status == "" {
		return result{}, &APIError{Status: status, Message: "the answer is not one of this API"}
	}
	if status >= http.StatusBadRequest || envelope.Status != api.StatusOK {
		return result{}, &APIError{Status: status, Message: envelope.Message}
	}
	return result{message: envelope.Message, raw: envelope.Result}, nil
}

func (c *Client) newRequest(ctx context.Context, r request) (*http.Request, error) {
	if err := c.connect(); err != nil {
		return nil, err
	}
	if r.participant != "" {
		id, err := c.findParticipant(ctx, r.participant)
		if err != nil {
			return nil, err
		}
		r.path = participantPath(id) + r.path
	}
	req, err := api.Request{
		Method: r.method, Path: r.path, Query: r.query, Header: r.header, Body: r.body, Raw: r.raw, Reason: c.reason,
	}.Build(ctx, c.base)
	if err != nil {
		return nil, err
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	return req, nil
}

// unwrapURL drops the method and address that the HTTP client puts before
// every error; the caller names them itself.
func unwrapURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
