package main

import (
	"errors"
	"flag"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/program"
)

func TestParseOptions(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want string // of the error; empty for none
	}{
		{name: "none"},
		{name: "all", args: []string{"--data", "d", "--http", "127.0.0.1:1", "--temporal-port", "2", "--ui-port", "3", "--sim-port", "4",
			"--sync", "full", "--no-worker", "--no-starter", "--ephemeral"}},
		{name: "unknown flag", args: []string{"--dta", "d"}, want: "-dta"},
		{name: "left over", args: []string{"start"}, want: `unexpected argument "start"`},
		{name: "sync", args: []string{"--sync", "off"}, want: "normal or full"},
		{name: "http", args: []string{"--http", "8080"}, want: "--http"},
		{name: "port", args: []string{"--sim-port", "70000"}, want: "--sim-port 70000"},
		{name: "question mark", args: []string{"--data", "a?b"}, want: "question mark"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseOptions(tt.args, io.Discard)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			var usage *program.UsageError
			require.ErrorAs(t, err, &usage)
			require.ErrorContains(t, err, tt.want)
		})
	}
	_, err := parseOptions([]string{"-h"}, io.Discard)
	require.ErrorIs(t, err, flag.ErrHelp)
}

func planOf(t *testing.T, environ []string, args ...string) (plan, error) {
	t.Helper()
	o, err := parseOptions(append([]string{"--data", t.TempDir()}, args...), io.Discard)
	require.NoError(t, err)
	f, err := openFolder(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.close()) })
	return newPlan(o, f, environ)
}

func TestPlanSuppliesWhatIsNotSet(t *testing.T) {
	p, err := planOf(t, nil, anyPorts...)
	require.NoError(t, err)
	require.True(t, p.simulated)
	require.True(t, p.scripted)
	s := p.settings
	require.Equal(t, "http://"+local(p.at.sim), s.Carrier.BaseURL)
	require.Equal(t, simulatedAccount, s.Carrier.AccountSID)
	require.Equal(t, []string{p.token}, s.Carrier.AuthTokens.Reveal())
	require.Equal(t, "http://"+local(p.at.sim)+"/v1", s.Model.BaseURL)
	require.NotEmpty(t, s.Model.Keys(), "the script, like OpenAI, refuses a request without a key")
	require.Equal(t, "sqlite:"+p.folder.file(databaseFile), s.Database.URL.Reveal())
	require.Equal(t, local(p.at.temporal), s.Temporal.Address)
	require.Equal(t, p.at.api, s.HTTP.PublicURL)
	_, port, err := net.SplitHostPort(s.HTTP.Addr)
	require.NoError(t, err)
	require.NotEqual(t, "0", port)
}

func TestPlanKeepsWhatIsSet(t *testing.T) {
	p, err := planOf(t, []string{
		"HOME=/nowhere",
		"DATABASE_URL=postgres://u:p@h/d",
		"TWILIO_ACCOUNT_SID=AC1", "TWILIO_AUTH_TOKEN=t1", "TWILIO_MESSAGING_SERVICE_SID=MG1", "COACH_PUBLIC_URL=https://coach.example.org",
		"OPENAI_API_KEY=sk-1", "COACH_PAYLOAD_KEYS=k9:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
		"COACH_HTTP_ADDR=127.0.0.1:4321",
		"TEMPORAL_ADDRESS=prod.example.org:7233", "TEMPORAL_API_KEY=never", "TEMPORAL_NAMESPACE=study",
	})
	require.NoError(t, err)
	require.False(t, p.simulated)
	require.False(t, p.scripted)
	s := p.settings
	require.Equal(t, "postgres://u:p@h/d", s.Database.URL.Reveal())
	require.Empty(t, s.Carrier.BaseURL)
	require.Empty(t, s.Carrier.From)
	require.Equal(t, "MG1", s.Carrier.MessagingServiceSID)
	require.Equal(t, "https://coach.example.org", s.HTTP.PublicURL)
	require.Empty(t, s.Model.BaseURL)
	require.Equal(t, "127.0.0.1:4321", s.HTTP.Addr)
	require.Equal(t, "127.0.0.1:7233", s.Temporal.Address, "dev runs its own server")
	require.Equal(t, "study", s.Temporal.Namespace)
	require.NoFileExists(t, p.folder.file(keyFile))
}

func TestPlanRefuses(t *testing.T) {
	t.Run("a bad setting, by name", func(t *testing.T) {
		_, err := planOf(t, []string{"COACH_DEBOUNCE=soon"})
		require.ErrorContains(t, err, "COACH_DEBOUNCE")
	})
	t.Run("a database whose key is gone", func(t *testing.T) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, databaseFile), nil, 0o600))
		f := &folder{path: dir}
		_, err := f.payloadKey()
		require.ErrorContains(t, err, keyFile)
		require.NoFileExists(t, f.file(keyFile))
	})
	t.Run("an open API without a token", func(t *testing.T) {
		_, err := planOf(t, nil, "--http", "0.0.0.0:0")
		require.ErrorContains(t, err, "COACH_API_TOKEN")
	})
}

func TestSystemStopsInReverseAndTellsEveryFailure(t *testing.T) {
	s := newSystem()
	var order []string
	for _, name := range []string{"server", "sim", "worker", "starter"} {
		s.add(name, func() error {
			order = append(order, name)
			if name == "server" {
				return nil
			}
			return errors.New("stuck " + name)
		})
	}
	err := s.stop()
	require.Equal(t, []string{"starter", "worker", "sim", "server"}, order)
	require.ErrorContains(t, err, "stopping the starter: stuck starter")
	require.ErrorContains(t, err, "stopping the sim: stuck sim")
	require.NoError(t, s.stop(), "a second stop has nothing left to do")
}

func TestWriteEnvironIsForAShell(t *testing.T) {
	f := &folder{path: t.TempDir()}
	p := plan{folder: f, supplied: map[string]string{"B": "it's", "A": "x y"}}
	require.NoError(t, p.writeEnviron())
	text, err := os.ReadFile(f.file(environFile))
	require.NoError(t, err)
	require.Equal(t, "A='x y'\nB='it'\\''s'\n", string(text))
	info, err := os.Stat(f.file(environFile))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}
