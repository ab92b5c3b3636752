package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/internal/browsertest"
	"coachline/internal/console"
	"coachline/internal/metrics"
	"coachline/internal/screening"
	"coachline/models"
	"coachline/models/wire"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }

// noon is when all pages of these tests are drawn.
var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// things is what the pages are drawn from: things that come, go and change places. Each
// thing is named by a person, so that a text beside the address of another shows.
type things struct {
	console.Users
	console.Sessions
	mu    sync.Mutex
	names []string
	asked []string
	// person is the one whose page is open.
	person   api.Participant
	sessions sync.Map
	// refuse is what the API says to each change; empty: it carries them out.
	refuse string
	// sent is the body of the newest change.
	sent string
	told map[chan string]bool
}

func (w *things) SaveSession(_ context.Context, row models.Session) error {
	w.sessions.Store(row.TokenHash, row)
	return nil
}

func (w *things) KeepSession(ctx context.Context, row models.Session) error {
	return w.SaveSession(ctx, row)
}

func (w *things) FindSession(_ context.Context, hash string, _ time.Time) (models.Session, error) {
	row, _ := w.sessions.Load(hash)
	session, ok := row.(models.Session)
	if !ok {
		return session, models.ErrNotFound
	}
	return session, nil
}

// set changes what there is, and tells the pages.
func (w *things) set(names ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.names = names
	for told := range w.told {
		select {
		case told <- "*":
		default:
		}
	}
}

func (w *things) now() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.names)
}

// took returns the requests of the API that would have changed something.
func (w *things) took() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked)
}

func (w *things) Follow(ctx context.Context) (<-chan string, error) {
	told := make(chan string, 16)
	told <- "*"
	w.mu.Lock()
	w.told[told] = true
	w.mu.Unlock()
	context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.told, told)
	})
	return told, nil
}

// expectStreams waits until as many streams are open.
func (w *things) expectStreams(t *testing.T, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.told) == n
	}, time.Minute, 10*time.Millisecond)
}

// number is a number of its own for each name.
func number(name string) int64 { return int64(name[0]) }

// each draws one thing for each name.
func each[T any](names []string, draw func(id, name string, at time.Time) T) []T {
	out := []T{}
	for _, name := range names {
		out = append(out, draw(strings.ToLower(name), name, noon.Add(-time.Duration(number(name))*time.Minute)))
	}
	return out
}

func (w *things) today() api.Today {
	names := w.now()
	return api.Today{
		People: 4, Silent: len(names), SilentDays: 3, Waiting: len(names), Unreachable: len(names),
		Attention: []api.AttentionCount{{Kind: wire.AttentionCrisis, People: len(names)}},
		Crises: each(names, func(id, name string, at time.Time) api.Attention {
			return api.Attention{ParticipantID: id, Name: name, Kind: wire.AttentionCrisis, Since: at, AcknowledgedBy: "by " + name, AcknowledgedAt: &at}
		}),
		Flood: &api.Attention{Phone: fmt.Sprintf("one of %d numbers", len(names)), Kind: wire.AttentionFlood, Since: noon},
		Strangers: each(names, func(id, _ string, at time.Time) models.Alert {
			return models.Alert{ID: "alert-of-" + id, CreatedAt: at}
		}),
		SenderHolds: each(names, func(id, name string, at time.Time) api.SenderHold {
			return api.SenderHold{Sender: name, Code: "code " + id, Since: at, Until: noon}
		}),
		Hours: each(names, func(_, name string, _ time.Time) models.HourCount {
			return models.HourCount{From: noon.Add(time.Duration(number(name)) * time.Hour), People: int(number(name))}
		}),
	}
}

func (w *things) agenda() api.Agenda {
	names := w.now()
	return api.Agenda{
		Total: len(names),
		Hours: each([]string{"Ann"}, func(_, _ string, at time.Time) models.PlannedHour {
			return models.PlannedHour{At: at, Prompts: 1 + len(names)}
		}),
		Prompts: each(names, func(id, name string, at time.Time) api.PlannedPrompt {
			return api.PlannedPrompt{ParticipantID: id, Name: name, ScheduleID: "sch-" + id, At: at, Timezone: "UTC"}
		}),
		Resumptions: each(names, func(id, name string, at time.Time) api.PlannedResumption {
			return api.PlannedResumption{ParticipantID: id, Name: name, At: at, Timezone: "UTC"}
		}),
	}
}

func (w *things) holds() api.HoldPage {
	return api.HoldPage{Holds: each(w.now(), func(id, name string, at time.Time) models.Hold {
		return models.Hold{ID: number(name), Scope: models.HoldParticipant, ScopeID: id, Reason: "strike of " + name, Active: true, Until: at, CreatedBy: name}
	})}
}

func (w *things) people() api.PeoplePage {
	return api.PeoplePage{People: each(w.now(), func(id, name string, at time.Time) api.Person {
		return api.Person{ID: id, Name: name, Phone: "phone of " + name, Timezone: "UTC", Status: wire.StatusActive, LastInboundAt: &at}
	})}
}

func (w *things) views() api.PeopleViewList {
	return api.PeopleViewList{Views: each(w.now(), func(id, name string, _ time.Time) models.PeopleView {
		return models.PeopleView{ID: number(name), Name: "view of " + name, Query: "name=" + id, Shared: true, Owner: name}
	})}
}

func (w *things) state() api.State {
	return api.State{
		Schedules: each(w.now(), func(id, name string, at time.Time) api.Schedule {
			return api.Schedule{ID: "sch-" + id, Type: wire.ScheduleFixed, At: at.Format("15:04"), Timezone: "zone of " + name, NextAt: &at}
		}),
		Due: each(w.now(), func(id, _ string, at time.Time) api.Due {
			return api.Due{Kind: wire.DueDailyPrompt, At: at, Ref: "sch-" + id}
		}),
	}
}

func (w *things) history() []models.HistoryEntry {
	names := w.now()
	said := each(names, func(id, name string, at time.Time) models.HistoryEntry {
		return models.HistoryEntry{Role: models.RoleAssistant, Text: "text of " + name, At: at, Channel: wire.ChannelSMS, TurnID: models.TurnID("ann", int(number(name))), By: id}
	})
	return append(said, each(names, func(_, name string, at time.Time) models.HistoryEntry {
		return models.HistoryEntry{Role: models.RoleUser, Text: "heard of " + name, At: at, Channel: wire.ChannelSMS}
	})...)
}

func (w *things) waiting() []models.WaitingMessage {
	return each(w.now(), func(_, name string, at time.Time) models.WaitingMessage {
		return models.WaitingMessage{ID: number(name), Text: "waiting of " + name, At: at}
	})
}

func (w *things) memory() api.Memory {
	return api.Memory{
		Facts: each(w.now(), func(id, name string, at time.Time) models.Fact {
			return models.Fact{ID: id, Text: "fact of " + name, TurnID: models.TurnID("ann", int(number(name))), Version: 2, UpdatedAt: at,
				Before: each(w.now(), func(_, old string, at time.Time) models.FactVersion {
					return models.FactVersion{Version: int(number(old)), Text: name + " before " + old, At: at}
				})}
		}),
		Notes: each(w.now(), func(id, name string, at time.Time) models.Note {
			return models.Note{LocalDate: "day-of-" + id, Text: name, UpdatedAt: at}
		}),
	}
}

func (w *things) consents() []models.Consent {
	return each(w.now(), func(_, name string, at time.Time) models.Consent {
		return models.Consent{Action: models.ConsentOptIn, Method: models.MethodKeyword, At: at, RecordedBy: name, Text: "consent of " + name}
	})
}

func (w *things) audit() api.AuditPage {
	return api.AuditPage{Rows: each(w.now(), func(id, name string, at time.Time) models.AuditRow {
		return models.AuditRow{ID: number(name), At: at, Actor: name, Action: "did_" + id}
	})}
}

func (w *things) cohort() models.Cohort {
	return models.Cohort{
		ID: "job", State: models.CohortRunning, FileName: "people.csv", Good: 4, PerMinute: 1,
		Faults: each(w.now(), func(id, name string, _ time.Time) models.CohortFault {
			return models.CohortFault{Line: int(number(name)), Message: "fault of " + name, ParticipantID: id}
		}),
		First: each(w.now(), func(_, name string, _ time.Time) models.CohortPerson {
			return models.CohortPerson{Line: int(number(name)), Name: name}
		}),
	}
}

func (w *things) erasure() models.Erasure {
	rows := map[string]int64{}
	for _, name := range w.now() {
		rows[name] = number(name)
	}
	return models.Erasure{ParticipantID: "ann", State: models.ErasureRows, Rows: rows, Notes: each(w.now(), func(_, name string, _ time.Time) string { return "note of " + name })}
}

func (w *things) alert() models.Alert {
	return models.Alert{ID: "alert", Rule: screening.RuleScore, Score: 2.41}
}

// ServeHTTP is the API. What would change something is noted and done.
func (w *things) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		body, _ := io.ReadAll(r.Body)
		w.mu.Lock()
		w.asked, w.sent = append(w.asked, r.Method+" "+r.URL.Path), string(body)
		w.mu.Unlock()
		if w.refuse != "" {
			out.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(out).Encode(api.Failure{Status: "error", Message: w.refuse})
			return
		}
	}
	const ann = "/conversation/participants/ann"
	answers := map[string]func() any{
		"/today": func() any { return w.today() }, "/costs": func() any { return api.Costs{Currency: "USD"} }, "/budgets": func() any { return api.BudgetList{Budgets: []models.Budget{{ID: 7}}} }, "/agenda": func() any { return w.agenda() },
		"/holds": func() any { return w.holds() }, "/people": func() any { return w.people() }, "/views": func() any { return w.views() },
		"/alerts/alert/message": func() any {
			return models.AlertMessage{Alert: w.alert(), Text: "he said I want to die and left", Words: "want to die", LookReason: "means it"}
		},
		"/alerts":        func() any { return api.AlertPage{Alerts: []models.Alert{w.alert()}} },
		"/studies/study": func() any { return api.Study{ID: "study"} }, "/webhooks/hook": func() any { return models.Webhook{ID: "hook"} },
		"/studies": func() any { return api.StudyList{} }, "/audit": func() any { return w.audit() },
		ann: func() any {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.person
		},
		ann + "/history": func() any { return w.history() }, ann + "/state": func() any { return w.state() }, ann + "/waiting": func() any { return w.waiting() },
		ann + "/memories": func() any { return w.memory() }, ann + "/consents": func() any { return w.consents() },
		"/cohorts/job": func() any { return w.cohort() }, "/erasures/ann": func() any { return w.erasure() },
	}
	var result any
	if answer := answers[r.URL.Path]; answer != nil {
		result = answer()
	}
	raw, err := json.Marshal(map[string]any{"status": "ok", "message": "Done", "result": result})
	if err != nil {
		http.Error(out, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = out.Write(raw)
}

// serveThings serves the console of things with these names to a viewer on this
// machine.
func serveThings(t *testing.T, names ...string) (*things, string) {
	t.Helper()
	w := &things{names: names, told: map[chan string]bool{}, person: api.Participant{ID: "ann", PersonShown: models.PersonShown{Name: "Ann"}, Timezone: "UTC", Status: wire.StatusActive}}
	log := slog.New(slog.DiscardHandler)
	m, err := metrics.New(metrics.Config{Logger: log})
	require.NoError(t, err)
	closing := make(chan struct{})
	pages, err := console.New(console.Config{
		API: w, Users: w, Sessions: w, RecordAudit: func(context.Context, models.AuditRow) error { return nil }, Changes: w, IsOpen: func(*http.Request) bool { return true }, Closing: closing,
		Metrics: m, Logger: log, Now: func() time.Time { return noon },
	})
	require.NoError(t, err)
	server := httptest.NewServer(pages)
	t.Cleanup(func() { close(closing); server.Close() })
	return w, server.URL + "/console/"
}

// following lists the pages that follow changes.
var following = map[string]string{
	"Today": "", "Agenda": "agenda", "People": "people", "Person": "people/ann", "Import": "import/job", "Erasure": "people/ann/erasure",
}

// shown compares what a page shows with what the server draws now. What a field holds,
// what is open and the keys of forms may differ.
const shown = `async () => {
	const answer = await fetch(location.href, { headers: { "X-Follow": "1" } });
	const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("page");
	const plain = (part) => {
		const copy = part.cloneNode(true);
		for (const field of copy.querySelectorAll("input, textarea, option")) { field.removeAttribute("value"); field.removeAttribute("checked"); }
		for (const one of copy.querySelectorAll("details")) one.removeAttribute("open");
		return copy.innerHTML.replaceAll("><", ">\n<");
	};
	return { page: plain(document.getElementById("page")), server: plain(fresh) };
}`

// stop is a place that the focus can have: the n-th of a page.
const focusOn = `(n) => {
	for (const one of document.querySelectorAll("#main details")) one.open = true;
	const stops = [...document.querySelectorAll("#main :is(a[href], button, summary, select, textarea, input:not([type=hidden]), [tabindex])")];
	stops[n % stops.length].focus();
	return stops.length;
}`

// redraw changes what there is and waits until a page was drawn anew. A page is drawn once
// more when its stream has begun.
func redraw(p *browsertest.Page, w *things, names ...string) {
	var before int
	p.Eval(&before, `async () => {
		while (!document.documentElement.dataset.redrawn) await new Promise((done) => setTimeout(done, 10));
		return Number(document.documentElement.dataset.redrawn);
	}`)
	w.set(names...)
	p.Eval(nil, `async (before) => {
		while (Number(document.documentElement.dataset.redrawn || 0) <= before) await new Promise((done) => setTimeout(done, 10));
	}`, before)
}

// TestPagesShowWhatIsTrue: while lists lose, gain and reorder what they show, each text
// stands beside the address of its own thing, wherever the focus is.
func TestPagesShowWhatIsTrue(t *testing.T) {
	browser := browsertest.Start(t)
	changes := [][]string{{"Ben", "Cleo"}, {"Dora", "Cleo", "Ben"}, {}, {"Ann", "Ben", "Cleo"}}
	for name, path := range following {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, address := serveThings(t, "Ann", "Ben", "Cleo")
			p := browser.Open(t, address+path, browsertest.View{})
			var nameless []string
			p.Eval(&nameless, `() => [...document.querySelectorAll("#main :is(li, tbody tr, details)")].filter((e) => !e.id).map((e) => e.outerHTML.slice(0, 80))`)
			assert.Empty(t, nameless, "each element of a list has an id of its own thing")
			var twice []string
			p.Eval(&twice, `() => [...document.querySelectorAll("[id]")].map((e) => e.id).filter((id, i, all) => all.indexOf(id) !== i)`)
			assert.Empty(t, twice, "ids are of one thing")
			w.expectStreams(t, 1)
			for n, stops := 0, 1; n < stops; n++ {
				for _, names := range changes {
					p.Eval(&stops, focusOn, n)
					redraw(p, w, names...)
					var got struct{ Page, Server string }
					p.Eval(&got, shown)
					require.Equal(t, got.Server, got.Page, "focus %d, then %v", n, names)
				}
			}
		})
	}
}

// TestEnteredTextStays: what is typed into a field stays in the form of its thing while
// the list around it changes, and is shown where the thing goes away.
func TestEnteredTextStays(t *testing.T) {
	browser := browsertest.Start(t)
	w, address := serveThings(t, "Ann", "Ben", "Cleo")
	p := browser.Open(t, address+"agenda", browsertest.View{})
	w.expectStreams(t, 1)
	p.Eval(nil, `() => { document.getElementById("release-66").open = true; document.getElementById("release-reason-66").focus() }`)
	p.Type("the strike is over")
	for _, names := range [][]string{{"Ben", "Cleo"}, {"Cleo", "Dora", "Ben"}, {"Ben"}} {
		redraw(p, w, names...)
		p.ExpectFocus("textbox", "Reason (kept in the audit)")
		var form struct{ Typed, Address, Summary string }
		p.Eval(&form, `() => {
			const field = document.activeElement;
			return { typed: field.value, address: field.form.getAttribute("action"), summary: field.closest("details").querySelector("summary").textContent };
		}`)
		require.Equal(t, "the strike is over", form.Typed, names)
		require.Equal(t, "/console/agenda/holds/66/release", form.Address, names)
		require.Equal(t, "Release hold 66", form.Summary, names)
	}
	redraw(p, w, "Ann")
	p.ExpectText("What you wrote under “Reason (kept in the audit)” was not sent: it is no longer asked for. You wrote:")
	p.ExpectText("the strike is over")
	p.ExpectNoText("strike of Ben")
	p.ExpectAccessible()
	var focused string
	p.Eval(&focused, `() => document.activeElement.id`)
	require.Equal(t, "main", focused)
	require.Empty(t, w.took())
}
