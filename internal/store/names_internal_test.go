package store

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// OpenedNames counts the names that searches have opened, for tests.
func (s *Store) OpenedNames() int {
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	return s.names.opened
}

func TestOpenedNamesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var names openedNames
		open := func(id, sealed, name string) string {
			return names.open(id, sealed, func() string { return name })
		}
		require.Equal(t, "ada", open("p1", "s1", "ada"))
		require.Equal(t, "ada", open("p1", "s1", "unused"), "it is opened once")
		require.Equal(t, "ida", open("p1", "s2", "ida"), "it was changed")
		require.Empty(t, open("p1", "", "unused"), "it was erased")
		require.Equal(t, "eve", open("p1", "s2", "eve"))
		names.drop("p1")
		require.Empty(t, names.byID)
		open("p2", "s3", "ora")
		require.Equal(t, 4, names.opened)
		<-time.After(nameLife)
		synctest.Wait()
		require.Empty(t, names.byID)
		open("p2", "s3", "ora")
		require.Equal(t, 5, names.opened)
		names.forget()
	})
}
