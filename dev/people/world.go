package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"coachline/dev/temporal"
	"coachline/models"
	"coachline/models/wire"
)

const (
	// begins is when every play begins: a run's time only goes forward.
	begins = "2030-01-07T00:00:00Z"
	// mark is how often the driver stops where nothing is due: the schedule of reconciliation
	// has real time alone.
	mark = 6 * time.Hour
	// sweep is longer than the starter waits between two looks at what is to be done.
	sweep = 3 * time.Second
	// escalation is the product's own, after which an alert pages again.
	escalation = 15 * time.Minute
)

// world moves an installation and its people through time.
type world struct {
	*installation
	ctx    context.Context
	coach  *coach
	people []*player
	begin  time.Time
	end    time.Time
	days   int
	out    io.Writer
	// breaks are what goes wrong in the run, by day of the play.
	breaks  []breakage
	builds  int
	marked  time.Time
	began   time.Time
	steps   int
	alerted map[string]bool // alerts that the operator knows of
	refused []string        // commands of the operator
	// spent is how long the driver waited, by cause.
	spent map[string]time.Duration
	// actor plays the people, scanner reads their transcripts; nil is none.
	actor, scanner *second
}

// spend counts a wait from a moment until now.
func (w *world) spend(cause string, from time.Time) { w.spent[cause] += time.Since(from) }

// breakage is something that goes wrong at a day.
type breakage struct {
	day  int
	name string
	do   func(*world) error
}

func (w *world) now() time.Time { return w.clock.Now() }

// play runs until the end of the last day.
func (w *world) play() error {
	for _, x := range w.people {
		first := x.instant(0, x.Begins)
		x.add(deed{at: first, do: func() error { return w.enrol(x) }})
	}
	for day := 0; ; day++ {
		until := w.begin.AddDate(0, 0, day+1)
		for _, x := range w.people {
			x.planDay(day)
		}
		for len(w.breaks) > 0 && w.breaks[0].day <= day {
			from := time.Now()
			if err := w.breaks[0].do(w); err != nil {
				return fmt.Errorf("day %d: %s: %w", day, w.breaks[0].name, err)
			}
			w.spend(w.breaks[0].name, from)
			w.breaks = w.breaks[1:]
		}
		if err := w.until(until); err != nil {
			return fmt.Errorf("day %d: %w", day, err)
		}
		if (day+1)%10 == 0 {
			fmt.Fprintf(w.out, "day %d after %s, %d steps\n", day+1, time.Since(w.began).Round(time.Second), w.steps)
		}
		if !until.Before(w.end) {
			return w.moveAll()
		}
	}
}

// until moves to an instant, with a stop wherever something is due.
func (w *world) until(to time.Time) error {
	for {
		at, err := w.next(to)
		if err != nil {
			return err
		}
		if err := w.step(at); err != nil {
			return err
		}
		for _, x := range w.people {
			for len(x.agenda) > 0 && !x.agenda[0].at.After(w.now()) {
				d := x.agenda[0]
				x.agenda = x.agenda[1:]
				if err := w.carryOut(x, d); err != nil {
					return fmt.Errorf("%s: %w", x.Key, err)
				}
			}
		}
		if err := w.listen(); err != nil {
			return err
		}
		if !at.Before(to) {
			return nil
		}
	}
}

// next is the earliest instant at which something is to be done, at most to.
func (w *world) next(to time.Time) (time.Time, error) {
	earliest := func(at time.Time) {
		if !at.IsZero() && at.Before(to) {
			to = at
		}
	}
	for _, x := range w.people {
		earliest(x.due)
		if len(x.agenda) > 0 {
			earliest(x.agenda[0].at)
		}
	}
	earliest(w.marked.Add(mark))
	now := w.now()
	for query, after := range dueRows {
		var at time.Time
		switch err := w.rows.QueryRowContext(w.ctx, query).Scan(&at); {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return to, fmt.Errorf("reading what is due: %w", err)
		case at.Add(after).After(now):
			earliest(at.Add(after))
		}
	}
	if to.Before(now) {
		to = now
	}
	return to, nil
}

// dueRows are what a sweep does when some time has passed since an instant of a row.
var dueRows = map[string]time.Duration{
	`SELECT claimed_until FROM memory_queue ORDER BY claimed_until LIMIT 1`:                                                      0,
	`SELECT created_at FROM alarms WHERE pages AND acknowledged_at IS NULL AND escalated_at IS NULL ORDER BY created_at LIMIT 1`: escalation + time.Second,
}

// step moves the clock, and then who has something due.
func (w *world) step(to time.Time) error {
	w.steps++
	if err := w.remembered(to); err != nil {
		return err
	}
	var due []*player
	for _, x := range w.people {
		if x.id != "" && (x.moves || !x.due.IsZero() && !x.due.After(to.Add(temporal.Slack))) {
			due = append(due, x)
		}
	}
	if err := w.move(due, to); err != nil {
		return err
	}
	if !w.now().Before(w.marked.Add(mark)) {
		w.marked = w.now()
		err := w.temporal.ScheduleClient().GetHandle(w.ctx, wire.ScheduleReconcile).Trigger(w.ctx, client.ScheduleTriggerOptions{})
		if err != nil {
			return fmt.Errorf("beginning the reconciliation: %w", err)
		}
	}
	return w.quiet()
}

// move forwards some people side by side, and asks what is due of them then.
func (w *world) move(people []*player, to time.Time) error {
	defer w.spend("moving people", time.Now())
	var group sync.WaitGroup
	problems := make([]error, len(people))
	for i, x := range people {
		group.Go(func() {
			if problems[i] = w.engine.Forward(w.ctx, models.WorkflowID(x.id), to); problems[i] == nil {
				problems[i] = w.ask(x)
			}
			x.moves = false
		})
	}
	group.Wait()
	if len(people) > 0 {
		w.clock.AtLeast(to.Add(temporal.Slack))
	}
	return errors.Join(problems...)
}

// moveAll brings everybody to the clock's time.
func (w *world) moveAll() error {
	enrolled := slices.DeleteFunc(slices.Clone(w.people), func(x *player) bool { return x.id == "" })
	if err := w.move(enrolled, w.now()); err != nil {
		return err
	}
	return errors.Join(w.quiet(), w.listen())
}

// ask reads what is due of a person.
func (w *world) ask(x *player) error {
	var view wire.StatusView
	err := w.await(w.ctx, "the state", func() (bool, error) {
		value, err := w.temporal.QueryWorkflow(w.ctx, models.WorkflowID(x.id), "", wire.QueryStatus)
		var early *serviceerror.WorkflowNotReady
		var late *serviceerror.DeadlineExceeded
		if errors.As(err, &early) || errors.As(err, &late) || errors.Is(err, context.DeadlineExceeded) {
			return false, nil // A new run's first task is about to be, or a busy machine's worker.
		}
		if err == nil {
			err = value.Get(&view)
		}
		return true, err //nolint:wrapcheck // wrapped below
	})
	if err != nil {
		return fmt.Errorf("asking %s what is due: %w", x.Key, err)
	}
	x.due = time.Time{}
	for _, d := range view.Due {
		if x.due.IsZero() || d.At.Before(x.due) {
			x.due = d.At
		}
	}
	return nil
}

// quiet waits until nothing is under way beside the workflows: the starter's loops wait for
// the clock, and nothing is untold, unsent or unreported.
func (w *world) quiet() error {
	var why string
	last := time.Now()
	err := w.await(w.ctx, "quiet", func() (bool, error) {
		w.spend(why, last)
		last = time.Now()
		if n := w.clock.Asleep(); n < loops {
			why = fmt.Sprintf("the starter's loops: %d", n)
			return false, nil
		}
		for _, q := range underWay {
			var n int
			if err := w.rows.QueryRowContext(w.ctx, q).Scan(&n); err != nil {
				return false, fmt.Errorf("reading what is under way: %w", err)
			}
			if n > 0 {
				why = q
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		err = fmt.Errorf("%w: %s", err, why)
	}
	return err
}

// underWay count what is being done beside the workflows.
var underWay = []string{
	`SELECT count(*) FROM notices WHERE delivered_at IS NULL`,
	`SELECT count(*) FROM outbox WHERE status IN ('queued','claimed','sending','accepted','sent')`,
}

// remembered waits until conversations that have rested by an instant are closed: a batch
// has ten minutes, which a step may skip.
func (w *world) remembered(by time.Time) error {
	turns, err := w.list(`SELECT turn_id FROM memory_queue WHERE claimed_until <= ?`, by.UTC())
	if err != nil {
		return err
	}
	w.clock.AtLeast(by)
	if len(turns) > 0 {
		w.clock.AtLeast(by.Add(sweep)) // The sweep may have been a moment ago.
	}
	defer w.spend("the memory", time.Now())
	return w.await(w.ctx, "the memory", func() (bool, error) {
		for len(turns) > 0 {
			var n int
			if err := w.rows.QueryRowContext(w.ctx, `SELECT count(*) FROM memory_queue WHERE turn_id = ?`, turns[0]).Scan(&n); err != nil || n > 0 {
				return false, err
			}
			turns = turns[1:]
		}
		return true, nil
	})
}

// enrol has a person enrolled, and the workflow moved as far as the clock.
func (w *world) enrol(x *player) error {
	var added struct {
		ID string `json:"id"`
	}
	err := w.call(w.ctx, http.MethodPost, w.api+"/conversation/participants", map[string]any{
		"phone_number": x.Phone, "name": x.Who.Name, "timezone": x.Who.Zone, "locale": x.Who.Locale, "background": x.Who.Background, "signup": true,
	}, &added)
	if err != nil {
		return err
	}
	x.id = added.ID
	if err := w.quiet(); err != nil {
		return err
	}
	return w.move([]*player{x}, w.now())
}

// carryOut does what a person does at an instant.
func (w *world) carryOut(x *player, d deed) error {
	if d.do != nil {
		return d.do()
	}
	if x.id == "" {
		return nil
	}
	said := w.phrase(x, d.says)
	if err := w.move([]*player{x}, w.now()); err != nil { // Never a text to who is under way.
		return err
	}
	body := x.slip(x.draw, join(said, d.asks.text))
	w.coach.learn(x.Who.Name, body, join(d.says.means, d.asks.means))
	x.said[d.says.text]++
	if own := join(said, d.asks.text); own != d.says.text {
		x.said[own]++ // It is no slip.
	}
	x.lines = append(x.lines, line{At: w.now(), Body: body, Own: d.says.text, Asks: d.asks.means, InDanger: d.inDanger, IsFixed: d.isFixed})
	var before int
	count := func(n *int) error {
		return w.rows.QueryRowContext(w.ctx, `SELECT count(*) FROM inbound WHERE participant_id = ?`, x.id).Scan(n)
	}
	if err := count(&before); err != nil {
		return fmt.Errorf("counting texts: %w", err)
	}
	if err := w.call(w.ctx, http.MethodPost, w.sim+"/sim/phones/"+url.PathEscape(x.Phone)+"/messages", map[string]string{"body": body}, nil); err != nil {
		return err
	}
	from := time.Now()
	err := w.await(w.ctx, "the text", func() (bool, error) {
		var now int
		err := count(&now)
		return now > before, err
	})
	w.spend("the text", from)
	if err != nil {
		return err
	}
	if err := w.quiet(); err != nil {
		return err
	}
	if err := w.move([]*player{x}, w.now()); err != nil {
		return err
	}
	return w.quiet()
}

// join puts a question behind what a person says.
func join(said, question string) string {
	if question == "" {
		return said
	}
	if !strings.ContainsAny(said[len(said)-1:], ".!?") {
		said += ","
	}
	return said + " " + question
}

// listen has each person read what came on the phone, and react.
func (w *world) listen() error {
	w.mu.Lock()
	texts := w.texts
	w.texts = nil
	w.mu.Unlock()
	for _, t := range texts {
		for _, x := range w.people {
			if x.Phone != t.To {
				continue
			}
			var kind, turn string
			err := w.rows.QueryRowContext(w.ctx, `SELECT kind, turn_id FROM outbox WHERE provider_sid = ?`, t.SID).Scan(&kind, &turn)
			if errors.Is(err, sql.ErrNoRows) {
				continue // One whose answer was lost, and that was sent again.
			}
			if err != nil {
				return fmt.Errorf("reading a text's kind: %w", err)
			}
			x.lines = append(x.lines, line{At: t.At, FromUs: true, Body: t.Body, Kind: models.EntryKind(kind), TurnID: turn})
			if turn == "" || !x.turns[turn] {
				x.turns[turn] = true
				x.react(models.EntryKind(kind), t.At)
			}
		}
	}
	return w.watch()
}

// watch has an operator see to alerts: half an hour after the page, so that a second one is
// due, they take the conversation over and write; the next morning they hand it back.
func (w *world) watch() error {
	rows, err := w.rows.QueryContext(w.ctx, `SELECT id, participant_id, created_at FROM alarms WHERE pages AND acknowledged_at IS NULL`)
	if err != nil {
		return fmt.Errorf("reading alerts: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, participant string
		var at time.Time
		if err := rows.Scan(&id, &participant, &at); err != nil {
			return fmt.Errorf("reading an alert: %w", err)
		}
		if w.alerted[id] {
			continue
		}
		w.alerted[id] = true
		for _, x := range w.people {
			if x.id == participant {
				w.planOperator(x, id, at)
			}
		}
	}
	return rows.Err()
}

func (w *world) planOperator(x *player, alert string, at time.Time) {
	path := w.api + "/conversation/participants/" + x.id
	ask := func(method, path string, body any) func() error {
		return func() error {
			// A command to a workflow moves nothing that is under way.
			if err := w.move([]*player{x}, w.now()); err != nil {
				return err
			}
			if err := w.call(w.ctx, method, path, body, nil); err != nil {
				w.refused = append(w.refused, fmt.Sprintf("%s, day %d: %s", x.Key, x.day(w.now()), shorten(err.Error())))
			}
			return errors.Join(w.quiet(), w.move([]*player{x}, w.now()))
		}
	}
	seen := at.Add(2 * escalation)
	x.add(deed{at: seen, do: ask(http.MethodPost, w.api+"/alerts/"+alert+"/acknowledge", map[string]any{})})
	x.add(deed{at: seen.Add(time.Minute), do: ask(http.MethodPost, path+"/takeover", map[string]any{"reason": "an alert", "until": at.Add(40 * time.Hour)})})
	x.add(deed{at: seen.Add(2 * time.Minute), do: ask(http.MethodPost, path+"/messages", map[string]any{"body": operatorText})})
	back := x.instant(x.day(at)+2, "10:00")
	x.add(deed{at: back, do: ask(http.MethodPost, path+"/attention", map[string]any{"clear": true, "note": "spoke by phone"})})
	x.add(deed{at: back.Add(time.Minute), do: ask(http.MethodDelete, path+"/takeover", map[string]any{})})
}

const operatorText = "This is Dana from the programme team. I read your message. Is it all right if I call you in ten minutes?"

// rollOut starts a worker of the next build, gives it the tasks, and drains the old one.
func rollOut(w *world) error {
	old := fmt.Sprint("build-", w.builds)
	w.builds++
	if err := w.startWorker(w.ctx, fmt.Sprint("build-", w.builds)); err != nil {
		return err
	}
	return errors.Join(w.killWorker(old, syscall.SIGTERM), w.moveAll())
}

// killNow kills the worker and starts it again. A workflow looks for the dead one for some
// seconds, so that all do it at once.
func killNow(w *world) error {
	build := fmt.Sprint("build-", w.builds)
	if err := w.killWorker(build, syscall.SIGKILL); err != nil {
		return err
	}
	return errors.Join(w.startWorker(w.ctx, build), w.moveAll())
}

func restartNow(w *world) error { return errors.Join(w.restartEngine(w.ctx), w.moveAll()) }

// showWaits prints what the run waited for, the longest first.
func (w *world) showWaits(out io.Writer) {
	for _, cause := range slices.SortedFunc(maps.Keys(w.spent), func(a, b string) int { return cmp.Compare(w.spent[b], w.spent[a]) }) {
		if w.spent[cause] > time.Second {
			fmt.Fprintf(out, "  %s: %s\n", cmp.Or(cause, "the rest of a step"), w.spent[cause].Round(100*time.Millisecond))
		}
	}
}
