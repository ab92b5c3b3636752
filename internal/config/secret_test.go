package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSecretShows(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"unset", "", ""},
		{"short", "hunter2", "set"},
		{"twelve", "123456789012", "set"},
		{"long", "sk-1234567890", "set (...7890)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, NewSecret(test.in).String())
			require.Equal(t, test.in, NewSecret(test.in).Reveal())
			require.Equal(t, test.in != "", NewSecret(test.in).IsSet())
		})
	}
	require.Equal(t, "set, set (...7890)", NewSecrets("a", "sk-1234567890").String())
}

func TestNoPrinterShowsASecret(t *testing.T) {
	const hidden = "hunter2hunter2"
	cfg, err := Load([]string{
		"DATABASE_URL=postgres://coach:" + hidden + "@db/coach?password=" + hidden,
		"OPENAI_API_KEY=" + hidden, "OPENAI_API_KEYS=" + hidden + "," + hidden, "TWILIO_AUTH_TOKEN=" + hidden,
		"COACH_API_TOKEN=" + hidden, "COACH_PAYLOAD_KEYS=" + goodKeys, "TEMPORAL_API_KEY=" + hidden,
	}, nil)
	require.NoError(t, err)

	var logged bytes.Buffer
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "cfg", cfg, "key", cfg.Model.Key, "keys", cfg.Model.MoreKeys)
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "cfg", cfg, "key", cfg.Model.Key, "keys", cfg.Model.MoreKeys)
	encoded, err := json.Marshal(struct{ A, B any }{cfg.Model, cfg.Carrier})
	require.NoError(t, err)
	table, err := json.Marshal(cfg.Table())
	require.NoError(t, err)
	for _, shown := range []string{
		fmt.Sprint(cfg), fmt.Sprintf("%v", &cfg), fmt.Sprintf("%+v", cfg), fmt.Sprintf("%#v", cfg), fmt.Sprintf("%v %+v %x", cfg.Model, cfg.Model, cfg.HTTP),
		logged.String(), string(encoded), string(table),
	} {
		require.NotContains(t, shown, hidden)
		require.NotContains(t, shown, strings.Repeat("A", 8))
	}
}

func TestTable(t *testing.T) {
	cfg, err := Load([]string{"DATABASE_URL=postgres://coach:pw@db:5432/coach?password=x", "COACH_MODEL=m1", "COACH_QUIET_HOURS=", "COACH_PAYLOAD_KEYS=" + goodKeys}, nil)
	require.NoError(t, err)
	rows := map[string]Setting{}
	for _, row := range cfg.Table() {
		require.NotContains(t, rows, row.Name)
		rows[row.Name] = row
	}
	require.Len(t, rows, len(variables())+3)
	for _, want := range []Setting{
		{"DATABASE_URL", "postgres://coach@db:5432/coach", "environment", ""},
		{"COACH_MODEL", "m1", "environment", ""},
		{"COACH_QUIET_HOURS", "", "environment", "none"},
		{"COACH_PREP_TIME", "10m0s", "default", ""},
		{"OPENAI_API_KEY", "", "default", "not set"},
		{"COACH_SMALL_MODEL", "m1", "default", ""},
		{"COACH_RETENTION", "0s", "default", "never"},
		{"COACH_PAYLOAD_KEYS", "set (...AAA=)", "environment", ""},
		{"TEMPORAL_ADDRESS", "localhost:7233", "default", ""},
	} {
		require.Equal(t, want, rows[want.Name])
	}
}

func TestValidate(t *testing.T) {
	worker := []string{"COACH_PAYLOAD_KEYS=" + goodKeys, "TWILIO_ACCOUNT_SID=AC1", "TWILIO_AUTH_TOKEN=t", "TWILIO_FROM=+15017122661", "OPENAI_API_KEY=k"}
	starter := worker[:3]
	without := func(list []string, name string) []string {
		var out []string
		for _, line := range list {
			if !strings.HasPrefix(line, name+"=") {
				out = append(out, line)
			}
		}
		return out
	}
	for _, test := range []struct {
		name string
		role Role
		env  []string
		want []string
	}{
		{"worker complete", RoleWorker, worker, nil},
		{"worker with a server of its own", RoleWorker, append(without(worker, "OPENAI_API_KEY"), "OPENAI_BASE_URL=http://model/v1"), nil},
		{"worker with a service", RoleWorker, append(without(worker, "TWILIO_FROM"), "TWILIO_MESSAGING_SERVICE_SID=MG1"), nil},
		{"worker with nothing", RoleWorker, nil, []string{"COACH_PAYLOAD_KEYS: not set, and the worker needs it: make one with: echo \"k1:$(openssl rand -base64 32)\"",
			"TWILIO_ACCOUNT_SID: not set", "TWILIO_AUTH_TOKEN: not set", "OPENAI_API_KEY: not set", "TWILIO_FROM: not set"}},
		{"starter on loopback", RoleStarter, starter, nil},
		{"starter on IPv6 loopback", RoleStarter, append([]string{"COACH_HTTP_ADDR=[::1]:0"}, starter...), nil},
		{"starter in public", RoleStarter, append([]string{"COACH_HTTP_ADDR=:8080"}, starter...), []string{"COACH_API_TOKEN: not set", "COACH_PUBLIC_URL: not set"}},
		{"starter without keys", RoleStarter, starter[1:], []string{"COACH_PAYLOAD_KEYS: not set"}},
		{"no such role", Role("cook"), worker, []string{`unknown role "cook"`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg, err := Load(test.env, nil)
			require.NoError(t, err)
			err = cfg.Validate(test.role)
			if test.want == nil {
				require.NoError(t, err)
				return
			}
			for _, want := range test.want {
				require.ErrorContains(t, err, want)
			}
			require.Len(t, strings.Split(err.Error(), "\n"), len(test.want), "%v", err)
		})
	}
}
