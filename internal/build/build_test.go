package build

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersionOf(t *testing.T) {
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0a1b"}
	for _, tt := range []struct {
		name string
		in   debug.BuildInfo
		want string
	}{
		{"a release", debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "v1.2.3"},
		{"a commit", debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{revision}}, "0a1b"},
		{"a changed commit", debug.BuildInfo{Settings: []debug.BuildSetting{revision, {Key: "vcs.modified", Value: "true"}}}, "0a1b+dirty"},
		{"nothing recorded", debug.BuildInfo{}, "devel"},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, versionOf(&tt.in)) })
	}
}

func TestIdentify(t *testing.T) {
	one, two := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "two")
	require.NoError(t, os.WriteFile(one, []byte("one"), 0o600))
	require.NoError(t, os.WriteFile(two, []byte("two"), 0o600))
	of := func(version, path string) string {
		id, err := identify(version, path)
		require.NoError(t, err)
		return id
	}
	require.Equal(t, "v1.2.3", of("v1.2.3", "/nowhere"), "a clean version needs no digest")
	for _, version := range []string{"devel", "v1.2.3+dirty"} {
		id := of(version, one)
		require.Equal(t, id, of(version, one), "the same in every process")
		require.NotEqual(t, id, of(version, two))
		require.Contains(t, id, version+"-")
	}
	_, err := identify("devel", "/nowhere")
	require.ErrorContains(t, err, "reading the program's file")
}

func TestID(t *testing.T) {
	id, err := ID("")
	require.NoError(t, err)
	require.Contains(t, id, Version())
}

func TestCommitOf(t *testing.T) {
	require.Empty(t, commitOf(&debug.BuildInfo{}))
	settings := []debug.BuildSetting{{Key: "vcs.modified", Value: "true"}, {Key: "vcs.revision", Value: "0a1b"}}
	require.Equal(t, "0a1b+dirty", commitOf(&debug.BuildInfo{Settings: settings}))
	require.Equal(t, "0a1b", commitOf(&debug.BuildInfo{Settings: settings[1:]}))
}
