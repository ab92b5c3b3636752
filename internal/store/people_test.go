package store_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"coachline/internal/pgtest"
	"coachline/internal/sample"
	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

// listed is a person of a test's list; instants are minutes after the start, 0 is
// none.
type listed struct {
	id, name     string
	heard        int
	next         []int
	sent, answer int
	status       wire.Status
}

// list stores people as they are after some days.
func (w *world) list(people ...listed) {
	w.t.Helper()
	err := w.Database().Write(w.ctx, func(tx *gorm.DB) error {
		for i, l := range people {
			if err := storeListed(tx, w, i, l); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(w.t, err)
}

func storeListed(tx *gorm.DB, w *world, i int, l listed) error {
	p := person(l.id, fmt.Sprintf("+1202555%04d", i))
	p.Name, p.Status, p.Mode, p.Channel, p.LastChannel = l.name, l.status, wire.ModeFeedback, wire.ChannelSMS, wire.ChannelSMS
	p.PhoneIndex = w.Database().Index(p.Phone)
	p.CreatedAt, p.UpdatedAt, p.Version, p.NextSeq = start, start, 1, 1
	if p.Status == "" {
		p.Status = wire.StatusActive
	}
	if l.heard != 0 {
		heard := at(l.heard)
		p.LastInboundAt = &heard
	}
	if err := tx.Create(&p).Error; err != nil {
		return err
	}
	for n, minutes := range l.next {
		next := at(minutes)
		if err := tx.Create(&models.ScheduleRow{ParticipantID: p.ID, ID: fmt.Sprint("s", n), Type: wire.ScheduleFixed, At: "08:00", Zone: "UTC", NextAt: &next, UpdatedAt: start}).Error; err != nil {
			return err
		}
	}
	for n := range l.sent {
		sent := at(n + 1)
		row := models.Prompt{ID: fmt.Sprint(p.ID, "-", n), ParticipantID: p.ID, ScheduleID: fmt.Sprint(n), LocalDate: "2026-03-02", TargetAt: sent, State: "sent", SentAt: &sent}
		if n < l.answer {
			row.RespondedAt = &sent
		}
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
	}
	return nil
}

func (w *world) people(q models.PeopleQuery) (ids []string) {
	w.t.Helper()
	q.Now = at(60)
	for range 20 {
		page, err := w.People.List(w.ctx, q)
		require.NoError(w.t, err)
		for _, p := range page.People {
			ids = append(ids, p.ID)
		}
		if q.After = page.Cursor; q.After == "" {
			return ids
		}
	}
	w.t.Fatal("the pages do not end")
	return nil
}

var fivePeople = []listed{
	{id: "p1", name: "Ada Quill", heard: 50, next: []int{300, 90}, sent: 4, answer: 3},
	{id: "p2", name: "berta", heard: 10, next: []int{200}},
	{id: "p3", name: "Çelik", heard: 30},
	{id: "p4", name: "", next: []int{90}},
	{id: "p5", name: "Adam", heard: 30, next: []int{95}, status: wire.StatusPaused},
}

func TestPeopleAreOrderedAcrossPages(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.list(fivePeople...)
		for order, want := range map[models.PeopleOrder][]string{
			"":                     {"p1", "p5", "p3", "p2", "p4"},
			models.OrderHeard:      {"p1", "p5", "p3", "p2", "p4"},
			models.OrderSilent:     {"p4", "p2", "p3", "p5", "p1"},
			models.OrderNextPrompt: {"p1", "p4", "p5", "p2"},
			models.OrderName:       {"p1", "p5", "p2", "p3", "p4"},
		} {
			for limit := 1; limit <= 6; limit++ {
				require.Equal(t, want, w.people(models.PeopleQuery{Order: order, Limit: limit}), "%s by %d", order, limit)
			}
		}
		for _, cursor := range []string{"x", "1", "x.p1"} {
			_, err := w.People.List(w.ctx, models.PeopleQuery{After: cursor})
			var refused *models.FieldError
			require.ErrorAs(t, err, &refused, cursor)
		}
		_, err := w.People.List(w.ctx, models.PeopleQuery{Order: models.OrderName, After: "1.gone"})
		require.ErrorContains(t, err, "the list has changed")
	})
}

func TestPeopleAreFiltered(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.list(fivePeople...)
		_, err := w.Attention.RaiseAttention(w.ctx, models.AttentionEntry{ParticipantID: "p3", Kind: wire.AttentionSend, RaisedAt: at(1)})
		require.NoError(t, err)
		_, err = w.Attention.RaiseAttention(w.ctx, models.AttentionEntry{ParticipantID: "p2", Kind: wire.AttentionFlood, RaisedAt: at(1)})
		require.NoError(t, err)
		w.raw(func(db *sql.DB) {
			for _, statement := range []string{
				"UPDATE participants SET taken_over_by = 'user:kim' WHERE id = 'p5'",
				"UPDATE participants SET taken_over_by = 'alert' WHERE id = 'p4'",
				"UPDATE participants SET unreachable_at = enrolled_at WHERE id = 'p2'",
				"INSERT INTO inbound (provider_sid, participant_id, seq, \"from\", \"to\", body, media_count, received_at, waiting) " +
					"VALUES ('SM1', 'p5', 1, '', '', '', 0, '2026-03-02 09:00:00+00:00', true)",
			} {
				_, err := db.Exec(statement)
				require.NoError(t, err)
			}
		})
		for _, tt := range []struct {
			name   string
			filter models.PeopleFilter
			want   []string
		}{
			{"status", models.PeopleFilter{Status: wire.StatusPaused}, []string{"p5"}},
			{"attention", models.PeopleFilter{Attention: []wire.Attention{wire.AttentionSend}}, []string{"p3"}},
			{"attention of two kinds", models.PeopleFilter{Attention: []wire.Attention{wire.AttentionFlood, wire.AttentionSend}}, []string{"p3", "p2"}},
			{"other attention", models.PeopleFilter{Attention: []wire.Attention{wire.AttentionCrisis}}, nil},
			{"taken over", models.PeopleFilter{TakenOver: true}, []string{"p5", "p4"}},
			{"taken over by one", models.PeopleFilter{TakenOverBy: "user:kim"}, []string{"p5"}},
			{"taken over by another", models.PeopleFilter{TakenOver: true, TakenOverBy: "user:lee"}, nil},
			{"waiting", models.PeopleFilter{Waiting: true}, []string{"p5"}},
			{"unreachable", models.PeopleFilter{Unreachable: true}, []string{"p2"}},
			{"silent", models.SilentFilter(at(30)), []string{"p3", "p2", "p4"}},
			{"due, not paused", models.PeopleFilter{DueFrom: at(90), DueUntil: at(200)}, []string{"p1", "p4"}},
			{"phone", models.PeopleFilter{Phone: "+12025550002"}, []string{"p3"}},
			{"name", models.PeopleFilter{Name: "ADA"}, []string{"p1", "p5"}},
			{"name beyond ASCII", models.PeopleFilter{Name: "çel"}, []string{"p3"}},
			{"name and status", models.PeopleFilter{Name: "ada", Status: wire.StatusActive}, []string{"p1"}},
		} {
			require.Equal(t, tt.want, w.people(models.PeopleQuery{PeopleFilter: tt.filter, Limit: 2}), tt.name)
		}
	})
}

func TestPeopleShowTheirPrompts(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.list(fivePeople...)
		one := func(now time.Time) models.Person {
			page, err := w.People.List(w.ctx, models.PeopleQuery{PeopleFilter: models.PeopleFilter{Name: "quill"}, Now: now})
			require.NoError(t, err)
			require.Len(t, page.People, 1)
			return page.People[0]
		}
		p := one(at(60))
		require.Equal(t, at(90), p.NextPromptAt.UTC())
		require.Equal(t, []int{4, 3}, []int{p.Prompts, p.Answered})
		p = one(at(2).Add(7 * 24 * time.Hour))
		require.Equal(t, []int{2, 1}, []int{p.Prompts, p.Answered}, "older prompts do not count")
	})
}

// TestTodayCountsWhomTheListsShow: behind every number is the list of its filter.
func TestTodayCountsWhomTheListsShow(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.list(fivePeople...)
		_, err := w.Attention.RaiseAttention(w.ctx, models.AttentionEntry{ParticipantID: "p3", Kind: wire.AttentionCrisis, RaisedAt: at(1)})
		require.NoError(t, err)
		today, err := w.Reports.Today(w.ctx, at(60), at(30))
		require.NoError(t, err)
		require.Equal(t, 5, today.People)
		require.Equal(t, 3, today.Silent)
		require.Equal(t, 1, today.Attention[wire.AttentionCrisis])
		require.Zero(t, today.Attention[wire.AttentionSend])
		require.Len(t, today.Hours, 24)
		require.Equal(t, at(60), today.Hours[0].From.UTC())
		var perHour []int
		for _, hour := range today.Hours[:5] {
			perHour = append(perHour, hour.People)
			due := models.PeopleFilter{DueFrom: hour.From, DueUntil: hour.From.Add(time.Hour)}
			require.Len(t, w.people(models.PeopleQuery{PeopleFilter: due}), hour.People)
		}
		require.Equal(t, []int{2, 0, 1, 0, 1}, perHour)
	})
}

// TestStatementsOfPeople: the number of statements does not grow with the people.
func TestStatementsOfPeople(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.list(fivePeople...)
		require.NoError(t, w.Close())
		var seen statements
		w = seen.watch(t, store.Config{URL: w.url})
		for _, tt := range []struct {
			query models.PeopleQuery
			want  int
		}{
			{models.PeopleQuery{}, 3},
			{models.PeopleQuery{Order: models.OrderNextPrompt}, 3},
			{models.PeopleQuery{PeopleFilter: models.PeopleFilter{Name: "a"}}, 4},
		} {
			seen.sent = nil
			_, err := w.People.List(w.ctx, tt.query)
			require.NoError(t, err)
			require.Len(t, seen.sent, tt.want, strings.Join(seen.sent, "\n"))
		}
		seen.sent = nil
		_, err := w.Reports.Today(w.ctx, at(60), at(30))
		require.NoError(t, err)
		require.Len(t, seen.sent, 2, strings.Join(seen.sent, "\n"))
	})
}

// TestNamesAreOpenedOnce: searches that follow one another open no name again, but
// those that were changed.
func TestNamesAreOpenedOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.list(fivePeople...)
		search := func(part string, want ...string) {
			t.Helper()
			require.Equal(t, want, w.people(models.PeopleQuery{PeopleFilter: models.PeopleFilter{Name: part}, Limit: 50}))
		}
		search("a", "p1", "p5", "p2")
		require.Equal(t, 4, w.OpenedNames(), "of five one has no name")
		search("ad", "p1", "p5")
		search("ada", "p1", "p5")
		require.Equal(t, 4, w.OpenedNames())
		name := "Boris"
		_, err := w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "p5", Patch: models.ParticipantPatch{PersonTexts: models.PersonTexts[*string]{Name: &name}}, Actor: "eve", Now: at(61)})
		require.NoError(t, err)
		search("ad", "p1")
		search("bor", "p5")
		require.Equal(t, 5, w.OpenedNames())
	})
}

// TestPeopleAreReadByIndex: pages by when people were heard, and by their next
// prompt, read no more rows than they show.
func TestPeopleAreReadByIndex(t *testing.T) {
	w := onSQLite(t)
	w.list(fivePeople...)
	for query, index := range map[string]string{
		"SELECT * FROM participants WHERE participants.removed_at IS NULL AND (COALESCE(participants.last_inbound_at, participants.enrolled_at), participants.id) < ('2', 'p') " +
			"ORDER BY COALESCE(participants.last_inbound_at, participants.enrolled_at) DESC, participants.id DESC LIMIT 50": "participants_heard",
		"SELECT participant_id FROM schedules WHERE next_at >= '1' AND next_at < '2'":               "schedules_next",
		"SELECT count(*) FROM participants WHERE removed_at IS NULL AND unreachable_at IS NOT NULL": "participants_unreachable",
	} {
		var plan []string
		w.raw(func(db *sql.DB) {
			rows, err := db.Query("EXPLAIN QUERY PLAN " + query)
			require.NoError(t, err)
			defer func() { require.NoError(t, rows.Close()) }()
			for rows.Next() {
				var id, parent, unused int
				var detail string
				require.NoError(t, rows.Scan(&id, &parent, &unused, &detail))
				plan = append(plan, detail)
			}
			require.NoError(t, rows.Err())
		})
		require.Contains(t, strings.Join(plan, "\n"), index)
		require.NotContains(t, strings.Join(plan, "\n"), "TEMP B-TREE")
	}
}

// BenchmarkPeople reports the 95th percentile of the lists and of today's counts
// with 10,000 people.
func BenchmarkPeople(b *testing.B) {
	for name, url := range map[string]string{"sqlite": "sqlite:" + b.TempDir() + "/coach.db", "postgres": pgtest.Start(b)} {
		s, err := store.Open(b.Context(), store.Config{URL: url, Sealer: newBox(b, "one")})
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, s.Close()) })
		now := start.Add(30 * 24 * time.Hour)
		began := time.Now()
		require.NoError(b, sample.Store(b.Context(), s.Database(), sample.Config{People: 10_000, Seed: 1, Now: now}, func(int) {}))
		b.Logf("%s: 10,000 people stored in %s", name, time.Since(began).Round(100*time.Millisecond))
		for _, of := range []struct {
			name string
			read func() error
		}{
			{"today", func() error { _, err := s.Reports.Today(b.Context(), now, now.Add(-72*time.Hour)); return err }},
			{"list", func() error {
				_, err := s.People.List(b.Context(), models.PeopleQuery{Limit: 50, Now: now})
				return err
			}},
			{"next", func() error {
				_, err := s.People.List(b.Context(), models.PeopleQuery{Order: models.OrderNextPrompt, Limit: 50, Now: now})
				return err
			}},
			{"silent", func() error {
				_, err := s.People.List(b.Context(), models.PeopleQuery{PeopleFilter: models.SilentFilter(now.Add(-72 * time.Hour)), Order: models.OrderSilent, Limit: 50, Now: now})
				return err
			}},
			{"crises", func() error {
				_, err := s.Attention.OpenAttention(b.Context(), models.AttentionQuery{Kind: wire.AttentionCrisis, Limit: 50})
				return err
			}},
			{"attention", func() error {
				kinds := models.PeopleFilter{Attention: []wire.Attention{wire.AttentionCrisis, wire.AttentionSend}}
				_, err := s.People.List(b.Context(), models.PeopleQuery{PeopleFilter: kinds, Limit: 50, Now: now})
				return err
			}},
			{"taken over", func() error {
				_, err := s.People.List(b.Context(), models.PeopleQuery{PeopleFilter: models.PeopleFilter{TakenOver: true}, Limit: 50, Now: now})
				return err
			}},
			{"search", func() error {
				_, err := s.People.List(b.Context(), models.PeopleQuery{PeopleFilter: models.PeopleFilter{Name: "ada"}, Limit: 50, Now: now})
				return err
			}},
		} {
			b.Run(name+"/"+of.name, func(b *testing.B) {
				var took []time.Duration
				for b.Loop() {
					before := time.Now()
					require.NoError(b, of.read())
					took = append(took, time.Since(before))
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "ms-p95")
			})
		}
	}
}
