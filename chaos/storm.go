package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver named "pgx"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"coachline/dev/temporal"
	"coachline/internal/pgtest"
	"coachline/internal/sim/twilio"
)

// How much of everything a storm has. A longer one has more people for a longer time.
const (
	shortPeople, longPeople = 10, 24
	shortStorm, longStorm   = time.Minute, 6 * time.Minute
	// pace is about how long a person waits before the next text, killGap from one kill
	// to the next.
	pace    = 3 * time.Second
	killGap = 1500 * time.Millisecond
	// spoiled is how many of a hundred calls go wrong.
	spoiled = 8
	// longestFreeze is more than the ten seconds after which a heartbeat is missed.
	longestFreeze = 14 * time.Second
	// latestReport is after the product has asked what became of a text.
	latestReport = 35 * time.Second
)

// storm is an installation of real processes.
type storm struct {
	*installation
	folder   string
	programs map[string]pgtest.Program
	address  map[string]string // of the servers
	proxy    net.Listener      // before PostgreSQL

	drawing sync.Mutex
	random  *rand.Rand
	calm    bool
	counts  map[string]int
	pages   map[string]int // by the id of the alert
}

// runStorm has people text while processes are killed, and judges each of them as a turn
// is judged.
func runStorm(ctx context.Context, o options, out io.Writer) (right bool, err error) {
	for o.seed == 0 {
		o.seed = rand.Uint64N(1_000_000)
	}
	count, lasts := longPeople, longStorm
	if o.short {
		count, lasts = shortPeople, shortStorm
	}
	fmt.Fprintf(out, "seed %d, %d people, %s\n", o.seed, count, lasts)
	s, err := startStorm(ctx, o)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, s.end(right)) }()
	people, err := s.enrolPeople(count)
	if err != nil {
		return false, err
	}
	stormy, over := context.WithTimeout(ctx, lasts)
	defer over()
	var group sync.WaitGroup
	group.Go(func() { s.killUntil(stormy) })
	wants, problems := make([]expectation, count), make([]error, count)
	for i, t := range people {
		group.Go(func() { wants[i], problems[i] = s.text(stormy, t, i) })
	}
	group.Wait()
	return s.judgeAll(out, people, wants, problems), nil
}

// judgeAll waits until nothing is under way and prints what is wrong.
func (s *storm) judgeAll(out io.Writer, people []*turn, wants []expectation, problems []error) bool {
	right := true
	var group sync.WaitGroup
	for i, t := range people {
		group.Go(func() { problems[i] = errors.Join(problems[i], t.settle()) })
	}
	group.Wait()
	for i, t := range people {
		v := verdict{}
		if problems[i] != nil {
			v.add("%v", problems[i])
		}
		v = append(v, t.judge(wants[i])...)
		s.judgePages(&v, t.id, wants[i].safety)
		for _, wrong := range v {
			right = false
			fmt.Fprintf(out, "%s (%s): %s\n", t.number, t.id, wrong)
		}
	}
	s.drawing.Lock()
	defer s.drawing.Unlock()
	total := 0
	for what, n := range s.counts {
		total += n
		fmt.Fprintf(out, "%5d %s\n", n, what)
	}
	for _, role := range s.names {
		if s.counts["killed "+strings.TrimRight(role, "12")] == 0 {
			right = false
			fmt.Fprintf(out, "no %s was killed\n", role)
		}
	}
	word := "right"
	if !right {
		word = "WRONG; kept: " + s.folder
	}
	fmt.Fprintf(out, "storm %d pages, %d faults, %s\n", len(s.pages), total, word)
	return right
}

// judgePages verifies that the alert of each text of danger, and no other, was paged.
func (s *storm) judgePages(v *verdict, id string, want int) {
	s.drawing.Lock()
	defer s.drawing.Unlock()
	n := 0
	for page := range s.pages {
		if strings.HasSuffix(page, " "+id) {
			n++
		}
	}
	if n != want {
		v.add("%d alerts were paged instead of %d", n, want)
	}
}

// startStorm builds the programs and starts everything.
func startStorm(ctx context.Context, o options) (*storm, error) {
	// The cluster's own user has to get through to its folder.
	folder, err := os.MkdirTemp("", "coachline-storm-")
	if err == nil {
		err = os.Chmod(folder, 0o711) //nolint:gosec // search permission is all that others get
	}
	if err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	quiet := sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	around := &environment{dir: folder, cache: o.cache, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}, quiet: quiet, instances: map[string]*instance{}}
	l := &installation{ctx: ctx, surroundings: around, cache: o.cache, roles: map[string]*instance{}, thinking: 100 * time.Millisecond}
	s := &storm{
		installation: l, folder: folder, programs: map[string]pgtest.Program{}, address: map[string]string{}, calm: true,
		random: rand.New(rand.NewPCG(o.seed, 0)), counts: map[string]int{}, pages: map[string]int{},
	}
	l.settings = []string{"TEMPORAL_NAMESPACE=default", "COACH_DATABASE_CONNECTIONS=10", "COACH_CONTINUE_AS_NEW_EVENTS=60"}
	l.launch, l.draw, l.reporting = s.launchProcess, s.drawFault, s.drawReport
	around.page = s.takePage
	if err := s.startAll(ctx); err != nil {
		return nil, errors.Join(err, s.end(false))
	}
	return s, nil
}

func (s *storm) startAll(ctx context.Context) (err error) {
	if s.carrier, err = s.newCarrier(listLag); err != nil {
		return err
	}
	s.handlers = map[string]http.Handler{"carrier": s.carrier.Handler(), "model": s.newModel().Handler()}
	if err := s.surroundings.serveStandIns(ctx); err != nil {
		return err
	}
	s.settings = append(s.settings, "COACH_ALERT_URL="+s.surroundings.base+"/page")
	if err := s.prepareServers(ctx); err != nil {
		return err
	}
	for _, role := range []string{"postgres", "temporal"} {
		if err := s.start(role); err != nil {
			return err
		}
	}
	if err := s.openStores(ctx); err != nil {
		return err
	}
	for _, role := range []string{"starter1", "starter2", "worker1", "worker2"} {
		if err := s.start(role); err != nil {
			return err
		}
	}
	s.names = []string{"postgres", "temporal", "starter1", "starter2", "worker1", "worker2"}
	return s.await(s.areReady)
}

// prepareServers builds the programs and makes PostgreSQL's cluster.
func (s *storm) prepareServers(ctx context.Context) error {
	own, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	s.programs["chaos"] = pgtest.Program{Path: own}
	for name, source := range map[string]string{"dev": "coachline/dev", "coachline": "coachline"} {
		path := filepath.Join(s.folder, name)
		if out, err := exec.CommandContext(ctx, "go", "build", "-ldflags", "-s -w", "-o", path, source).CombinedOutput(); err != nil {
			return fmt.Errorf("building %s: %w: %s", source, err, out)
		}
		s.programs[name] = pgtest.Program{Path: path}
	}
	var ports [2]int
	for i := range ports {
		var err error
		if ports[i], err = temporal.FreePort(); err != nil {
			return err
		}
	}
	server, err := pgtest.Prepare(ctx, filepath.Join(s.folder, "postgres"), ports[0])
	if err != nil {
		return err
	}
	s.programs["postgres"] = server
	s.address["postgres"] = fmt.Sprintf("127.0.0.1:%d", ports[0])
	s.surroundings.temporal = fmt.Sprintf("127.0.0.1:%d", ports[1])
	s.programs["temporal"] = pgtest.Program{Path: s.programs["dev"].Path, Args: []string{
		"--data", filepath.Join(s.folder, "temporal"), "--no-worker", "--no-starter", "--http", "127.0.0.1:0",
		"--temporal-port", fmt.Sprint(ports[1]), "--ui-port", "0", "--sim-port", "0",
	}}
	return nil
}

// openStores makes the product's database, and opens it and the Temporal server.
func (s *storm) openStores(ctx context.Context) error {
	at := "postgres://" + pgtest.Superuser + "@" + s.address["postgres"] + "/"
	first, err := sql.Open("pgx", at+"postgres?sslmode=disable")
	if err != nil {
		return fmt.Errorf("opening PostgreSQL: %w", err)
	}
	defer first.Close()
	err = s.await(func(ctx context.Context) error {
		_, err := first.ExecContext(ctx, "CREATE DATABASE coach")
		return err
	})
	if err != nil {
		return fmt.Errorf("waiting for PostgreSQL: %w", err)
	}
	if err := s.serveProxy(ctx); err != nil {
		return err
	}
	s.postgres = "postgres://" + pgtest.Superuser + "@" + s.proxy.Addr().String() + "/coach?sslmode=disable"
	if s.db, err = sql.Open("pgx", at+"coach?sslmode=disable"); err != nil {
		return fmt.Errorf("opening PostgreSQL: %w", err)
	}
	return s.await(func(context.Context) (err error) {
		s.temporal, err = client.DialContext(ctx, client.Options{HostPort: s.surroundings.temporal, Logger: s.surroundings.quiet})
		return err
	})
}

// launchProcess runs an instance as a process. One that ends by itself is started again,
// as by a service manager.
func (s *storm) launchProcess(i *instance) error {
	program, ok := s.programs[i.role]
	env := []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=" + s.folder}
	if role := strings.TrimRight(i.role, "12"); !ok {
		program = s.programs["coachline"]
		program.Args = []string{role}
		if ahead := clocks[i.role]; ahead != 0 {
			program = s.programs["chaos"]
			program.Args = []string{roleArg, role, ahead.String()}
		}
		env = append(env, s.environment(i)...)
	}
	log, err := os.OpenFile(filepath.Join(s.folder, i.role+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("opening the log of %s: %w", i.role, err)
	}
	cmd := exec.Command(program.Path, program.Args...) //nolint:noctx // it is killed
	cmd.Dir, cmd.Env = "/", env
	ended, err := pgtest.Run(cmd, program.As, log)
	if err != nil {
		return fmt.Errorf("starting %s: %w", i.role, err)
	}
	i.process = cmd.Process
	i.cancel = func() { _ = cmd.Process.Kill() } // it may have ended
	go func() {
		<-ended
		if !i.isDead() {
			s.note("ended by itself " + i.role)
			i.kill()
		}
		i.done <- nil
	}()
	return nil
}

func (s *storm) note(what string) {
	s.drawing.Lock()
	defer s.drawing.Unlock()
	s.counts[what]++
}

// areReady fails unless every starter reaches database and Temporal.
func (s *storm) areReady(ctx context.Context) error {
	for _, role := range []string{"starter1", "starter2"} {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.current(role).address+"/readyz", nil)
		if err != nil {
			return fmt.Errorf("building a request: %w", err)
		}
		res, err := s.surroundings.client.Do(req)
		if err != nil {
			return fmt.Errorf("asking %s: %w", role, err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("%s says %s", role, res.Status)
		}
	}
	return nil
}

// drawFault says what goes wrong with a call.
func (s *storm) drawFault(e effect) fault {
	s.drawing.Lock()
	defer s.drawing.Unlock()
	if s.calm || s.random.IntN(100) >= spoiled {
		return none
	}
	list := observedPoint{effect: e}.faults()
	what := list[s.random.IntN(len(list))]
	s.counts["call: "+string(what)]++
	return what
}

// drawReport has some delivery reports come twice, or in another order, none too late.
func (s *storm) drawReport(r *twilio.Report) {
	s.drawing.Lock()
	defer s.drawing.Unlock()
	r.After = min(r.After, latestReport)
	switch s.random.IntN(8) {
	case 0:
		r.Twice = true
	case 1:
		slices.Reverse(r.States)
	}
}

// takePage receives an alert; some answers are lost.
func (s *storm) takePage(w http.ResponseWriter, r *http.Request) {
	var page struct {
		ID          string `json:"id"`
		Participant string `json:"participant_id"`
	}
	if json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&page) != nil || r.Header.Get("Idempotency-Key") != page.ID {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if s.drawFault(reads) == before {
		twilio.Reset(w)
		return
	}
	s.drawing.Lock()
	s.pages[page.ID+" "+page.Participant]++
	s.drawing.Unlock()
	if s.drawFault(reads) != none {
		twilio.Reset(w)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// killUntil kills and freezes processes until the storm is over.
func (s *storm) killUntil(ctx context.Context) {
	s.setCalm(false)
	defer s.setCalm(true)
	for n := 0; ; n++ {
		s.drawing.Lock()
		// Each is killed in its turn, so that a short storm has all.
		role, gap := s.names[n%len(s.names)], killGap/2+time.Duration(s.random.Int64N(int64(killGap)))
		frozen := time.Duration(0)
		if s.random.IntN(4) == 0 {
			frozen = time.Duration(s.random.Int64N(int64(longestFreeze)))
		}
		s.drawing.Unlock()
		if !twilio.Pause(ctx, gap) {
			return
		}
		i := s.current(role)
		if i == nil || i.isDead() {
			continue
		}
		if frozen == 0 || role == "postgres" || n < len(s.names) {
			s.note("killed " + strings.TrimRight(role, "12"))
			i.kill()
			continue
		}
		s.note("frozen " + strings.TrimRight(role, "12"))
		_ = i.process.Signal(syscall.SIGSTOP) // it may have ended
		time.AfterFunc(frozen, func() { _ = i.process.Signal(syscall.SIGCONT) })
	}
}

func (s *storm) setCalm(calm bool) {
	s.drawing.Lock()
	defer s.drawing.Unlock()
	s.calm = calm
}

func (l *installation) enrolPeople(count int) ([]*turn, error) {
	people, problems := make([]*turn, count), make([]error, count)
	var group sync.WaitGroup
	for i := range people {
		group.Go(func() { people[i], problems[i] = l.enrol() })
	}
	group.Wait()
	return people, errors.Join(problems...)
}

// text has a person text until the storm is over, and says what has to come of it: some
// ask for a prompt, some are in danger once, some hear from an operator, some opt out at
// last. Some texts are delivered twice.
func (s *storm) text(stormy context.Context, t *turn, index int) (want expectation, err error) {
	random := rand.New(rand.NewPCG(uint64(index), 1))
	for turns := 0; twilio.Pause(stormy, pace/2+time.Duration(random.Int64N(int64(pace)))); turns++ {
		switch {
		case turns == 2 && index%5 == 1:
			want.safety = 1
			err = t.sendText("i want to kill myself", 8000)
		case turns == 2 && index%5 == 2:
			want.operator = 1
			for range 2 {
				err = errors.Join(err, t.callAPI(http.MethodPost, "/conversation/participants/"+t.id+"/messages", "key-"+t.id, map[string]string{"body": "from the operator"}, nil))
			}
		case turns == 2 && index%5 == 3:
			want.schedules, want.goal = 1, true
			err = t.say("daily " + clockIn(12*time.Hour) + " goal walking")
		default:
			err = t.say("hello")
			if err == nil && random.IntN(5) == 0 {
				err = t.sendText(fmt.Sprintf("m%04d again", t.texts), t.texts)
			}
		}
		if err != nil {
			return want, err
		}
	}
	want.replies = t.texts
	if index%5 == 4 {
		want.stopped = true
		err = t.sendText("STOP", 9999)
		t.stopAt = time.Now()
	}
	return want, err
}

// end kills everything, and keeps logs and databases of a storm that went wrong.
func (s *storm) end(right bool) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	var err error
	for _, role := range []string{"worker1", "worker2", "starter1", "starter2", "temporal", "postgres"} {
		if i := s.current(role); i != nil {
			i.end.Do(func() { close(i.dead) })
			i.cancel()
			err = errors.Join(err, <-i.done)
		}
	}
	if s.db != nil {
		err = errors.Join(err, s.db.Close())
	}
	if s.proxy != nil {
		err = errors.Join(err, s.proxy.Close())
	}
	if s.temporal != nil {
		s.temporal.Close()
	}
	if s.carrier != nil {
		err = errors.Join(err, s.carrier.Close())
	}
	if s.surroundings.serving != nil {
		err = errors.Join(err, s.surroundings.serving.Close())
	}
	if right {
		err = errors.Join(err, os.RemoveAll(s.folder))
	}
	return err
}
