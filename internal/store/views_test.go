package store_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

// An operator is shown their own views and those that others share, and removes
// their own.
func TestViews(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		add := func(owner, name string, shared bool) (models.PeopleView, error) {
			return w.Views.AddView(w.ctx, models.PeopleView{Owner: owner, Name: name, Query: "status=paused", Shared: shared, CreatedAt: at(1)})
		}
		names := func(actor string) (out []string) {
			rows, err := w.Views.List(w.ctx, actor)
			require.NoError(t, err)
			for _, row := range rows {
				out = append(out, row.Owner+" "+row.Name)
			}
			return out
		}
		own, err := add("user:ada", "paused", false)
		require.NoError(t, err)
		shared, err := add("user:bo", "for all", true)
		require.NoError(t, err)
		_, err = add("user:bo", "paused", false)
		require.NoError(t, err, "names are each owner's own")
		_, err = add("user:ada", "paused", true)
		require.ErrorIs(t, err, models.ErrConflict)
		require.Equal(t, []string{"user:bo for all", "user:ada paused"}, names("user:ada"))
		require.Equal(t, []string{"user:bo for all"}, names("user:cy"))

		require.ErrorIs(t, w.Views.DeleteView(w.ctx, models.ViewRemoval{ID: shared.ID, Actor: "user:ada", Now: at(2)}), models.ErrNotFound)
		require.NoError(t, w.Views.DeleteView(w.ctx, models.ViewRemoval{ID: shared.ID, Actor: "user:ada", Any: true, Now: at(2)}))
		require.NoError(t, w.Views.DeleteView(w.ctx, models.ViewRemoval{ID: own.ID, Actor: "user:ada", Now: at(2)}))
		require.ErrorIs(t, w.Views.DeleteView(w.ctx, models.ViewRemoval{ID: own.ID, Actor: "user:ada", Now: at(2)}), models.ErrNotFound)
		require.Empty(t, names("user:ada"))
		require.Equal(t, []int{3, 2}, []int{w.count("SELECT count(*) FROM audit WHERE action = 'view_add'"), w.count("SELECT count(*) FROM audit WHERE action = 'view_delete'")})
	})
}

func TestViewsOfOneOperatorAreBounded(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		for n := range models.MostViews + 1 {
			_, err := w.Views.AddView(w.ctx, models.PeopleView{Owner: "user:ada", Name: fmt.Sprint(n), Query: "waiting=true", CreatedAt: at(1)})
			var refused *models.FieldError
			if n < models.MostViews {
				require.NoError(t, err)
				continue
			}
			require.ErrorAs(t, err, &refused)
		}
	})
}
