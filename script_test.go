package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"coachline/internal/dbtest"
	"coachline/internal/scripttest"
	"coachline/internal/sim/twilio"
)

var updateScripts = flag.Bool("scripts", false, "write what scripts compare with anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"coachline": main})
}

const (
	scriptAccount = "AC00000000000000000000000000000001"
	scriptToken   = "secret0of0the0carrier"
	scriptFrom    = "+15017122661"
)

// TestScripts runs testdata/script against the program: operators' commands, the
// starter on an empty database, and phones. No Temporal answers, so that no coach
// does: scripts with a conversation are in dev/testdata/script.
func TestScripts(t *testing.T) {
	empty, err := os.ReadFile(strings.TrimPrefix(dbtest.SQLite(t), "sqlite:"))
	require.NoError(t, err)
	commands := scripttest.Commands()
	commands["start"], commands["stop"], commands["older"] = startStarter, stopStarter, makeOlder
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", Cmds: commands, UpdateScripts: *updateScripts,
		Setup: func(env *testscript.Env) error {
			path := filepath.Join(env.WorkDir, "coach.db")
			env.Vars = append(env.Vars,
				"HOME="+env.WorkDir, "XDG_CONFIG_HOME="+filepath.Join(env.WorkDir, ".config"), "TZ=UTC",
				"DATABASE_URL=sqlite:"+path, "COACH_PAYLOAD_KEYS=k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
				"COACH_HTTP_ADDR=127.0.0.1:0", "TEMPORAL_ADDRESS=127.0.0.1:1", "COACH_DEFAULT_TIMEZONE=America/New_York",
				"TWILIO_ACCOUNT_SID="+scriptAccount, "TWILIO_AUTH_TOKEN="+scriptToken, "TWILIO_FROM="+scriptFrom,
			)
			r := &running{}
			for _, line := range env.Vars {
				name, _, _ := strings.Cut(line, "=")
				r.names = append(r.names, name)
			}
			env.Values[runningKey{}] = r
			return os.WriteFile(path, empty, 0o600)
		},
	})
}

// running is the starter of a script with the phones before it.
type running struct {
	// names are the variables that the starter is given.
	names   []string
	process *exec.Cmd
	network *twilio.Server
	phones  *httptest.Server
}

type runningKey struct{}

// makeOlder has the database be one that an older program left: the first migrations,
// and rows of that time: older 48 rows.sql.
func makeOlder(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: older MIGRATION FILE")
	}
	version, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	path := ts.MkAbs("coach.db")
	ts.Check(os.Remove(path))
	db, err := sql.Open("sqlite", path)
	ts.Check(err)
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, os.DirFS("internal/database/migrations/sqlite"), goose.WithDisableGlobalRegistry(true))
	ts.Check(err)
	_, err = provider.UpTo(context.Background(), version)
	ts.Check(err)
	_, err = db.ExecContext(context.Background(), ts.ReadFile(args[1]))
	ts.Check(errors.Join(err, db.Close()))
}

// startStarter runs the role starter, with more settings where they are given: start
// COACH_RETENTION=720h.
func startStarter(ts *testscript.TestScript, neg bool, args []string) {
	r, _ := ts.Value(runningKey{}).(*running)
	if neg || r.process != nil {
		ts.Fatalf("usage: start [VARIABLE=VALUE...], and stop before it starts again")
	}
	for _, setting := range args {
		name, value, _ := strings.Cut(setting, "=")
		ts.Setenv(name, value)
		r.names = append(r.names, name)
	}
	program, err := exec.LookPath("coachline")
	ts.Check(err)
	r.process = exec.Command(program, "starter")
	for _, name := range r.names {
		r.process.Env = append(r.process.Env, name+"="+ts.Getenv(name))
	}
	log, err := r.process.StderrPipe()
	ts.Check(err)
	ts.Check(r.process.Start())
	ts.Defer(func() {
		if err := r.stop(); err != nil {
			ts.Logf("stopping the starter: %v", err)
		}
	})
	lines := bufio.NewScanner(log)
	url, said := "", ""
	for url == "" && lines.Scan() {
		said += lines.Text() + "\n"
		var line struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "listening" {
			url = "http://" + line.Address
		}
	}
	if url == "" {
		err, r.process = r.process.Wait(), nil
		ts.Fatalf("the starter ended: %v\n%s", err, said)
	}
	go func() { _, _ = io.Copy(io.Discard, log) }() // what it says later is of no interest
	r.network, err = twilio.New(twilio.Config{AccountSID: scriptAccount, AuthToken: scriptToken, From: scriptFrom, InboundURL: url + "/twilio/inbound"})
	ts.Check(err)
	r.phones = httptest.NewServer(r.network.Handler())
	ts.Setenv("COACH_URL", url)
	ts.Setenv(scripttest.PhonesVar, r.phones.URL+"/sim")
}

// stopStarter has the starter finish its work.
func stopStarter(ts *testscript.TestScript, neg bool, args []string) {
	r, _ := ts.Value(runningKey{}).(*running)
	if neg || len(args) > 0 || r.process == nil {
		ts.Fatalf("usage: stop, after start")
	}
	ts.Check(r.stop())
}

func (r *running) stop() error {
	if r.process == nil {
		return nil
	}
	err := errors.Join(r.process.Process.Signal(os.Interrupt), r.process.Wait())
	r.process = nil
	if r.phones != nil {
		r.phones.Close()
		err = errors.Join(err, r.network.Close())
	}
	return err
}
