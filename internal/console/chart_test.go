package console

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	g "maragu.dev/gomponents"

	"coachline/internal/api"
	"coachline/models"
)

func rendered(t *testing.T, node g.Node) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, node.Render(&out))
	return out.String()
}

// TestCurve: the ends of the axes are the first and last point, zero and the top; the
// band goes along the lower bounds and back along the upper ones.
func TestCurve(t *testing.T) {
	plan := 0.5
	c := curve{label: "Answers", first: "day 1", last: "day 3", top: "100 %", most: 1, points: []curvePoint{
		{at: 1, value: 0, bounds: &[2]float64{0, 0.5}, planned: &plan}, {at: 3, value: 1, bounds: &[2]float64{0.5, 1}},
	}}
	drawn := rendered(t, c.draw())
	for _, part := range []string{
		`aria-label="Answers; the table below has the numbers"`, `class="line" points="52.0,176.0 632.0,12.0"`,
		`class="band" points="52.0,176.0 632.0,94.0 632.0,12.0 52.0,94.0"`, `class="plan" points="52.0,94.0"`, ">day 1<", ">day 3<", ">100 %<",
	} {
		require.Contains(t, drawn, part)
	}
	c.points = c.points[:1]
	require.Contains(t, rendered(t, c.draw()), `cx="346.0"`, "a single point is in the middle")
	require.Nil(t, curve{}.draw())
}

// TestBars: the highest bar takes the whole height, values stand above bars that have
// room for them, and marks keep apart.
func TestBars(t *testing.T) {
	drawn := rendered(t, drawBars("Prompts", []bar{{0, "17:00"}, {3, "18:00"}, {6, "19:00"}}))
	for _, part := range []string{
		`aria-label="Prompts; the table below has the numbers"`, `viewBox="0 0 640 132"`,
		`<rect x="56" y="64" width="47" height="48">`, `<rect x="112" y="16" width="47" height="96">`,
		`<text x="79" y="60" text-anchor="middle">3<`, `<text x="112" y="128" text-anchor="start">19:00<`,
	} {
		require.Contains(t, drawn, part)
	}
	require.Equal(t, 2, strings.Count(drawn, "<rect"), "a bar of nothing is not drawn")
	require.Nil(t, drawBars("Prompts", []bar{{0, "17:00"}}))

	week := make([]bar, 7*24)
	for i := range week {
		week[i] = bar{value: 1, mark: "x"}
	}
	drawn = rendered(t, drawBars("Prompts", week))
	require.Contains(t, drawn, `viewBox="0 0 672 132"`)
	require.NotContains(t, drawn, ">1<", "no room for values")
	require.Equal(t, 14, strings.Count(drawn, ">x<"), "a mark each 48 units")
}

// TestHourBars: hours without a prompt have their place, and more than two days are
// marked by date.
func TestHourBars(t *testing.T) {
	at := time.Date(2026, 11, 23, 22, 0, 0, 0, time.UTC)
	bars, most := hourBars([]models.PlannedHour{{At: at, Prompts: 2}, {At: at.Add(3 * time.Hour), Prompts: 5}})
	require.Equal(t, []bar{{2, "22:00"}, {0, "23:00"}, {0, "00:00"}, {5, "01:00"}}, bars)
	require.Equal(t, 5, most)
	bars, _ = hourBars([]models.PlannedHour{{At: at, Prompts: 2}, {At: at.Add(50 * time.Hour), Prompts: 1}})
	require.Len(t, bars, 51)
	require.Equal(t, []bar{{0, ""}, {0, "Tue 24"}, {0, ""}}, bars[1:4])
}

func TestCountText(t *testing.T) {
	require.Equal(t, "2,467,340", countText(int64(2467340)))
	require.Equal(t, "-12", countText(-12))
}

// TestResponseByArm: each arm has its own curve and table, whatever the order of the
// rows.
func TestResponseByArm(t *testing.T) {
	day := func(n int) api.StudyDay {
		return api.StudyDay{Day: n, Proportion: api.Proportion{People: 4, Answered: int64(n), Share: float64(n) / 4, High: 1}}
	}
	shown := rendered(t, responseSection(api.StudyProgress{
		Response:    []api.StudyDay{day(1), day(2)},
		ArmResponse: []api.ArmStudyDay{{Arm: "a", StudyDay: day(1)}, {Arm: "<b>", StudyDay: day(1)}, {Arm: "a", StudyDay: day(2)}},
	}))
	require.Equal(t, 3, strings.Count(shown, "<svg"))
	require.Equal(t, 2, strings.Count(shown, "<h3>Arm "))
	require.Equal(t, 5, strings.Count(shown, "<circle"))
	require.NotContains(t, shown, "<b>")
	require.Contains(t, shown, "50.0 % (0.0 % to 100.0 %)")
}
