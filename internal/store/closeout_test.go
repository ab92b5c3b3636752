package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// changeStudy changes state and settings of the default study.
func (w *world) changeStudy(state models.StudyState, settings string, minutes int) {
	w.t.Helper()
	patch := models.StudyPatch{State: &state}
	if settings != "" {
		patch.Settings = &settings
	}
	_, err := w.Studies.ChangeStudy(w.ctx, models.StudyUpdate{ID: models.DefaultStudy, Patch: patch, Actor: "eve", Now: at(minutes)})
	require.NoError(w.t, err)
}

// A closed study completes its people, each with the close-out text once; what was
// not done stays in the tables for whichever process comes next.
func TestCloseOut(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		_, err := w.People.Enroll(w.ctx, person("p2", "+14155550188"), "operator")
		require.NoError(t, err)
		list := func() (ids []string) {
			rows, err := w.People.PeopleToCloseOut(w.ctx, "", 10)
			require.NoError(t, err)
			for _, row := range rows {
				ids = append(ids, row.ID)
			}
			return ids
		}
		require.Empty(t, list())
		require.NoError(t, w.People.CloseOut(w.ctx, "p1", at(1)))
		p, err := w.People.Participant(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, wire.StatusActive, p.Status, "the study goes on")

		w.changeStudy(models.StudyClosed, `{"close_out":"Goodbye.","close_outs":{"en":"Thank you for “taking part”."}}`, 2)
		require.Equal(t, []string{"p1", "p2"}, list())
		before, err := w.Notices.PendingNotices(w.ctx, at(900), 100)
		require.NoError(t, err)
		for range 2 {
			require.NoError(t, w.People.CloseOut(w.ctx, "p1", at(3)))
		}
		require.NoError(t, w.Close())
		w.Store = openStore(t, w.url)
		require.Equal(t, []string{"p2"}, list(), "the next process goes on with the rest")

		row, err := w.Outbox.Row(w.ctx, "p1-closeout")
		require.NoError(t, err)
		require.Equal(t, `Thank you for "taking part".`, row.Body, "in the language of the person, without what costs more")
		notices, err := w.Notices.PendingNotices(w.ctx, at(900), 100)
		require.NoError(t, err)
		require.Len(t, notices, len(before)+2)
		require.Equal(t, models.NoticeSend, notices[len(before)].Kind)
		require.Equal(t, models.NoticeUpdate, notices[len(before)+1].Kind)
		claim, err := w.Outbox.ClaimSend(w.ctx, "p1-closeout", at(4))
		require.NoError(t, err)
		require.True(t, claim.Post, "the status does not stop it: %s", claim.Outbox.ErrorCode)

		w.changeStudy(models.StudyArchived, "", 5)
		require.NoError(t, w.People.CloseOut(w.ctx, "p2", at(6)))
		require.Empty(t, list())
		_, err = w.Outbox.Row(w.ctx, "p2-closeout")
		require.ErrorIs(t, err, models.ErrNotFound, "an archived study says nothing")
		p, err = w.People.Participant(w.ctx, "p2")
		require.NoError(t, err)
		require.Equal(t, wire.StatusCompleted, p.Status)
	})
}
