package coach

import "time"

// maxOpenings bounds how many ends of quiet hours a greeting is moved to; with
// more, quiet hours leave no minute of the day.
const maxOpenings = 1000

// Stagger plans the greetings of people who are enrolled together: each outside
// the person's quiet hours, and no more of them in a minute than a sender can
// send beside its replies. The same people in the same order get the same plan.
type Stagger struct {
	perMinute int
	// taken counts the greetings of a minute, and after leads from a full minute
	// to a later one that may have room.
	taken map[int64]int
	after map[int64]int64
}

// NewStagger plans at most perMinute greetings a minute, at least 1.
func NewStagger(perMinute int) *Stagger {
	return &Stagger{perMinute: max(perMinute, 1), taken: map[int64]int{}, after: map[int64]int64{}}
}

// Plan returns when the person is greeted: in the first minute from s.Now on that
// has room and is not quiet for them.
func (g *Stagger) Plan(s Input) (time.Time, error) {
	s.Now = ceilMinute(s.Now.UTC())
	for range maxOpenings {
		open, err := s.Opens()
		if err != nil {
			return time.Time{}, err
		}
		if open.After(s.Now) {
			s.Now = ceilMinute(open.UTC())
			continue
		}
		minute := s.Now.Unix() / 60
		if free := g.firstFree(minute); free > minute {
			s.Now = time.Unix(free*60, 0).UTC()
			continue
		}
		at := s.Now.Add(time.Minute * time.Duration(g.taken[minute]) / time.Duration(g.perMinute))
		g.take(minute)
		return at.Truncate(time.Microsecond), nil
	}
	return s.Now, nil
}

func (g *Stagger) take(minute int64) {
	g.taken[minute]++
	if g.taken[minute] == g.perMinute {
		g.after[minute] = minute + 1
	}
}

// firstFree returns the first minute from a minute on that has room. It shortens
// the way for the next call.
func (g *Stagger) firstFree(minute int64) int64 {
	free := minute
	for next, full := g.after[free]; full; next, full = g.after[free] {
		free = next
	}
	for minute != free {
		minute, g.after[minute] = g.after[minute], free
	}
	return free
}

// ceilMinute returns the first whole minute that is not before an instant.
func ceilMinute(t time.Time) time.Time {
	whole := t.Truncate(time.Minute)
	if whole.Before(t) {
		whole = whole.Add(time.Minute)
	}
	return whole
}
