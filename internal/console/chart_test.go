package console

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	g "maragu.dev/gomponents"

	"coachline/internal/api"
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
