package main

import (
	"context"
	"database/sql"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"modernc.org/sqlite"

	"coachline/internal/database/prepared"
)

// planned is an instance in an installation with one fault; killed says whether its
// process ended.
func planned(t *testing.T, p point, what fault) *instance {
	t.Helper()
	l := &installation{ctx: t.Context(), roles: map[string]*instance{}, closed: true}
	var err error
	l.carrier, err = l.newCarrier(listLag)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.carrier.Close()) })
	l.watch(p, what)
	return &instance{installation: l, role: "worker", dead: make(chan struct{}), cancel: func() {}}
}

// opened is a database of one table behind the instance's faults, and the same
// database without them.
func opened(t *testing.T, i *instance) (faulty, plain *sql.DB) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "rows.db") + "?_txlock=immediate"
	below := prepared.New(&sqlite.Driver{}, name)
	faulty, plain = sql.OpenDB(connector{Connector: below, instance: i}), sql.OpenDB(below)
	t.Cleanup(func() { _, _ = faulty.Close(), plain.Close() })
	_, err := plain.Exec("CREATE TABLE notes (id integer PRIMARY KEY)")
	require.NoError(t, err)
	return faulty, plain
}

func rows(t *testing.T, db *sql.DB) int {
	t.Helper()
	n := 0
	require.NoError(t, db.QueryRow("SELECT count(*) FROM notes").Scan(&n))
	return n
}

func TestStatementFaults(t *testing.T) {
	insert := point{Role: "worker", Kind: "sql", Name: "INSERT notes", N: 1}
	for _, tc := range []struct {
		what fault
		rows int
		dead bool
	}{{before, 0, false}, {after, 1, false}, {kill, 1, true}} {
		t.Run(string(tc.what), func(t *testing.T) {
			i := planned(t, insert, tc.what)
			faulty, plain := opened(t, i)
			_, err := faulty.Exec("INSERT INTO notes VALUES (1)")
			require.Error(t, err)
			require.Equal(t, tc.rows, rows(t, plain))
			require.Equal(t, tc.dead, i.isDead())
			_, err = faulty.Exec("INSERT INTO notes VALUES (2)")
			require.Equal(t, tc.dead, err != nil, "another connection works, unless the process is dead")
		})
	}
}

func TestCommitFaults(t *testing.T) {
	commit := point{Role: "worker", Kind: "sql", Name: "COMMIT INSERT notes", N: 1}
	for what, want := range map[fault]int{before: 0, after: 1, kill: 1} {
		t.Run(string(what), func(t *testing.T) {
			i := planned(t, commit, what)
			faulty, plain := opened(t, i)
			tx, err := faulty.Begin()
			require.NoError(t, err)
			_, err = tx.Exec("INSERT INTO notes VALUES (1)")
			require.NoError(t, err)
			require.Error(t, tx.Commit())
			require.Equal(t, want, rows(t, plain))
			_, err = plain.Exec("INSERT INTO notes VALUES (2)")
			require.NoError(t, err, "no lock is left")
		})
	}
}

func TestFaultInATransactionRollsItBack(t *testing.T) {
	i := planned(t, point{Role: "worker", Kind: "sql", Name: "SELECT notes", N: 1}, before)
	faulty, plain := opened(t, i)
	tx, err := faulty.Begin()
	require.NoError(t, err)
	_, err = tx.Exec("INSERT INTO notes VALUES (1)")
	require.NoError(t, err)
	require.Error(t, tx.QueryRow("SELECT count(*) FROM notes").Scan(new(int)))
	_, err = tx.Exec("INSERT INTO notes VALUES (2)")
	require.Error(t, err, "the connection is lost")
	require.Error(t, tx.Commit())
	require.Zero(t, rows(t, plain))
}

func TestEngineFaults(t *testing.T) {
	signal := point{Role: "worker", Kind: "engine", Name: "SignalWithStartWorkflowExecution", N: 1}
	const method = "/temporal.api.workflowservice.v1.WorkflowService/SignalWithStartWorkflowExecution"
	for _, tc := range []struct {
		what fault
		done int
		code codes.Code
	}{{none, 1, codes.OK}, {before, 0, codes.Unavailable}, {after, 1, codes.Unavailable}, {kill, 1, codes.Canceled}} {
		t.Run(string(tc.what), func(t *testing.T) {
			i := planned(t, signal, tc.what)
			done := 0
			invoke := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
				done++
				return nil
			}
			err := i.intercept(t.Context(), method, nil, nil, nil, invoke)
			require.Equal(t, tc.code, status.Code(err))
			require.Equal(t, tc.done, done)
		})
	}
}

func TestCallsForTasksAreNoPointsAndEndWithTheProcess(t *testing.T) {
	i := planned(t, point{}, none)
	invoke := func(ctx context.Context, _ string, _, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
		i.kill()
		<-ctx.Done()
		return ctx.Err()
	}
	require.Error(t, i.intercept(t.Context(), "/s/PollActivityTaskQueue", nil, nil, nil, invoke))
	require.Empty(t, i.installation.passed)
}

func TestCarrierFaults(t *testing.T) {
	post := point{Role: "worker", Kind: "http", Name: "POST message", N: 1}
	for _, tc := range []struct {
		what   fault
		status int // 0: the connection breaks
		taken  int
	}{
		{none, http.StatusCreated, 1}, {before, 0, 0}, {after, 0, 1}, {kill, 0, 1},
		{codedBefore, http.StatusServiceUnavailable, 0}, {codedAfter, http.StatusInternalServerError, 1},
	} {
		t.Run(string(tc.what), func(t *testing.T) {
			i := planned(t, post, tc.what)
			handler := i.installation.carrier.Handler()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, i)))
			}))
			defer server.Close()
			form := url.Values{"To": {"+12025550101"}, "From": {ourNumber}, "Body": {"hello"}, "StatusCallback": {"http://coach.test/twilio/status?outbox=t1-p1"}}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/2010-04-01/Accounts/"+accountSID+"/Messages.json", strings.NewReader(form.Encode()))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.SetBasicAuth(accountSID, authToken)
			code := 0
			if res, err := http.DefaultClient.Do(req); err == nil {
				require.NoError(t, res.Body.Close())
				code = res.StatusCode
			}
			require.Equal(t, tc.status, code)
			taken := (&turn{installation: i.installation, number: "+12025550101"}).sentTexts()
			require.Len(t, taken, tc.taken)
			require.Equal(t, tc.what == kill, i.isDead())
			if tc.taken > 0 {
				require.Equal(t, "t1-p1", taken[0].Outbox)
			}
		})
	}
}

// TestJudgeRows feeds the judge with what must not be.
func TestJudgeRows(t *testing.T) {
	sent := func(ids ...string) []sentText {
		var out []sentText
		for _, id := range ids {
			out = append(out, sentText{Outbox: id})
		}
		return out
	}
	for _, tc := range []struct {
		name   string
		status string
		sent   []sentText
		want   string
	}{
		{"delivered", "delivered", sent("a"), ""},
		{"never sent", "failed", nil, ""},
		{"sent twice", "delivered", sent("a", "a"), "a (reply) was sent 2 times"},
		{"delivered, but not sent", "delivered", nil, "is delivered, and was never sent"},
		{"canceled, but sent", "canceled", sent("a"), "is canceled , and was sent"},
		{"left behind", "ready", nil, "was left as ready"},
		{"without a row", "delivered", sent("a", "b"), "has no row"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var v verdict
			new(turn).judgeRows(&v, map[string]outboxRow{"a": {id: "a", kind: "reply", status: tc.status}}, tc.sent)
			require.Equal(t, tc.want == "", len(v) == 0, v)
			require.Contains(t, strings.Join(v, "; "), tc.want)
		})
	}
}

func TestJudgeAnswers(t *testing.T) {
	said := func(bodies ...string) []sentText {
		var out []sentText
		for _, body := range bodies {
			out = append(out, sentText{Body: body})
		}
		return out
	}
	want := expectation{replies: 2}
	for _, tc := range []struct {
		name string
		sent []sentText
		late int
		want string
	}{
		{"one by one", said("re: p1 m0001", "re: p1 m0002"), 0, ""},
		{"at once", said("re: p1 m0001 m0002"), 0, ""},
		{"one is missing", said("re: p1 m0001"), 0, "m0002 was answered 0 times"},
		{"one came twice", said("re: p1 m0001", "re: p1 m0001 m0002"), 0, "m0001 was answered 2 times"},
		{"in another order", said("re: p1 m0002", "re: p1 m0001"), 0, "in the order"},
		{"after the reply that took its place", said("re: p1 m0002", "re: p1 m0001 m0003"), 1, ""},
		{"mixed in one answer", said("re: p1 m0002 m0001"), 1, "in the order"},
		{"by the fixed text", said("re: p1 m0001 m0002", "Sorry"), 0, `answered by "Sorry"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var v verdict
			judgeAnswers(&v, want, tc.sent, tc.late)
			require.Equal(t, tc.want == "", len(v) == 0, v)
			require.Contains(t, strings.Join(v, "; "), tc.want)
		})
	}
}

// A role is played by an instance that runs: a kill that finds it earlier has nothing to end.
func TestRoleBelongsToWhatRuns(t *testing.T) {
	l := &installation{ctx: t.Context(), surroundings: &environment{instances: map[string]*instance{}}, roles: map[string]*instance{}}
	l.launch = func(i *instance) error {
		require.Nil(t, l.current("worker1"))
		i.cancel = func() {}
		return nil
	}
	require.NoError(t, l.start("worker1"))
	require.NotNil(t, l.current("worker1").cancel)
}
