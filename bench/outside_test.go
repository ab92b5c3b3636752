package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/bench/rig"
)

// TestMain runs the tests, or stands for a program that the benchmark starts:
// its own worker, or dev.
func TestMain(m *testing.M) {
	switch {
	case slices.Equal(os.Args[1:], []string{rig.ChildArg}):
		exit(rig.RunChild(context.Background(), os.Stdin, io.Writer(os.Stdout)))
	case slices.Contains(os.Args, "--temporal-port"):
		exit(runFakeDev(os.Args))
	default:
		os.Exit(m.Run())
	}
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// fakeDev answers every text at once: it asks the model for an answer and posts
// them.
type fakeDev struct{ environ map[string]string }

func runFakeDev(args []string) error {
	f := fakeDev{environ: map[string]string{}}
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		f.environ[name] = value
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	server := &http.Server{Addr: args[slices.Index(args, "--http")+1], Handler: f}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.ListenAndServe(); ctx.Err() == nil {
		return err
	}
	return nil
}

func (f fakeDev) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var err error
	switch r.URL.Path {
	case "/conversation/participants":
		var in struct {
			Phone string `json:"phone_number"`
		}
		if err = json.NewDecoder(r.Body).Decode(&in); err == nil {
			err = f.answer(in.Phone, "hello")
		}
		fmt.Fprintf(w, `{"result":{"id":%q}}`, in.Phone)
	case "/twilio/inbound":
		if err = r.ParseForm(); err == nil {
			err = f.answer(r.PostForm.Get("From"), r.PostForm.Get("Body"))
		}
	}
	if err != nil {
		panic(err)
	}
}

func (f fakeDev) answer(phone, body string) error {
	ask, err := json.Marshal(map[string]any{"messages": []any{map[string]string{"role": "user", "content": body}}})
	if err != nil {
		return err
	}
	req, err := http.NewRequest(http.MethodPost, f.environ["OPENAI_BASE_URL"]+"/chat/completions", bytes.NewReader(ask))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer key")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var out struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		return err
	}
	account := f.environ["TWILIO_ACCOUNT_SID"]
	form := url.Values{"To": {phone}, "From": {f.environ["TWILIO_FROM"]}, "Body": {out.Choices[0].Message.Content}}
	req, err = http.NewRequest(http.MethodPost, f.environ["TWILIO_BASE_URL"]+"/2010-04-01/Accounts/"+account+"/Messages.json", strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(account, f.environ["TWILIO_AUTH_TOKEN"])
	sent, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return sent.Body.Close()
}

// TestOutside measures a stand-in for dev, which is a program like any other
// that is named by -binary.
func TestOutside(t *testing.T) {
	program, err := os.Executable()
	require.NoError(t, err)
	values, got := measured(t, "-load", "disk", "-people", "3", "-rest", "10ms", "-binary", program)
	require.Equal(t, "dev's SQLite files", got.Backend)
	for _, step := range []string{"off", "after"} {
		quick := "memory step " + step + ", model 0s, 3 people, 3 at once/"
		require.Equal(t, 36, values[quick+"replies//s"].Count)
		require.Positive(t, values[quick+"replies//s"].Product)
		require.Contains(t, values, quick+"processor of 1,000 replies/s")
		slow := values["memory step "+step+", model 500ms, 3 people/last answer/ms"]
		require.Equal(t, 6, slow.Count, "two rounds, all are answered")
		require.GreaterOrEqual(t, slow.Product, 500.0, "the model's time is in it")
	}
}

func TestOutsideTellsWhyItDidNotStart(t *testing.T) {
	program, err := os.Executable()
	require.NoError(t, err)
	// The directory is no program.
	err = run(t.Context(), []string{"-load", "disk", "-binary", filepath.Dir(program)}, io.Discard, io.Discard)
	require.ErrorContains(t, err, filepath.Dir(program))
}
