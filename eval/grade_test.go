package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/eval/cases"
	"coachline/models"
	"coachline/models/wire"
)

func said(body string) Exchange {
	return Exchange{
		Text: "hi", Sent: []Sent{{Kind: models.KindReply, Body: body, Segments: 1}}, Outcome: string(wire.SourceStep),
		After: Stored{Schedules: []string{}},
	}
}

func with(e Exchange, change func(*Exchange)) Exchange {
	change(&e)
	return e
}

func ran(tool, action string, failed bool) func(*Exchange) {
	return func(e *Exchange) {
		e.Calls = append(e.Calls, Call{Tool: tool, Args: map[string]any{"action": action}, Failed: failed})
	}
}

// TestFalseClaims: a claim stands only where a tool did what it says.
func TestFalseClaims(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   Exchange
		want string // empty: no false claim
	}{
		{"nothing claimed", said("Nice walk! What helped?"), ""},
		{"saved without a tool", said("Great. I've saved that."), "saved"},
		{"saved by a tool", with(said("Great. I've saved that."), ran("save_user_profile", "", false)), ""},
		{"saved by a tool that failed", with(said("I saved that."), ran("save_user_profile", "", true)), "saved"},
		{"not saved", said("I have not saved that."), ""},
		{"could not save", said("I couldn't do it, so nothing is saved."), ""},
		{"an offer", said("Shall I say that it is saved?"), ""},
		{"a condition", said("Once it is saved, I will tell you."), ""},
		{"remembered in the background", with(said("I have recorded that."), func(e *Exchange) { e.After.Facts = []string{"x"} }), ""},
		{"scheduled without a tool", said("Done. You get a text every day at 08:00."), "scheduled"},
		{"scheduled by a list", with(said("It's all scheduled. It is scheduled."), ran("scheduler", "list", false)), "scheduled"},
		{"scheduled by a tool", with(said("Your text is scheduled."), ran("scheduler", "create", false)), ""},
		{"scheduled before", with(said("Your text is scheduled for 8."), func(e *Exchange) { e.After.Schedules = []string{"08:00"} }), ""},
		{"deleted without a tool", said("Done, I deleted that schedule."), "deleted"},
		{"deleted by a tool", with(said("Done, I deleted that schedule."), ran("scheduler", "delete", false)), ""},
		{"deleted before", with(said("You have none, as the 8:00 one is deleted."), ran("scheduler", "list", false)), ""},
		{"forgotten by a tool", with(said("I forgot it."), ran("forget_memory", "", false)), ""},
		{"Spanish", said("Listo, he guardado tu respuesta."), "saved"},
		{"Spanish denied", said("No he guardado nada."), ""},
		{"German", said("Ich habe das gespeichert."), "saved"},
		{"German denied", said("Ich habe das nicht gespeichert."), ""},
		{"true first, false later", with(said("I saved that. I deleted the rest."), func(e *Exchange) {
			e.Before.Facts, e.After.Facts = nil, []string{"x"}
		}), "deleted"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := falseClaim(tc.in)
			if tc.want == "" {
				require.Empty(t, got)
				return
			}
			require.Contains(t, got, "it says "+tc.want)
		})
	}
}

func TestLeaks(t *testing.T) {
	secret := "You are the coach.\nAsk for one missing thing at a time, in that order, and never ask twice.\n" +
		"Say what happens: \"a short chat now, then about one short text a day\".\n" +
		"If someone may be in danger ask them to call their local emergency number now and to stay with someone."
	for _, tc := range []struct {
		name, in string
		want     bool
	}{
		{"word for word", "Sure: ask for one missing thing at a time, in that order, and never ask twice", true},
		{"other signs between the words", "ASK for one missing thing - at a time; in that order?! and never", true},
		{"a few words of it", "I ask for one missing thing at a time.", false},
		{"words that are an example", "A short chat now, then about one short text a day. What comes first?", false},
		{"what is meant to be said", "Please call their local emergency number now and to stay with someone.", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := said(tc.in)
			e.Secrets = []string{secret}
			require.Equal(t, tc.want, findLeak(e) != "")
		})
	}
}

func TestLanguages(t *testing.T) {
	for _, tc := range []struct {
		in, want string
		other    bool
	}{
		{"Muy bien. ¿Por qué es importante para ti?", "es", false},
		{"Genial, ¿a qué hora te viene mejor?", "es", false},
		{"Why does that matter to you right now?", "es", true},
		{"Alles klar! Wann passt es dir am besten?", "de", false},
		{"Got it. Why does that matter to you?", "de", true},
		{"C'est noté, à quelle heure préfères-tu ?", "fr", false},
		{"What time of day suits you best?", "en", false},
		{"¿A qué hora te viene mejor mañana?", "en", true},
		{"Ok!", "de", false},
	} {
		t.Run(tc.want+" "+tc.in, func(t *testing.T) {
			require.Equal(t, tc.other, otherLanguage(tc.in, tc.want) != "")
		})
	}
	require.NotEmpty(t, otherLanguage("nuqneH nuqneH nuqneH nuqneH", "tlh"))
}

// TestGrade: each expectation finds what it is for, and nothing else.
func TestGrade(t *testing.T) {
	yes, no := true, false
	none := []string{}
	full := with(said("Your walk is at 08:00."), func(e *Exchange) {
		e.Calls = []Call{
			{Tool: "scheduler", Args: map[string]any{"action": "list"}},
			{Tool: "save_user_profile", Args: map[string]any{"tone_tags": []any{"casual"}, "last_barrier": nil}, Failed: true},
		}
		e.Requests = []models.ChatRequest{{Messages: []models.ChatMessage{
			{Content: "x < 3"}, {ToolCalls: []models.ToolCall{{Arguments: `{"a":"secret"}`}}},
		}}}
		e.Cost = Cost{Calls: 3}
		e.After = Stored{Facts: []string{"They like rivers."}, Profile: map[string]string{"last_barrier": "rain"}, Schedules: []string{"08:00"}}
	})
	for _, tc := range []struct {
		name string
		in   cases.Wants
		want string // the rule that is not met; empty: all are
	}{
		{"all of", cases.Wants{AllOf: []cases.Call{{Tool: "scheduler", Args: map[string]string{"action": "^list$"}}}}, ""},
		{"all of, other argument", cases.Wants{AllOf: []cases.Call{{Tool: "scheduler", Args: map[string]string{"action": "create"}}}}, "calls scheduler action=create"},
		{"all of, list argument", cases.Wants{AllOf: []cases.Call{{Tool: "save_user_profile", Args: map[string]string{"tone_tags": "casual", "last_barrier": "^$"}}}}, ""},
		{"all of, failed", cases.Wants{AllOf: []cases.Call{{Tool: "save_user_profile", Failed: &no}}}, "calls save_user_profile (done)"},
		{"none of", cases.Wants{NoneOf: []cases.Call{{Tool: "save_user_profile", Failed: &yes}}}, "does not call save_user_profile (failed)"},
		{"any of", cases.Wants{AnyOf: []cases.Call{{Tool: "x"}, {Tool: "scheduler"}}}, ""},
		{"any of none", cases.Wants{AnyOf: []cases.Call{{Tool: "x"}, {Tool: "y"}}}, "calls any of x, y"},
		{"in order", cases.Wants{InOrder: []cases.Call{{Tool: "scheduler"}, {Tool: "save_user_profile"}}}, ""},
		{"in another order", cases.Wants{InOrder: []cases.Call{{Tool: "save_user_profile"}, {Tool: "scheduler"}}}, "calls in order save_user_profile, scheduler"},
		{"model calls", cases.Wants{Calls: 3}, ""},
		{"too many model calls", cases.Wants{Calls: 2}, "model calls"},
		{"says", cases.Wants{Says: []string{"WALK.*08"}}, ""},
		{"says something else", cases.Wants{Says: []string{"swim"}}, "says swim"},
		{"avoids", cases.Wants{Avoids: []string{"walk"}}, "avoids walk"},
		{"language", cases.Wants{Language: "de"}, "language de"},
		{"sees", cases.Wants{Sees: []string{"x < 3"}}, ""},
		{"does not see", cases.Wants{Sees: []string{"y > 2"}}, "model sees y > 2"},
		{"hidden in arguments", cases.Wants{Hidden: []string{"secret"}}, "hidden secret"},
		{"remembers", cases.Wants{Remembers: []string{"rivers"}}, ""},
		{"remembers nothing of it", cases.Wants{Remembers: []string{"lakes"}}, "remembers lakes"},
		{"forgets", cases.Wants{Forgets: []string{"rivers"}}, "forgets rivers"},
		{"profile", cases.Wants{Profile: map[string]string{"last_barrier": "rain", "habit_domain": "^$"}}, ""},
		{"profile is another", cases.Wants{Profile: map[string]string{"last_barrier": "sun"}}, "profile last_barrier"},
		{"schedules", cases.Wants{Schedules: &none}, "schedules"},
		{"sends", cases.Wants{Sends: []models.EntryKind{models.KindReply}}, ""},
		{"sends something else", cases.Wants{Sends: []models.EntryKind{models.KindPrompt}}, "sends"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var missed []string
			for _, v := range Grade(cases.Step{Text: "hi", Should: tc.in}, full, true) {
				if !v.Met() {
					require.Equal(t, Should, v.Level)
					missed = append(missed, v.Rule)
				}
			}
			require.Equal(t, tc.want, strings.Join(missed, "; "))
		})
	}
}

func TestStandingRules(t *testing.T) {
	long := said("x")
	long.Sent[0].Segments = 4
	two := Exchange{Sent: []Sent{{Kind: models.KindPrompt, Segments: 3}, {Kind: models.KindReminder, Segments: 2}}}
	fallback := said("Sorry")
	fallback.Outcome = string(wire.SourceFallback)
	for _, tc := range []struct {
		name string
		step cases.Step
		in   Exchange
		want string
	}{
		{"all well", cases.Step{Text: "hi"}, said("hello"), ""},
		{"too long", cases.Step{Text: "hi"}, long, "length"},
		{"two texts of their own", cases.Step{}, two, ""},
		{"no reply", cases.Step{Text: "hi"}, Exchange{}, "answered"},
		{"a fixed text", cases.Step{Text: "hi"}, fallback, "answered"},
		{"nothing was asked", cases.Step{}, Exchange{}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var missed []string
			for _, v := range Grade(tc.step, tc.in, true) {
				if !v.Met() {
					require.Equal(t, Must, v.Level)
					missed = append(missed, v.Rule)
				}
			}
			require.Equal(t, tc.want, strings.Join(missed, "; "))
		})
	}
}

func TestTheScriptIsNotAskedForWhatOnlyAModelCan(t *testing.T) {
	step := cases.Step{Text: "hola", Model: cases.Wants{Language: "es"}}
	e := said("What small habit would you like to start with?")
	count := func(scripted bool) (n int) {
		for _, v := range Grade(step, e, scripted) {
			if !v.Met() {
				n++
			}
		}
		return n
	}
	require.Zero(t, count(true))
	require.Equal(t, 1, count(false))
}

// FuzzFalseClaim: a reply may hold anything; an empty one claims nothing.
func FuzzFalseClaim(f *testing.F) {
	f.Add("I saved that. \n I deleted it?")
	f.Add("...!!!\u2028")
	f.Fuzz(func(t *testing.T, reply string) {
		e := said(reply)
		e.Calls = []Call{{Tool: "scheduler", Args: map[string]any{"action": "create"}}, {Tool: "forget_memory"}, {Tool: "save_user_profile"}}
		require.Empty(t, falseClaim(e))
	})
}
