package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver named "pgx"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"coachline/chaos/harness"
	"coachline/internal/pgtest"
	"coachline/internal/sim/twilio"
)

const (
	// sendRate, in segments a second, is a little more than is sent on average,
	// so that what an outage held up waits in the queue.
	sendRate = "14"
	// publicURL is what the carrier signs; no process listens there, because a
	// webhook may reach any starter.
	publicURL  = "http://coach.test"
	readyLimit = time.Minute
	lookEvery  = 100 * time.Millisecond
	namespace  = "default"
)

// system is everything that runs, with the driver's own view of it.
type system struct {
	settings settings
	dir      string
	trace    *harness.Trace
	fleet    *harness.Fleet
	board    *harness.Board
	carrier  *harness.Carrier
	pager    *harness.Pager
	db       *sql.DB
	temporal client.Client
	api      *api
	// starters and workers are the names of the processes.
	starters, workers []string
	// connections are those to the carrier.
	connections *harness.SlowListener
	inner       context.Context //nolint:containedctx // lasts as long as the system
	end         context.CancelFunc
}

// start builds the programs and starts everything.
func start(ctx context.Context, s settings) (*system, error) {
	bin, err := buildPrograms(ctx, s.Root)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "coachline-chaos-")
	if err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	// The cluster's own user has to get through to its folder.
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // search permission is all that others get
		return nil, errors.Join(fmt.Errorf("opening the folder: %w", err), os.RemoveAll(dir))
	}
	inner, end := context.WithCancel(context.WithoutCancel(ctx))
	trace := harness.NewTrace()
	fleet := harness.NewFleet(dir, trace)
	sys := &system{settings: s, dir: dir, trace: trace, fleet: fleet, board: harness.NewBoard(fleet, trace), inner: inner, end: end}
	err = sys.startServers(ctx, bin)
	if err == nil {
		err = sys.startRoles(ctx, inner, bin)
	}
	if err != nil {
		return nil, errors.Join(err, sys.close(true))
	}
	return sys, nil
}

// programs are the built binaries.
type programs struct{ dev, coachline string }

// buildPrograms builds what runs; the toolchain's cache makes it quick when
// nothing changed.
func buildPrograms(ctx context.Context, root string) (programs, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return programs{}, fmt.Errorf("finding the module: %w", err)
	}
	p := programs{dev: filepath.Join(root, "build", "dev-chaos"), coachline: filepath.Join(root, "build", "coachline-chaos")}
	for target, source := range map[string]string{p.dev: "./dev", p.coachline: "."} {
		cmd := exec.CommandContext(ctx, "go", "build", "-ldflags", "-s -w", "-o", target, source)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			return p, fmt.Errorf("building %s: %w: %s", source, err, out)
		}
	}
	return p, nil
}

// startServers starts PostgreSQL and the Temporal server.
func (s *system) startServers(ctx context.Context, bin programs) error {
	ports, err := freePorts(ctx, 2)
	if err != nil {
		return err
	}
	postgres, err := harness.Postgres(ctx, filepath.Join(s.dir, "postgres"), ports[0])
	if err != nil {
		return err
	}
	temporal := harness.Program{
		Name: "temporal", Path: bin.dev,
		Args: []string{
			"--data", filepath.Join(s.dir, "temporal"), "--no-worker", "--no-starter", "--http", "127.0.0.1:0",
			"--temporal-port", strconv.Itoa(ports[1]), "--ui-port", "0", "--sim-port", "0",
		},
	}
	if err := errors.Join(s.fleet.Run(postgres), s.fleet.Run(temporal)); err != nil {
		return err
	}
	s.api = &api{temporal: loopback(ports[1])}
	quiet := log.NewStructuredLogger(slog.New(slog.DiscardHandler))
	s.temporal, err = client.NewLazyClient(client.Options{HostPort: s.api.temporal, Namespace: namespace, Logger: quiet})
	if err != nil {
		return fmt.Errorf("preparing the Temporal client: %w", err)
	}
	return s.openDatabase(ctx, ports[0])
}

// openDatabase waits for PostgreSQL, makes the product's database and opens it.
func (s *system) openDatabase(ctx context.Context, port int) error {
	address := func(name string) string {
		return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", pgtest.Superuser, loopback(port), name)
	}
	first, err := sql.Open("pgx", address("postgres"))
	if err != nil {
		return fmt.Errorf("opening PostgreSQL: %w", err)
	}
	defer first.Close()
	err = await(ctx, readyLimit, func(ctx context.Context) error {
		_, err := first.ExecContext(ctx, "CREATE DATABASE coach")
		return err
	})
	if err != nil {
		return fmt.Errorf("waiting for PostgreSQL: %w", err)
	}
	s.db, err = sql.Open("pgx", address("coach"))
	s.api.database = address("coach")
	return err
}

// startRoles starts the stand-ins, the gateways and the product's processes.
func (s *system) startRoles(ctx, inner context.Context, bin programs) error {
	ports, err := freePorts(ctx, s.settings.Starters)
	if err != nil {
		return err
	}
	for _, port := range ports {
		s.api.starterURLs = append(s.api.starterURLs, "http://"+loopback(port))
	}
	if s.carrier, err = harness.NewCarrier(s.board, s.trace, s.api.starterURLs); err != nil {
		return err
	}
	s.pager = harness.NewPager(s.board, s.trace)
	outside, err := s.serveStandIns(inner)
	if err != nil {
		return err
	}
	key, err := s.payloadKey()
	if err != nil {
		return err
	}
	shared := append(environment(s.api.database, key), "COACH_CONTINUE_AS_NEW_EVENTS="+strconv.Itoa(s.settings.RunEvents))
	common := role{program: bin.coachline, standIns: outside, env: shared}
	for i, port := range ports {
		one := common.withName("starter", i+1)
		one.env = append(shared[:len(shared):len(shared)], "COACH_HTTP_ADDR="+loopback(port))
		s.starters = append(s.starters, one.name)
		if err := s.startRole(inner, one); err != nil {
			return err
		}
	}
	for i := range s.settings.Workers {
		one := common.withName("worker", i+1)
		s.workers = append(s.workers, one.name)
		if err := s.startRole(inner, one); err != nil {
			return err
		}
	}
	if err := await(ctx, readyLimit, s.ready); err != nil {
		return fmt.Errorf("waiting for the starters: %w", err)
	}
	return s.prepareMarks(ctx)
}

// standIns are the base addresses of carrier, model and the receiver of pages.
type standIns struct{ carrier, model, pager string }

// role is one process of the product: which, what it is told, and the stand-ins
// that it talks to.
type role struct {
	standIns
	kind, name, program string
	env                 []string
}

func (r role) withName(kind string, n int) role {
	r.kind, r.name = kind, kind+strconv.Itoa(n)
	return r
}

// startRole starts one process behind a gateway of its own.
func (s *system) startRole(inner context.Context, r role) error {
	gateway, err := harness.NewGateway(r.name, s.api.temporal, s.board).Serve(inner)
	if err != nil {
		return err
	}
	env := append(r.env[:len(r.env):len(r.env)],
		"TEMPORAL_ADDRESS="+gateway, "TEMPORAL_NAMESPACE="+namespace, "HOME="+s.dir,
		"TWILIO_BASE_URL="+r.carrier+"/"+r.name, "OPENAI_BASE_URL="+r.model+"/"+r.name+"/v1", "COACH_ALERT_URL="+r.pager)
	return s.fleet.Run(harness.Program{Name: r.name, Path: r.program, Args: []string{r.kind}, Env: env})
}

// serveStandIns serves carrier, pager and model, each on an address of its own.
func (s *system) serveStandIns(inner context.Context) (standIns, error) {
	var at standIns
	var err error
	if s.connections, err = harness.NewSlowListener(inner); err != nil {
		return at, err
	}
	at.carrier = harness.ServeOn(inner, s.connections, s.carrier.Handler())
	if at.pager, err = harness.Serve(inner, s.pager); err != nil {
		return at, err
	}
	at.model, err = harness.Serve(inner, harness.NewModel(s.board, s.trace).Handler())
	return at, err
}

// environment is what all processes of the product share: short delays, so
// that everything that can be due falls due.
func environment(database, key string) []string {
	return []string{
		"DATABASE_URL=" + database, "COACH_PAYLOAD_KEYS=" + key, "COACH_PUBLIC_URL=" + publicURL, "COACH_LOG_LEVEL=info",
		"TWILIO_ACCOUNT_SID=" + harness.AccountSID, "TWILIO_AUTH_TOKEN=" + harness.AuthToken, "TWILIO_FROM=" + harness.OurNumber,
		"OPENAI_API_KEY=chaos", "COACH_QUIET_HOURS=", "COACH_DEBOUNCE=200ms", "COACH_DEBOUNCE_MAX=1s",
		"COACH_PREP_TIME=30m", "COACH_PROMPT_SPREAD=20s", "COACH_PROMPT_GRACE=2h", "COACH_REMINDER_DELAY=8s", "COACH_AUTO_FEEDBACK_DELAY=0",
		"COACH_FEEDBACK_TIMEOUT=0", "COACH_FEEDBACK_FOLLOWUP=0", "COACH_MAX_INITIATED_PER_DAY=0", "COACH_TEXTS_PER_MINUTE=0", "COACH_TEXTS_PER_DAY=0", "COACH_LOOP_MUTE=0",
		"COACH_SEND_RATE=" + sendRate,
	}
}

// payloadKey makes the run's key and leaves it in the folder, so that what is
// kept of a failed run can be read.
func (s *system) payloadKey() (string, error) {
	raw := make([]byte, 32)
	if _, err := rand.Read(raw); err != nil {
		return "", fmt.Errorf("making a key: %w", err)
	}
	key := "k1:" + base64.StdEncoding.EncodeToString(raw)
	if err := os.WriteFile(filepath.Join(s.dir, "payload.key"), []byte(key), 0o600); err != nil {
		return "", fmt.Errorf("keeping the key: %w", err)
	}
	return key, nil
}

// ready fails unless every starter reaches database and Temporal.
func (s *system) ready(ctx context.Context) error {
	for _, starter := range s.api.starterURLs {
		if err := s.api.readyz(ctx, starter); err != nil {
			return err
		}
	}
	return nil
}

// close stops everything, leaves the trace and removes the folder unless it is
// to be kept.
func (s *system) close(keep bool) error {
	s.end()
	s.fleet.Stop()
	var problem error
	if s.carrier != nil {
		problem = s.carrier.Close()
	}
	if s.temporal != nil {
		s.temporal.Close()
	}
	if s.db != nil {
		problem = errors.Join(problem, s.db.Close())
	}
	if !keep {
		return errors.Join(problem, os.RemoveAll(s.dir))
	}
	return errors.Join(problem, s.trace.Write(filepath.Join(s.dir, "trace.log")))
}

// await repeats an attempt until it succeeds; the last error is returned when
// that takes too long.
func await(ctx context.Context, limit time.Duration, attempt func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		err := attempt(ctx)
		if err == nil {
			return nil
		}
		if !twilio.Pause(ctx, lookEvery) {
			return err
		}
	}
}

func freePorts(ctx context.Context, n int) ([]int, error) {
	var ports []int
	for range n {
		port, err := harness.FreePort(ctx)
		if err != nil {
			return nil, err
		}
		ports = append(ports, port)
	}
	return ports, nil
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
