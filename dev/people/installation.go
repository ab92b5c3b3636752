package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc"
	_ "modernc.org/sqlite" // the driver's own connection

	"coachline/dev/temporal"
	"coachline/internal/config"
	"coachline/internal/connect"
	"coachline/internal/metrics"
	"coachline/internal/rollout"
	"coachline/internal/seal"
	"coachline/internal/sim/openai"
	"coachline/internal/sim/twilio"
	"coachline/internal/store"
	"coachline/internal/wait"
	"coachline/models/wire"
	"coachline/starter"
	"coachline/worker"
)

const (
	accountSID = "ACd0000000000000000000000000000000"
	authToken  = "people"
	ourNumber  = "+15005550006"
	// workerArg as the first argument makes the program a worker, which can be killed.
	workerArg = "worker"
	// clockVariable names the file of the clock for a worker.
	clockVariable = "PEOPLE_CLOCK"
	clockFile     = "clock"
	// readyLimit bounds each wait for something that runs in real time.
	readyLimit = time.Minute
	pollEvery  = 2 * time.Millisecond
	// loops of the starter wait for the clock when nothing is to do: the relay, the daily
	// checks, and what ends studies.
	loops = 3
)

// installation is one of the product on an engine that skips time: the engine, the phones,
// the model and the starter in this process, workers in processes of their own.
type installation struct {
	dir     string
	clock   *temporal.Clock
	engine  *temporal.Engine
	config  temporal.Config
	carrier *twilio.Server
	environ []string
	api     string
	sim     string
	// temporal, rows and store are the driver's own.
	temporal client.Client
	rows     *sql.DB
	store    *store.Store
	workers  map[string]*exec.Cmd // by build
	log      *os.File
	stop     []func() error

	mu    sync.Mutex
	pages []page
	texts []sent
}

// page is a call of the people on call.
type page struct {
	At   time.Time
	Body string
}

// sent is a text that the carrier took for a phone.
type sent struct {
	At            time.Time
	SID, To, Body string
}

// install starts an installation in a folder whose clock begins at an instant.
func install(ctx context.Context, dir string, begin time.Time, answer func([]byte) (openai.Answer, error), settings ...string) (in *installation, err error) {
	in = &installation{dir: dir, workers: map[string]*exec.Cmd{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, in.close())
		}
	}()
	if in.clock, err = temporal.OpenClock(in.file(clockFile)); err != nil {
		return in, err
	}
	in.clock.AtLeast(begin)
	if in.log, err = os.Create(in.file("log")); err != nil {
		return in, fmt.Errorf("opening the log: %w", err)
	}
	in.stop = append(in.stop, in.log.Close)
	port, err := temporal.FreePort()
	if err != nil {
		return in, err
	}
	if err := os.MkdirAll(in.file("engine"), 0o700); err != nil {
		return in, fmt.Errorf("making the engine's folder: %w", err)
	}
	in.config = temporal.Config{Dir: in.file("engine"), Port: port, UIPort: temporal.NoUI, SkipTime: true}
	if in.engine, err = temporal.Start(ctx, in.config); err != nil {
		return in, err
	}
	in.stop = append(in.stop, func() error { in.engine.Stop(); return nil })
	if err := in.serve(ctx, answer); err != nil {
		return in, err
	}
	if err := in.settle(settings); err != nil {
		return in, err
	}
	if err := in.startStarter(ctx); err != nil {
		return in, err
	}
	if err := in.startWorker(ctx, "build-1"); err != nil {
		return in, err
	}
	return in, in.openRows(ctx)
}

func (in *installation) file(name string) string { return filepath.Join(in.dir, name) }

// serve has the phones, the model and the pager listen.
func (in *installation) serve(ctx context.Context, answer func([]byte) (openai.Answer, error)) error {
	api, err := temporal.FreePort()
	if err != nil {
		return err
	}
	in.api = fmt.Sprintf("http://127.0.0.1:%d", api)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("opening the phones' address: %w", err)
	}
	in.sim = "http://" + listener.Addr().String()
	in.carrier, err = twilio.New(twilio.Config{
		AccountSID: accountSID, AuthToken: authToken, From: ourNumber, Now: in.clock.Now, OnSend: in.takeText,
		InboundURL: in.api + "/twilio/inbound", StatusURL: in.api + "/twilio/status",
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	in.stop = append(in.stop, in.carrier.Close)
	mux := http.NewServeMux()
	mux.Handle("/", in.carrier.Handler())
	mux.Handle("/v1/", openai.New(openai.Config{Answer: answer, Now: in.clock.Now}).Handler())
	mux.HandleFunc("POST /page", in.takePage)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: readyLimit}
	go func() { _ = server.Serve(listener) }() // It ends with the server.
	in.stop = append(in.stop, server.Close)
	return nil
}

// takeText accepts a text as the network does, and keeps it for who reads the phone.
func (in *installation) takeText(_ http.ResponseWriter, _ *http.Request, send *twilio.Send) {
	m, accepted := send.Accept()
	if !accepted {
		return
	}
	in.mu.Lock()
	in.texts = append(in.texts, sent{At: m.At, SID: m.SID, To: m.To, Body: m.Body})
	in.mu.Unlock()
	send.Report(twilio.Report{})
	send.Answer()
}

func (in *installation) takePage(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // A page that breaks off is repeated.
	in.mu.Lock()
	defer in.mu.Unlock()
	in.pages = append(in.pages, page{At: in.clock.Now().UTC(), Body: string(body)})
	w.WriteHeader(http.StatusOK)
}

// prices make money count; they are those of a small model of 2026.
const prices = `{"currency": "USD", "models": {%q: {"input": 0.4, "cached_input": 0.1, "output": 1.6}, "text-embedding-3-small": {"input": 0.02, "output": 0}},
	"destinations": {"+1": {"outbound": 0.0083, "inbound": 0.0083, "carrier_fee": 0.003}, "+4": {"outbound": 0.09, "inbound": 0.0075}, "+3": {"outbound": 0.08, "inbound": 0.0075}, "+5": {"outbound": 0.05, "inbound": 0.0075}}}`

// settle writes the settings of the roles; those that are given go before the others.
func (in *installation) settle(own []string) error {
	key, err := seal.Generate()
	if err != nil {
		return fmt.Errorf("making a key: %w", err)
	}
	if err := os.WriteFile(in.file("prices.json"), fmt.Appendf(nil, prices, openai.Model), 0o600); err != nil {
		return fmt.Errorf("writing the prices: %w", err)
	}
	in.environ = append([]string{
		"DATABASE_URL=sqlite:" + in.file("coachline.db"), "TEMPORAL_ADDRESS=" + in.engine.Address(), "TEMPORAL_NAMESPACE=default",
		"COACH_HTTP_ADDR=" + strings.TrimPrefix(in.api, "http://"), "COACH_PUBLIC_URL=" + in.api, "COACH_PAYLOAD_KEYS=" + key,
		"TWILIO_ACCOUNT_SID=" + accountSID, "TWILIO_AUTH_TOKEN=" + authToken, "TWILIO_FROM=" + ourNumber, "TWILIO_BASE_URL=" + in.sim,
		"OPENAI_API_KEY=script", "OPENAI_BASE_URL=" + in.sim + "/v1", "COACH_ALERT_URL=" + in.sim + "/page", "COACH_PRICES_FILE=" + in.file("prices.json"), "COACH_LOG_LEVEL=warn",
		clockVariable + "=" + in.file(clockFile),
	}, own...)
	return nil
}

// onClock returns a context under which a role takes the time from a clock.
func onClock(ctx context.Context, clock *temporal.Clock) context.Context {
	ctx = wait.WithClock(ctx, wait.Clock{Now: clock.Now, After: clock.After})
	return connect.WithDialOptions(ctx, grpc.WithChainUnaryInterceptor(clock.Intercept))
}

func (in *installation) startStarter(ctx context.Context) error {
	cfg, err := config.Load(in.environ, nil)
	if err != nil {
		return fmt.Errorf("reading the settings: %w", err)
	}
	m, err := metrics.New(metrics.Config{})
	if err != nil {
		return fmt.Errorf("making metrics: %w", err)
	}
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- starter.RunRoleWith(onClock(own, in.clock), cfg, m) }()
	in.stop = append(in.stop, func() error { cancel(); return <-ended })
	return in.await(ctx, "the starter", func() (bool, error) {
		select {
		case err := <-ended:
			ended <- err
			return false, fmt.Errorf("it ended: %w", err)
		default:
		}
		res, err := http.Get(in.api + "/livez") //nolint:noctx // this machine
		if err != nil {
			return false, nil //nolint:nilerr // It does not listen yet.
		}
		return in.clock.Asleep() >= loops, res.Body.Close()
	})
}

// startWorker starts a worker of a build in a process of its own and gives it the tasks.
func (in *installation) startWorker(ctx context.Context, build string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding the program: %w", err)
	}
	cmd := exec.Command(program, workerArg) //nolint:noctx // this program; it is killed by name
	cmd.Env, cmd.Stdout, cmd.Stderr = append(in.environ, "TEMPORAL_WORKER_BUILD_ID="+build), in.log, in.log
	if _, err := cmd.StdinPipe(); err != nil { // A worker ends with what started it.
		return fmt.Errorf("starting a worker: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting a worker: %w", err)
	}
	in.workers[build] = cmd
	if in.temporal == nil {
		ring, err := seal.Parse(lookup(in.environ, "COACH_PAYLOAD_KEYS"))
		if err != nil {
			return fmt.Errorf("reading the key: %w", err)
		}
		in.temporal, err = client.Dial(client.Options{HostPort: in.engine.Address(), Logger: silent{},
			DataConverter: converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), ring.Codec())})
		if err != nil {
			return fmt.Errorf("reaching the engine: %w", err)
		}
	}
	err = in.await(ctx, "a worker", func() (bool, error) {
		queue, err := in.temporal.DescribeTaskQueue(ctx, wire.QueueCoach, enums.TASK_QUEUE_TYPE_WORKFLOW)
		return err == nil && len(queue.GetPollers()) > 0, nil
	})
	if err != nil {
		return err
	}
	cfg, err := config.Load(in.environ, nil)
	if err != nil {
		return fmt.Errorf("reading the settings: %w", err)
	}
	d := connect.NewDeployment(cfg, in.temporal)
	return in.await(ctx, "the route", func() (bool, error) {
		route, err := d.Read(ctx)
		if err == nil && route.Current != build {
			err = d.Promote(ctx, rollout.Promotion{Build: build})
		}
		return err == nil, nil
	})
}

// killWorker ends a worker as the loss of its machine does, or by a drain.
func (in *installation) killWorker(build string, how syscall.Signal) error {
	cmd := in.workers[build]
	delete(in.workers, build)
	if err := cmd.Process.Signal(how); err != nil {
		return fmt.Errorf("ending a worker: %w", err)
	}
	_ = cmd.Wait() // It was told to end.
	return nil
}

// restartEngine stops the engine and starts it on the same folder and port.
func (in *installation) restartEngine(ctx context.Context) (err error) {
	in.engine.Stop()
	in.engine, err = temporal.Start(ctx, in.config)
	return err
}

func (in *installation) openRows(ctx context.Context) (err error) {
	if in.rows, err = sql.Open("sqlite", in.file("coachline.db")+"?_pragma=busy_timeout(60000)&mode=ro&_time_format=sqlite"); err != nil {
		return fmt.Errorf("opening the database: %w", err)
	}
	ring, err := seal.Parse(lookup(in.environ, "COACH_PAYLOAD_KEYS"))
	if err != nil {
		return fmt.Errorf("reading the key: %w", err)
	}
	in.store, err = store.Open(ctx, store.Config{URL: "sqlite:" + in.file("coachline.db"), Sealer: ring})
	if err != nil {
		return fmt.Errorf("opening the store: %w", err)
	}
	in.stop = append(in.stop, in.rows.Close, in.store.Close)
	return nil
}

// close ends everything, the newest first.
func (in *installation) close() error {
	var problems []error
	for build := range in.workers {
		problems = append(problems, in.killWorker(build, syscall.SIGKILL))
	}
	for i := len(in.stop) - 1; i >= 0; i-- {
		problems = append(problems, in.stop[i]())
	}
	if in.temporal != nil {
		in.temporal.Close()
	}
	return errors.Join(problems...)
}

// await asks until something is there, for at most a minute.
func (in *installation) await(ctx context.Context, what string, isThere func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	for {
		there, err := isThere()
		if err != nil {
			return fmt.Errorf("waiting for %s: %w", what, err)
		}
		if there {
			return nil
		}
		if wait.For(ctx, pollEvery) != nil {
			return fmt.Errorf("waiting for %s: it is not there after %s", what, readyLimit)
		}
	}
}

// call asks the API, as an operator's program does.
func (in *installation) call(ctx context.Context, method, path string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("writing a request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, method, path, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("writing a request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("asking: %w", err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s %s", method, path, res.Status, answer)
	}
	if into == nil {
		return nil
	}
	out := struct {
		Result any `json:"result"`
	}{into}
	if err := json.Unmarshal(answer, &out); err != nil {
		return fmt.Errorf("reading the answer to %s: %w", path, err)
	}
	return nil
}

// runWorker is a worker on the clock of the installation, until it is told to end or the
// installation's process is gone.
func runWorker(ctx context.Context, environ []string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // It ends when the other end does.
		cancel()
	}()
	clock, err := temporal.OpenClock(lookup(environ, clockVariable))
	if err != nil {
		return err
	}
	cfg, err := config.Load(environ, nil)
	if err != nil {
		return fmt.Errorf("reading the settings: %w", err)
	}
	return worker.Run(onClock(ctx, clock), cfg)
}

func lookup(environ []string, name string) string {
	for _, line := range environ {
		if value, found := strings.CutPrefix(line, name+"="); found {
			return value
		}
	}
	return ""
}

// silent drops the client's log.
type silent struct{}

// Debug implements log.Logger.
func (silent) Debug(string, ...any) {}

// Info implements log.Logger.
func (silent) Info(string, ...any) {}

// Warn implements log.Logger.
func (silent) Warn(string, ...any) {}

// Error implements log.Logger.
func (silent) Error(string, ...any) {}
