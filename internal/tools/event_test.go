package tools

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

func newRegistry(t testing.TB) *Registry {
	t.Helper()
	registry, err := New(PlaybookTools(playbooks(t))...)
	require.NoError(t, err)
	return registry
}

func TestEventOfGoodArguments(t *testing.T) {
	ask := func(a wire.ScheduleAsk) wire.Event {
		return wire.Event{Kind: wire.EventScheduleTool, Schedule: &a}
	}
	move := func(mode wire.Mode, delay time.Duration) wire.Event {
		return wire.Event{Kind: wire.EventTransitionAsk, Mode: mode, Delay: delay}
	}
	tests := []struct {
		name, tool, args string
		want             wire.Event
	}{
		{"at once", "transition_state", `{"target_state":"FEEDBACK"}`, move("FEEDBACK", 0)},
		{"fraction of a minute", "transition_state", `{"target_state":"INTAKE","delay_minutes":0.5,"reason":"later"}`, move("INTAKE", 30*time.Second)},
		{"zero is at once", "transition_state", `{"target_state":"INTAKE","delay_minutes":0}`, move("INTAKE", 0)},
		{"null optional", "transition_state", `{"target_state":"INTAKE","delay_minutes":null}`, move("INTAKE", 0)},
		{"longest", "transition_state", `{"target_state":"INTAKE","delay_minutes":525600}`, move("INTAKE", 365*24*time.Hour)},
		{"object in a string", "transition_state", `"{\"target_state\":\"FEEDBACK\"}"`, move("FEEDBACK", 0)},
		{"list", "scheduler", `{"action":"list"}`, ask(wire.ScheduleAsk{Action: "list"})},
		{"delete", "scheduler", `{"action":"delete","schedule_id":"s1"}`, ask(wire.ScheduleAsk{Action: "delete", ID: "s1"})},
		{
			"fixed, with empty fillers", "scheduler",
			`{"action":"create","type":"fixed","fixed_time":"08:00","random_start_time":"","timezone":null,"schedule_id":""}`,
			ask(wire.ScheduleAsk{Action: "create", Type: "fixed", At: "08:00", NewID: "n1"}),
		},
		{
			"random over midnight in a zone", "scheduler",
			`{"action":"create","type":"random","random_start_time":"23:30","random_end_time":"00:15","timezone":"Nowhere/Land"}`,
			ask(wire.ScheduleAsk{Action: "create", Type: "random", From: "23:30", To: "00:15", Zone: "Nowhere/Land", NewID: "n1"}),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := newRegistry(t).Event(models.ToolCall{Name: tt.tool, Arguments: tt.args}, "n1")
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestEventOfBadArguments(t *testing.T) {
	tests := []struct {
		name, tool, args, want string
	}{
		{"not JSON", "scheduler", `{"action":`, "arguments: must be one valid JSON object; this could not be read"},
		{"trailing text", "scheduler", `{"action":"list"} now`, "arguments: must be one valid JSON object; this could not be read"},
		{"array", "scheduler", `["list"]`, "arguments: must be one JSON object with named fields"},
		{"null", "scheduler", `null`, "arguments: must be one JSON object with named fields"},
		{"number", "scheduler", `7`, "arguments: must be one JSON object with named fields"},
		{"text in a string", "scheduler", `"list"`, "arguments: must be one JSON object, not text"},
		{"twice wrapped", "scheduler", `"\"{}\""`, "arguments: must be one JSON object with named fields"},
		{"nothing", "scheduler", ``, "action: is required; use one of create, list, delete"},
		{"unknown action", "scheduler", `{"action":"pause"}`, "action: must be one of create, list, delete"},
		{"unknown argument", "scheduler", `{"action":"list","day":"Mon"}`, "day: is not an argument of scheduler; allowed are action, fixed_time, random_end_time, random_start_time, schedule_id, timezone, type"},
		{"no type", "scheduler", `{"action":"create","fixed_time":"08:00"}`, "type: is required for create; use one of fixed, random"},
		{"fixed without time", "scheduler", `{"action":"create","type":"fixed"}`, "fixed_time: is required for type fixed, as HH:MM on the 24-hour clock"},
		{"fixed with window", "scheduler", `{"action":"create","type":"fixed","fixed_time":"08:00","random_start_time":"09:00"}`, "type: fixed takes fixed_time only; use random for a window"},
		{"random with one end", "scheduler", `{"action":"create","type":"random","random_start_time":"08:00"}`, "random_start_time: and random_end_time are both required for type random, as HH:MM on the 24-hour clock"},
		{"random with fixed time", "scheduler", `{"action":"create","type":"random","random_start_time":"08:00","random_end_time":"09:00","fixed_time":"08:30"}`, "type: random takes random_start_time and random_end_time only; use fixed for one time"},
		{"equal ends", "scheduler", `{"action":"create","type":"random","random_start_time":"08:00","random_end_time":"08:00"}`, "random_end_time: must differ from random_start_time; use type fixed for one time"},
		{"id on create", "scheduler", `{"action":"create","type":"fixed","fixed_time":"08:00","schedule_id":"s1"}`, "schedule_id: is only for delete; to change a schedule, create the new one and delete the old one"},
		{"delete without id", "scheduler", `{"action":"delete"}`, "schedule_id: is required for delete; call list to see the ids"},
		{"time as number", "scheduler", `{"action":"create","type":"fixed","fixed_time":800}`, "fixed_time: must be text"},
		{"two faults", "scheduler", `{"action":"make","type":7}`, "action: must be one of create, list, delete; type: must be text"},
		{"negative delay", "transition_state", `{"target_state":"INTAKE","delay_minutes":-0.1}`, "delay_minutes: must be 0 or more"},
		{"endless delay", "transition_state", `{"target_state":"INTAKE","delay_minutes":1e300}`, "delay_minutes: must be 525600 or less"},
		{"delay beyond numbers", "transition_state", `{"target_state":"INTAKE","delay_minutes":1e999999999}`, "arguments: must be one valid JSON object; this could not be read"},
		{"delay as text", "transition_state", `{"target_state":"INTAKE","delay_minutes":"5"}`, "delay_minutes: must be a number"},
		{"lower-case state", "transition_state", `{"target_state":"feedback"}`, "target_state: must be one of INTAKE, FEEDBACK"},
		{"no state", "transition_state", `{}`, "target_state: is required; use one of INTAKE, FEEDBACK"},
		{"unknown tool", "send_sms", `{}`, "tool: there is no tool called send_sms; available are " + strings.Join(ordinaryNames(t), ", ")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := newRegistry(t).Event(models.ToolCall{Name: tt.tool, Arguments: tt.args}, "n1")
			field := (*models.FieldError)(nil)
			require.ErrorAs(t, err, &field)
			require.Equal(t, tt.want, err.Error())
		})
	}
}

func TestTimesAreStrict(t *testing.T) {
	for _, at := range []string{"8:00", "8am", "24:00", "08:60", "08:00:00", " 08:00", "08.00", "0800", "٠٨:٠٠", "08:00\\n"} {
		t.Run(at, func(t *testing.T) {
			args := `{"action":"create","type":"fixed","fixed_time":"` + at + `"}`
			_, err := newRegistry(t).Event(models.ToolCall{Name: "scheduler", Arguments: args}, "n1")
			require.EqualError(t, err, "fixed_time: must be a time as HH:MM on the 24-hour clock, for example 08:00 or 19:30")
		})
	}
}

func TestEventRefusesToolsThatAreRun(t *testing.T) {
	_, err := newRegistry(t).Event(models.ToolCall{Name: "save_user_profile", Arguments: "{}"}, "n1")
	require.ErrorContains(t, err, "is run, not decided")
}
