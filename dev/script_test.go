package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"coachline/internal/scripttest"
)

// TestScripts runs testdata/script against a system in memory: people text from
// simulated phones, a scripted model answers. All scripts share the system, so each
// has people of its own; testdata/script in the root has those without a conversation.
func TestScripts(t *testing.T) {
	t.Parallel()
	r := launchIn(t, append(slices.Clone(calm), "COACH_MEMORY_STEP=before"), "--ephemeral")
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(r.log)
		}
	})
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", Cmds: scripttest.Commands(),
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars,
				"HOME="+env.WorkDir, "XDG_CONFIG_HOME="+filepath.Join(env.WorkDir, ".config"), "TZ=UTC",
				"COACH_URL="+r.table["API"], "SIM="+strings.TrimSuffix(r.table["Phones"], "/sim/"), scripttest.PhonesVar+"="+strings.TrimSuffix(r.table["Phones"], "/"),
			)
			return nil
		},
	})
}
