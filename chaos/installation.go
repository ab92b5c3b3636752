package main

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	_ "modernc.org/sqlite" // the driver of the judge's own connection

	"coachline/dev/temporal"
	"coachline/internal/config"
	"coachline/internal/connect"
	"coachline/internal/database"
	"coachline/internal/metrics"
	"coachline/internal/sim/twilio"
	"coachline/models/wire"
	"coachline/starter"
	"coachline/worker"
)

const (
	// publicURL is what the carrier signs.
	publicURL = "http://coach.test"
	// rest is how long a killed process is away.
	rest       = 500 * time.Millisecond
	sealKey    = "0123456789abcdef0123456789abcdef"
	readyLimit = 5 * time.Minute
	lookEvery  = 100 * time.Millisecond
)

// installation is one of the product: a namespace, a database, one worker
// and one starter. It runs one turn after the other, each with one fault at
// most.
type installation struct {
	// ctx ends with the program.
	ctx          context.Context
	surroundings *environment
	number       int
	cache        int
	settings     []string
	carrier      *twilio.Server
	// handlers are the stand-ins, "carrier" and "model".
	handlers map[string]http.Handler
	temporal client.Client // the judge's own
	db       *sql.DB       // the judge's own
	postgres string        // address of its database; empty: a file
	thinking time.Duration // of the model
	// launch runs an instance until its cancel is called.
	launch func(*instance) error
	names  []string // of the roles
	// draw says what goes wrong with a call in place of one planned fault; reporting
	// changes a delivery report.
	draw      func(effect) fault
	reporting func(*twilio.Report)
	called    func() // by a model call

	mu       sync.Mutex
	roles    map[string]*instance
	closed   bool
	watching bool
	counts   counter
	passed   []observedPoint
	planned  point
	what     fault
	hit      bool
	people   int
}

// newInstallation starts an installation and waits until it works.
func newInstallation(ctx context.Context, s *environment, sc *scenario) (*installation, error) {
	l := &installation{ctx: ctx, surroundings: s, number: int(s.installations.Add(1)), cache: s.cache, settings: sc.settings, thinking: sc.thinking, roles: map[string]*instance{}, names: []string{"starter", "worker"}}
	l.launch = l.launchHere
	var err error
	if l.carrier, err = l.newCarrier(cmp.Or(sc.listLag, listLag)); err != nil {
		return nil, err
	}
	l.handlers = map[string]http.Handler{"carrier": l.carrier.Handler(), "model": l.newModel().Handler()}
	if l.temporal, err = s.makeNamespace(ctx, l.namespace()); err != nil {
		return nil, err
	}
	for _, role := range l.names {
		if err := l.start(role); err != nil {
			return nil, errors.Join(err, l.close())
		}
	}
	if l.db, err = sql.Open("sqlite", l.file()+"?_pragma=busy_timeout(60000)&_time_format=sqlite"); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the database: %w", err), l.close())
	}
	l.db.SetMaxOpenConns(1)
	if err := l.await(l.ready); err != nil {
		return nil, errors.Join(fmt.Errorf("waiting for installation %d: %w", l.number, err), l.close())
	}
	return l, nil
}

func (l *installation) namespace() string { return fmt.Sprintf("installation%d", l.number) }

func (l *installation) databaseURL() string {
	if l.postgres != "" {
		return l.postgres
	}
	return "sqlite:" + l.file()
}

func (l *installation) file() string { return l.surroundings.file(l.namespace() + ".db") }

// environment is the product's, with what makes a turn longer than it need be
// left out.
func (l *installation) environment(i *instance) []string {
	key := base64.StdEncoding.EncodeToString([]byte(sealKey))
	return append([]string{
		"DATABASE_URL=" + l.databaseURL(), "COACH_DATABASE_CONNECTIONS=3", "TEMPORAL_ADDRESS=" + l.surroundings.temporal, "TEMPORAL_NAMESPACE=" + l.namespace(),
		"COACH_HTTP_ADDR=" + i.address, "COACH_PUBLIC_URL=" + publicURL, "COACH_PAYLOAD_KEYS=k1:" + key,
		"TWILIO_ACCOUNT_SID=" + accountSID, "TWILIO_AUTH_TOKEN=" + authToken, "TWILIO_FROM=" + ourNumber,
		"TWILIO_BASE_URL=" + l.surroundings.base + "/" + i.name, "OPENAI_API_KEY=none", "OPENAI_BASE_URL=" + l.surroundings.base + "/" + i.name + "/v1",
		"COACH_DEPLOYMENT_VERSIONING=off", "COACH_QUIET_HOURS=", "COACH_DEBOUNCE=200ms", "COACH_MEMORY_STEP=off",
		"COACH_PREP_TIME=30m", "COACH_PROMPT_SPREAD=0", "COACH_REMINDER_DELAY=8s", "COACH_AUTO_FEEDBACK_DELAY=0",
		"COACH_FEEDBACK_TIMEOUT=0", "COACH_FEEDBACK_FOLLOWUP=0", "COACH_MAX_INITIATED_PER_DAY=0", "COACH_TEXTS_PER_MINUTE=0", "COACH_TEXTS_PER_DAY=0", "COACH_LOOP_MUTE=0",
		"COACH_WORKFLOW_POLLERS=2", "COACH_ACTIVITY_POLLERS=2",
		"COACH_WORKFLOW_CACHE=" + strconv.Itoa(l.cache),
	}, l.settings...)
}

// start begins a new run of a role.
func (l *installation) start(role string) error {
	port, err := temporal.FreePort()
	if err != nil {
		return err
	}
	i := &instance{installation: l, role: role, address: fmt.Sprintf("127.0.0.1:%d", port), dead: make(chan struct{}), done: make(chan error, 1)}
	l.surroundings.add(i)
	if err := l.launch(i); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.roles[role] = i
	return nil
}

func (l *installation) launchHere(i *instance) error {
	cfg, err := config.Load(l.environment(i), nil)
	if err != nil {
		return fmt.Errorf("building settings: %w", err)
	}
	m, err := metrics.New(metrics.Config{})
	if err != nil {
		return fmt.Errorf("building metrics: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	i.cancel = cancel
	ctx = database.WithConnector(ctx, func(c driver.Connector) driver.Connector { return connector{Connector: c, instance: i} })
	ctx = connect.WithDialOptions(ctx, grpc.WithChainUnaryInterceptor(i.intercept))
	go func() {
		if i.role == "worker" {
			i.done <- worker.RunWith(ctx, cfg, m)
			return
		}
		i.done <- starter.RunRoleWith(ctx, cfg, m)
	}()
	return nil
}

// restart replaces a killed instance after a while.
func (l *installation) restart(role string) {
	twilio.Pause(l.ctx, rest)
	l.mu.Lock()
	closed := l.closed
	l.mu.Unlock()
	if closed {
		return
	}
	if err := l.start(role); err != nil {
		panic(err)
	}
}

// current is the instance that plays a role; nil while there is none.
func (l *installation) current(role string) *instance {
	l.mu.Lock()
	defer l.mu.Unlock()
	if role == "starter" && l.roles[role] == nil {
		role += strconv.Itoa(1 + rand.IntN(2)) // a storm has two
	}
	return l.roles[role]
}

// arrive counts a call while a turn is watched, and says what is to go wrong
// with it.
func (l *installation) arrive(p point, e effect) fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.draw != nil {
		return l.draw(e)
	}
	if !l.watching {
		return none
	}
	p = l.counts.count(p)
	l.passed = append(l.passed, observedPoint{p, e})
	if l.hit || p != l.planned {
		return none
	}
	l.hit = true
	return l.what
}

// watch begins to count, with one fault planned; the zero point plans none.
func (l *installation) watch(p point, what fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watching, l.counts, l.passed, l.planned, l.what, l.hit = true, counter{}, nil, p, what, false
}

// unwatch ends the counting; hit says whether the planned point was passed.
func (l *installation) unwatch() (hit bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watching = false
	return l.hit
}

func (l *installation) announceModelCall() {
	l.mu.Lock()
	called := l.called
	l.called = nil
	l.mu.Unlock()
	if called != nil {
		called()
	}
}

// onModelCall calls back once, when the model is next asked.
func (l *installation) onModelCall(called func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.called = called
}

// ready fails unless both roles work.
func (l *installation) ready(ctx context.Context) error {
	for _, role := range l.names {
		select {
		case err := <-l.current(role).done:
			l.current(role).done <- err // close waits for it too
			return fmt.Errorf("%s ended: %w", role, errors.Join(err, errFinal))
		default:
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+l.current("starter").address+"/readyz", nil)
	if err != nil {
		return fmt.Errorf("building a request: %w", err)
	}
	res, err := l.surroundings.client.Do(req)
	if err != nil {
		return fmt.Errorf("asking the starter: %w", err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the starter says %s", res.Status)
	}
	queue, err := l.temporal.DescribeTaskQueue(ctx, wire.QueueCoach, enums.TASK_QUEUE_TYPE_WORKFLOW)
	if err == nil && len(queue.GetPollers()) == 0 {
		err = errors.New("no worker asks for tasks")
	}
	return err
}

// errFinal: waiting is of no use.
var errFinal = errors.New("it will not come back")

// await repeats an attempt until it succeeds.
func (l *installation) await(attempt func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), readyLimit)
	defer cancel()
	for {
		err := attempt(ctx)
		if err == nil || errors.Is(err, errFinal) {
			return err
		}
		if !twilio.Pause(ctx, lookEvery) {
			return err
		}
	}
}

// close ends both roles as a kill does.
func (l *installation) close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	for _, role := range l.names {
		if i := l.current(role); i != nil {
			i.end.Do(func() { close(i.dead) })
			i.cancel()
			if err := <-i.done; err != nil {
				l.surroundings.quiet.Debug("killed role ended", "role", role, "error", err)
			}
		}
	}
	var err error
	if l.db != nil {
		err = l.db.Close()
	}
	l.temporal.Close()
	return errors.Join(err, l.carrier.Close())
}
