package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

func TestEnroll(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		p := w.enrolled()
		require.Equal(t, wire.StatusActive, p.Status)
		require.Equal(t, wire.ModeIntake, p.Mode)
		require.Equal(t, wire.ChannelSMS, p.Channel)
		read, err := w.People.Participant(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, p, read)
		require.Equal(t, int64(1), read.Version)
		require.Equal(t, int64(1), read.NextSeq)
		profile, err := w.People.Profile(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, models.Profile{ParticipantID: "p1", UpdatedAt: start, Version: 1}, profile)
		require.Equal(t, []models.NoticeKind{models.NoticeStart}, w.noticeKinds())
		require.Equal(t, 1, w.count("SELECT count(*) FROM audit WHERE participant_id = 'p1' AND action = 'enroll' AND actor = 'operator'"))

		_, err = w.People.Enroll(w.ctx, person("p2", phone), "operator")
		require.ErrorIs(t, err, models.ErrConflict)
		_, err = w.People.Enroll(w.ctx, person("p1", "+15550000001"), "operator")
		require.ErrorIs(t, err, models.ErrConflict)
		require.Equal(t, 1, w.count("SELECT count(*) FROM profiles"), "a refused enrolment leaves nothing")
	})
}

func TestEnrollRefuses(t *testing.T) {
	w := newWorld(t, "sqlite::memory:")
	tests := []struct {
		name  string
		edit  func(*models.Participant)
		field string
	}{
		{"no id", func(p *models.Participant) { p.ID = "" }, "id"},
		{"no phone", func(p *models.Participant) { p.Phone = "" }, "phone"},
		{"no instant", func(p *models.Participant) { p.EnrolledAt = time.Time{} }, "enrolled_at"},
		{"debug without tester", func(p *models.Participant) { p.Debug = true }, "debug"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := person("p1", phone)
			tt.edit(&p)
			_, err := w.People.Enroll(w.ctx, p, "operator")
			var field *models.FieldError
			require.ErrorAs(t, err, &field)
			require.Equal(t, tt.field, field.Field)
		})
	}
}

func TestEnrollOnePhoneAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		won := 0
		for _, err := range together(16, func(i int) error {
			_, err := w.People.Enroll(w.ctx, person(fmt.Sprintf("p%d", i), phone), "operator")
			return err
		}) {
			if err == nil {
				won++
				continue
			}
			require.ErrorIs(t, err, models.ErrConflict)
		}
		require.Equal(t, 1, won)
		for _, table := range []string{"participants", "profiles", "notices", "audit"} {
			require.Equal(t, 1, w.count("SELECT count(*) FROM "+table), table)
		}
	})
}

func TestParticipantsPages(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		for i := range 5 {
			p := person(fmt.Sprintf("p%d", i), fmt.Sprintf("+1555000000%d", i))
			if i == 3 {
				p.Status = wire.StatusPaused
			}
			_, err := w.People.Enroll(w.ctx, p, "operator")
			require.NoError(t, err)
		}
		require.NoError(t, w.People.RemoveParticipant(w.ctx, "p1", "operator", at(1)))
		tests := []struct {
			name string
			in   models.ParticipantQuery
			want []string
		}{
			{"all", models.ParticipantQuery{}, []string{"p0", "p2", "p3", "p4"}},
			{"first page", models.ParticipantQuery{Limit: 2}, []string{"p0", "p2"}},
			{"next page", models.ParticipantQuery{Limit: 2, After: "p2"}, []string{"p3", "p4"}},
			{"by status", models.ParticipantQuery{Status: wire.StatusPaused}, []string{"p3"}},
			{"removed are not withdrawn ones", models.ParticipantQuery{Status: wire.StatusWithdrawn}, nil},
		}
		for _, tt := range tests {
			rows, err := w.People.Participants(w.ctx, tt.in)
			require.NoError(t, err)
			var ids []string
			for _, r := range rows {
				ids = append(ids, r.ID)
			}
			require.Equal(t, tt.want, ids, tt.name)
		}
	})
}

func ptr[T any](v T) *T { return &v }

func TestUpdateParticipant(t *testing.T) {
	notices := func(kinds ...models.NoticeKind) []models.NoticeKind {
		return append([]models.NoticeKind{models.NoticeStart}, kinds...)
	}
	tests := []struct {
		name    string
		in      models.ParticipantPatch
		changed string // empty: nothing
		notices []models.NoticeKind
	}{
		{"nothing", models.ParticipantPatch{}, "", notices()},
		{"equal values", models.ParticipantPatch{PersonTexts: models.PersonTexts[*string]{Name: ptr("Ada Quill")}, Status: ptr(wire.StatusActive)}, "", notices()},
		{"name", models.ParticipantPatch{PersonTexts: models.PersonTexts[*string]{Name: ptr("Grace")}}, "name", notices()},
		{"several", models.ParticipantPatch{PersonTexts: models.PersonTexts[*string]{Gender: ptr("man"), Ethnicity: ptr("x"), Background: ptr("y")}, Locale: ptr("de-DE")}, "gender,ethnicity,background,locale", notices()},
		{"name to empty", models.ParticipantPatch{PersonTexts: models.PersonTexts[*string]{Name: ptr("")}}, "name", notices()},
		{"zone", models.ParticipantPatch{Timezone: ptr("Europe/Paris")}, "timezone", notices(models.NoticeUpdate)},
		{"assumed zone confirmed", models.ParticipantPatch{Timezone: ptr("America/New_York")}, "timezone", notices(models.NoticeUpdate)},
		{"paused", models.ParticipantPatch{Status: ptr(wire.StatusPaused)}, "status", notices(models.NoticePause)},
		{"completed", models.ParticipantPatch{Status: ptr(wire.StatusCompleted)}, "status", notices(models.NoticeUpdate)},
		{"opted out", models.ParticipantPatch{Status: ptr(wire.StatusOptedOut)}, "status", notices(models.NoticeUpdate)},
		{"paused and zone", models.ParticipantPatch{Status: ptr(wire.StatusPaused), Timezone: ptr("Europe/Paris")}, "timezone,status", notices(models.NoticePause, models.NoticeUpdate)},
		{"completed and zone", models.ParticipantPatch{Status: ptr(wire.StatusCompleted), Timezone: ptr("Europe/Paris")}, "timezone,status", notices(models.NoticeUpdate)},
		{"tester with debug", models.ParticipantPatch{Tester: ptr(true), Debug: ptr(true)}, "tester,debug", notices()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, "sqlite::memory:")
			before := w.enrolled()
			got, err := w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "p1", Patch: tt.in, Actor: "operator", Now: at(5)})
			require.NoError(t, err)
			read, err := w.People.Participant(w.ctx, "p1")
			require.NoError(t, err)
			require.Equal(t, got, read)
			require.Equal(t, tt.notices, w.noticeKinds())
			if tt.changed == "" {
				require.Equal(t, before, got)
				return
			}
			require.Equal(t, before.Version+1, got.Version)
			require.Equal(t, at(5), got.UpdatedAt)
			if tt.in.Timezone != nil {
				require.False(t, got.ZoneAssumed)
			}
		})
	}
}

func TestUpdateParticipantAudit(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		patch := models.ParticipantPatch{PersonTexts: models.PersonTexts[*string]{Name: ptr("Grace")}, Status: ptr(wire.StatusPaused)}
		_, err := w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "p1", Patch: patch, Actor: "eve", Now: at(5)})
		require.NoError(t, err)
		_, err = w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "p1", Patch: models.ParticipantPatch{Status: ptr(wire.StatusActive)}, Actor: "eve", Now: at(6)})
		require.NoError(t, err)
		require.Equal(t, []models.NoticeKind{models.NoticeStart, models.NoticePause, models.NoticeResume}, w.noticeKinds())
		require.Equal(t, 1, w.count("SELECT count(*) FROM audit WHERE actor = 'eve' AND detail = 'name,status'"))
		require.NotContains(t, w.dump(), "Grace")
	})
}

func TestUpdateParticipantRefuses(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		update := func(u models.ParticipantUpdate) error {
			u.Now = at(5)
			_, err := w.People.UpdateParticipant(w.ctx, u)
			return err
		}
		name := models.ParticipantPatch{PersonTexts: models.PersonTexts[*string]{Name: ptr("Grace")}}
		require.ErrorIs(t, update(models.ParticipantUpdate{ID: "nobody", Patch: name}), models.ErrNotFound)
		require.ErrorIs(t, update(models.ParticipantUpdate{ID: "p1", Patch: name, IfMatch: ptr(int64(7))}), models.ErrStale)
		require.NoError(t, update(models.ParticipantUpdate{ID: "p1", Patch: name, IfMatch: ptr(int64(1))}))
		require.ErrorIs(t, update(models.ParticipantUpdate{ID: "p1", Patch: models.ParticipantPatch{PersonTexts: models.PersonTexts[*string]{Name: ptr("Joan")}}, IfMatch: ptr(int64(1))}), models.ErrStale)
		var field *models.FieldError
		require.ErrorAs(t, update(models.ParticipantUpdate{ID: "p1", Patch: models.ParticipantPatch{Debug: ptr(true)}}), &field)

		require.NoError(t, update(models.ParticipantUpdate{ID: "p1", Patch: models.ParticipantPatch{Tester: ptr(true), Debug: ptr(true)}}))
		require.NoError(t, update(models.ParticipantUpdate{ID: "p1", Patch: models.ParticipantPatch{Tester: ptr(false)}}))
		p, err := w.People.Participant(w.ctx, "p1")
		require.NoError(t, err)
		require.False(t, p.Debug, "debug goes with the tester flag")
	})
}

// Of sixteen updates that were all based on one version exactly one holds.
func TestUpdateParticipantAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		won := 0
		for _, err := range together(16, func(i int) error {
			patch := models.ParticipantPatch{PersonTexts: models.PersonTexts[*string]{Name: ptr(fmt.Sprintf("name %d", i))}}
			_, err := w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "p1", Patch: patch, IfMatch: ptr(int64(1)), Now: at(1)})
			return err
		}) {
			if err == nil {
				won++
				continue
			}
			require.ErrorIs(t, err, models.ErrStale)
		}
		require.Equal(t, 1, won)
		p, err := w.People.Participant(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, int64(2), p.Version)
	})
}

func TestRemoveParticipant(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		reply := w.turn(1, wire.TurnPlan{Kind: wire.TurnReply}, 1)
		plan := promptPlan("2026-03-02")
		prompt := w.turn(2, plan, 2)
		require.NoError(t, w.People.RemoveParticipant(w.ctx, "p1", "operator", at(3)))
		require.ErrorIs(t, w.People.RemoveParticipant(w.ctx, "p1", "operator", at(4)), models.ErrNotFound)

		_, getErr := w.People.Participant(w.ctx, "p1")
		_, profileErr := w.People.Profile(w.ctx, "p1")
		_, historyErr := w.People.History(w.ctx, "p1", 10, time.Time{})
		_, _, queueErr := w.Outbox.QueueOperatorMessage(w.ctx, models.OperatorMessage{ParticipantID: "p1", Key: "k", Body: "b", Now: at(4)})
		_, updateErr := w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "p1", Now: at(4)})
		for _, err := range []error{getErr, profileErr, historyErr, queueErr, updateErr} {
			require.ErrorIs(t, err, models.ErrNotFound)
		}
		tc, err := w.Turns.TurnContext(w.ctx, "p1-t1", 10)
		require.NoError(t, err, "the worker still finds the row")
		require.Equal(t, wire.StatusWithdrawn, tc.Participant.Status)
		require.Equal(t, int64(2), tc.Participant.Version)
		for _, id := range []string{reply, prompt} {
			status, code := w.outbox(id)
			require.Equal(t, wire.OutboxCanceled, status)
			require.Equal(t, "removed", code)
		}
		require.Equal(t, models.PromptFailed, w.promptState(plan.PromptID))
		require.Equal(t, []models.NoticeKind{models.NoticeStart, models.NoticeUnenroll}, w.noticeKinds())

		fresh, err := w.People.Enroll(w.ctx, person("p2", phone), "operator")
		require.NoError(t, err, "the phone is free again")
		require.Equal(t, "p2", w.inbound("SM9", 5, "hello again").Inbound.ParticipantID)
		require.Equal(t, "p2", fresh.ID)
	})
}

func TestNotices(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.inbound("SM1", 1, "one")
		w.inbound("SM2", 2, "two")
		rows, err := w.Notices.PendingNotices(w.ctx, at(2), 10)
		require.NoError(t, err)
		require.Len(t, rows, 2, "the newest is not old enough")
		require.Equal(t, []models.NoticeKind{models.NoticeMessage, models.NoticeStart}, []models.NoticeKind{rows[0].Kind, rows[1].Kind})
		first, err := w.Notices.PendingNotices(w.ctx, at(9), 1)
		require.NoError(t, err)
		require.Equal(t, rows[:1], first)

		require.NoError(t, w.Notices.NoticesDelivered(w.ctx, nil, at(3)))
		require.NoError(t, w.Notices.NoticesDelivered(w.ctx, []int64{rows[0].ID, rows[1].ID}, at(3)))
		require.NoError(t, w.Notices.NoticesDelivered(w.ctx, []int64{rows[0].ID}, at(8)))
		require.Equal(t, []models.NoticeKind{models.NoticeMessage}, w.noticeKinds())
		require.Equal(t, 2, w.count("SELECT count(DISTINCT id) FROM notices WHERE delivered_at IS NOT NULL"))
		require.Equal(t, 1, w.count("SELECT count(DISTINCT delivered_at) FROM notices"), "the first instant stays")
	})
}

// People of an import wait for their greeting without a workflow. Texts come before
// everything else, and bring the start of who wrote them. Answers to texts that waited
// come last.
func TestNoticesOfThoseWhoTextComeFirst(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		waiting := func(minutes int) (of []string) {
			rows, err := w.Notices.PendingNotices(w.ctx, at(minutes), 10)
			require.NoError(t, err)
			for _, row := range rows {
				of = append(of, row.ParticipantID+" "+string(row.Kind))
			}
			return of
		}
		for i, id := range []string{"a", "b", "c"} {
			p, greeting := person(id, fmt.Sprintf("+1555867540%d", i)), at(60*i)
			p.EnrolledAt, p.CreatedAt, p.GreetingAt = start, start, &greeting
			_, err := w.People.Enroll(w.ctx, p, "operator")
			require.NoError(t, err)
		}
		w.enrolled()
		require.Equal(t, []string{"a start", "p1 start"}, waiting(1))
		w.inbound("SM1", 2, "hello")
		require.Equal(t, []string{"p1 message", "a start", "p1 start"}, waiting(3))
		require.Equal(t, []string{"p1 message", "a start", "p1 start"}, waiting(58))
		require.Equal(t, []string{"p1 message", "a start", "b start", "p1 start"}, waiting(59), "a minute before the greeting")
		for _, status := range []wire.Status{wire.StatusPaused, wire.StatusActive} {
			_, err := w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "a", Patch: models.ParticipantPatch{Status: &status}, Now: at(4)})
			require.NoError(t, err)
		}
		require.Equal(t, []string{"p1 message", "a start", "p1 start", "a pause", "a resume"}, waiting(58))
		w.inbound("SM2", 5, "hello")
		require.Equal(t, []string{"p1 message", "p1 message", "a start", "p1 start", "a pause", "a resume"}, waiting(58))
	})
}

func TestRecordAudit(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Audit.RecordAudit(w.ctx, models.AuditRow{ParticipantID: "p9", Actor: "eve", Action: "export", Detail: "d", At: at(1)}))
		require.Equal(t, 1, w.count("SELECT count(*) FROM audit WHERE action = 'export'"))
	})
}

func TestCanceledContext(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		_, err := w.People.Participant(canceled(), "p1")
		require.Error(t, err)
		require.NotErrorIs(t, err, models.ErrNotFound)
		err = w.People.RemoveParticipant(canceled(), "p1", "operator", at(1))
		require.Error(t, err)
		require.NotErrorIs(t, err, models.ErrNotFound)
	})
}
