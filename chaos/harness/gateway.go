package harness

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path"
	"slices"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"
)

// Gateway stands between one process and the Temporal server: a transparent
// proxy that reads the method's name, and at the commands of an answered workflow task.
type Gateway struct {
	process string
	board   *Board
	proxy   *httputil.ReverseProxy
}

// headerLimit bounds how long a caller may take to begin.
const headerLimit = 10 * time.Second

// NewGateway forwards one process's calls to the server's address.
func NewGateway(process, server string, board *Board) *Gateway {
	g := &Gateway{process: process, board: board}
	var plain http.Protocols
	plain.SetUnencryptedHTTP2(true)
	g.proxy = &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: server}) },
		Transport:      &http.Transport{Protocols: &plain, DisableCompression: true},
		FlushInterval:  -1,
		ModifyResponse: g.after,
		ErrorHandler:   unavailable,
	}
	return g
}

// unavailable is gRPC's word for a server that is away.
func unavailable(w http.ResponseWriter, _ *http.Request, _ error) {
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Grpc-Status", "14")
	w.Header().Set("Grpc-Message", "the server is away")
	w.WriteHeader(http.StatusOK)
}

// Serve listens on a port of its own until ctx ends and returns the address.
func (g *Gateway) Serve(ctx context.Context) (string, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("opening the gateway of %s: %w", g.process, err)
	}
	var plain http.Protocols
	plain.SetUnencryptedHTTP2(true)
	serve(ctx, listener, &http.Server{Handler: g, Protocols: &plain, ReadHeaderTimeout: headerLimit})
	return listener.Addr().String(), nil
}

// serve answers until ctx ends.
func serve(ctx context.Context, listener net.Listener, server *http.Server) {
	server.BaseContext = func(net.Listener) context.Context { return ctx }
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() { _ = server.Serve(listener) }()
}

// callPoints is the points before and after a call.
type callPoints struct{ before, after Point }

type passageKey struct{}

// passageOf is empty for calls that are no kill point.
func passageOf(method string, body []byte) callPoints {
	switch method {
	case "SignalWithStartWorkflowExecution", "SignalWorkflowExecution":
		return callPoints{BeforeSignal, AfterSignal}
	case "UpdateWorkflowExecution":
		return callPoints{before: BeforeUpdate}
	case "RespondActivityTaskCompleted":
		return callPoints{BeforeActivity, AfterActivityDone}
	case "RespondWorkflowTaskCompleted":
		if continues(body) {
			return callPoints{BeforeContinue, AfterContinue}
		}
		return callPoints{BeforeTaskDone, AfterTaskDone}
	}
	return callPoints{}
}

// ServeHTTP implements http.Handler.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // The caller is gone.
	}
	points := passageOf(path.Base(r.URL.Path), body)
	if points.before != "" && g.board.Pass(r.Context(), points.before, g.process) {
		panic(http.ErrAbortHandler)
	}
	r = r.WithContext(context.WithValue(r.Context(), passageKey{}, points))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	g.proxy.ServeHTTP(w, r)
}

// after is told of every answer before it is passed on.
func (g *Gateway) after(res *http.Response) error {
	ctx := res.Request.Context()
	if points, ok := ctx.Value(passageKey{}).(callPoints); ok && points.after != "" {
		g.board.Pass(ctx, points.after, g.process)
	}
	return nil
}

// continues says whether the commands of an answered workflow task continue it
// as new.
func continues(body []byte) bool {
	message, err := readFrame(body)
	if err != nil {
		return false
	}
	var done workflowservice.RespondWorkflowTaskCompletedRequest
	if proto.Unmarshal(message, &done) != nil {
		return false
	}
	for _, command := range slices.Backward(done.GetCommands()) {
		if command.GetCommandType() == enums.COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION {
			return true
		}
	}
	return false
}

// frameHead is gRPC's prefix of a message: one byte of flags, four of length.
const frameHead = 5

// readFrame is the one message of a unary call.
func readFrame(body []byte) ([]byte, error) {
	if len(body) < frameHead || uint64(len(body)-frameHead) < uint64(binary.BigEndian.Uint32(body[1:frameHead])) {
		return nil, io.ErrUnexpectedEOF
	}
	message := body[frameHead : frameHead+int(binary.BigEndian.Uint32(body[1:frameHead]))]
	if body[0]&1 == 0 {
		return message, nil
	}
	reader, err := gzip.NewReader(bytes.NewReader(message))
	if err != nil {
		return nil, fmt.Errorf("opening a compressed message: %w", err)
	}
	const limit = 64 << 20
	message, err = io.ReadAll(io.LimitReader(reader, limit))
	if err != nil {
		return nil, fmt.Errorf("reading a compressed message: %w", err)
	}
	return message, nil
}

// Serve answers on a port of its own until ctx ends and returns the base
// address.
func Serve(ctx context.Context, handler http.Handler) (string, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("opening an address: %w", err)
	}
	return ServeOn(ctx, listener, handler), nil
}

// ServeOn answers on a listener until ctx ends and returns the base address.
func ServeOn(ctx context.Context, listener net.Listener, handler http.Handler) string {
	serve(ctx, listener, &http.Server{Handler: handler, ReadHeaderTimeout: headerLimit})
	return "http://" + listener.Addr().String()
}
