package coach

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models/wire"
)

// TestTextsOfASilenceAreAnswered: what came while an operator wrote, or during a pause, is
// answered when the coach writes again and that is asked for; in quiet hours only where the
// newest text has just come, and never in the place of an operator who has the conversation.
func TestTextsOfASilenceAreAnswered(t *testing.T) {
	const night = "2026-01-15T22:00:00-05:00"
	morning := setDue(wire.DueDebounce, "", instant(t, "2026-01-16T08:00:00-05:00"))
	reply, kept := turn(wire.TurnPlan{Kind: wire.TurnReply}), turn(wire.TurnPlan{Kind: wire.TurnMessage})
	back := []wire.Effect{{Kind: wire.EffectTakeOver}, clearDue(wire.DueTakeOverEnd)}
	for _, c := range []struct {
		name   string
		now    string
		age    time.Duration // of the text that waits; negative: none does
		answer bool
		want   []wire.Effect
	}{
		{"by day", noon, time.Hour, true, []wire.Effect{reply}},
		{"not asked for", noon, time.Hour, false, nil},
		{"nothing came", noon, -1, true, nil},
		{"at night, an old text", night, 10*time.Minute + time.Second, true, []wire.Effect{morning}},
		{"at night, a text of just now", night, 10 * time.Minute, true, []wire.Effect{reply}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := at(t, c.now)
			if c.age >= 0 {
				s = waiting(s, c.age)
			}
			taken := s
			taken.State.TakenOverUntil = s.Now.Add(time.Hour)
			taken.State.Due = []wire.Due{{Kind: wire.DueTakeOverEnd, At: taken.State.TakenOverUntil}}
			require.Equal(t, append(back[:2:2], c.want...), decide(t, taken, wire.Event{Kind: wire.EventHandedBack, Answer: c.answer}).Effects)

			s.State.Status = wire.StatusPaused
			resumed := decide(t, s, wire.Event{Kind: wire.EventStatus, Status: wire.StatusActive, Answer: c.answer}).Effects
			require.Subset(t, resumed, c.want)
			require.Equal(t, len(c.want) > 0 && c.want[len(c.want)-1].Kind == wire.EffectStartTurn, resumed[len(resumed)-1].Kind == wire.EffectStartTurn)
		})
	}
	s := waiting(at(t, noon), time.Hour)
	s.State.Status, s.State.TakenOverUntil = wire.StatusPaused, s.Now.Add(time.Hour)
	s.State.Due = []wire.Due{{Kind: wire.DueTakeOverEnd, At: s.State.TakenOverUntil}}
	resumed := decide(t, s, wire.Event{Kind: wire.EventStatus, Status: wire.StatusActive, Answer: true}).Effects
	require.Equal(t, kept, resumed[len(resumed)-1], "the operator answers")
	require.Equal(t, back, decide(t, s, wire.Event{Kind: wire.EventHandedBack, Answer: true}).Effects, "a pause goes on")
}

// TestTextsOfABurstAreKeptAtATakeOver: what was about to be answered enters the
// conversation, where the operator reads it; nothing else does.
func TestTextsOfABurstAreKeptAtATakeOver(t *testing.T) {
	kept := turn(wire.TurnPlan{Kind: wire.TurnMessage})
	take := func(s Input) []wire.Effect {
		return decide(t, s, wire.Event{Kind: wire.EventTakenOver, At: s.Now.Add(time.Hour)}).Effects
	}
	require.Contains(t, take(waiting(at(t, noon), time.Second)), kept)
	require.NotContains(t, take(at(t, noon)), kept)
	paused := waiting(at(t, noon), time.Second)
	paused.State.Status = wire.StatusPaused
	require.NotContains(t, take(paused), kept)
}

// An operator pauses many until nine o'clock, or takes many over: their workflows do not
// all go on in one second, so that people who text then are not behind them.
func TestEndsOfOneInstantAreSpread(t *testing.T) {
	until := instant(t, "2026-01-15T09:00:00-05:00")
	for kind, event := range map[wire.DueKind]wire.EventKind{wire.DuePauseEnd: wire.EventPaused, wire.DueTakeOverEnd: wire.EventTakenOver} {
		for _, spread := range []time.Duration{0, 10 * time.Minute} {
			seconds := map[time.Time]int{}
			for i := range 300 {
				s := at(t, "2026-01-14T09:00:00-05:00")
				s.State.ParticipantID, s.Rules.PromptSpread = fmt.Sprint("p", i), spread
				for _, effect := range decide(t, s, wire.Event{Kind: event, At: until}).Effects {
					if effect.Kind == wire.EffectSetDue && effect.Due.Kind == kind {
						require.False(t, effect.Due.At.Before(until), "nobody is told early")
						require.LessOrEqual(t, effect.Due.At, until.Add(spread/endShare))
						seconds[effect.Due.At.Truncate(time.Second)]++
					}
				}
			}
			if spread == 0 {
				require.Equal(t, map[time.Time]int{until.UTC(): 300}, seconds)
				continue
			}
			require.Greater(t, len(seconds), 25)
			for second, n := range seconds {
				require.Less(t, n, 30, "%s %s", kind, second)
			}
		}
	}
}
