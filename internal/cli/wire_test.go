package cli

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"coachline/internal/config"
	"coachline/internal/goldens"
)

// TestCommandAndVariableNames compares the commands, their flags and the
// environment variables with the recorded ones, on which scripts and deployments
// rest. A new line is recorded with
// make record RUN=TestCommandAndVariableNames
func TestCommandAndVariableNames(t *testing.T) {
	var lines []string
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		lines = append(lines, "command "+c.CommandPath())
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			lines = append(lines, "command "+c.CommandPath()+" --"+f.Name+" "+f.Value.Type())
		})
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walk((&program{}).rootCommand())
	lines = append(lines, variables(reflect.TypeFor[config.Config]())...)
	slices.Sort(lines)
	got := strings.Join(lines, "\n") + "\n"

	const file = "testdata/wire.golden"
	if goldens.ShouldRecord() {
		require.NoError(t, os.MkdirAll("testdata", 0o750))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// variables lists the environment variables of a configuration with their
// defaults.
func variables(of reflect.Type) []string {
	var names []string
	for field := range of.Fields() {
		if name := field.Tag.Get("env"); name != "" {
			names = append(names, "environment "+name+"="+field.Tag.Get("envDefault"))
		} else if field.Type.Kind() == reflect.Struct {
			names = append(names, variables(field.Type)...)
		}
	}
	return names
}
