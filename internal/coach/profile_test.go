package coach

import (
	"strings"
	"testing"
	"time"

	"coachline/internal/coach/tone"
	"coachline/models"

	"github.com/stretchr/testify/require"
)

func TestMergeProfile(t *testing.T) {
	before := models.Profile{ParticipantID: person, HabitTexts: models.HabitTexts{HabitDomain: "walking", LastBarrier: "rain"}, SuccessCount: 3, TotalPrompts: 7, Version: 4}
	now := instant(t, noon)
	long := strings.Repeat("ä", models.LongestHabitText("additional_info"))
	for _, c := range []struct {
		name    string
		fields  map[ProfileField]FieldValue
		want    func(*models.Profile)
		changed []string
	}{
		{"nothing given", nil, nil, nil},
		{"given and different", map[ProfileField]FieldValue{FieldPromptAnchor: {Text: "after coffee"}, FieldHabitDomain: {Text: " running "}},
			func(p *models.Profile) { p.HabitDomain, p.PromptAnchor = "running", "after coffee" }, []string{"habit_domain", "prompt_anchor"}},
		{"equal", map[ProfileField]FieldValue{FieldHabitDomain: {Text: "walking"}}, nil, nil},
		{"empty and blank", map[ProfileField]FieldValue{FieldHabitDomain: {}, "last_barrier": {Text: " \n"}}, nil, nil},
		{"null clears", map[ProfileField]FieldValue{"last_barrier": {Null: true}, "last_tweak": {Null: true}},
			func(p *models.Profile) { p.LastBarrier = "" }, []string{"last_barrier"}},
		{"as long as allowed", map[ProfileField]FieldValue{"additional_info": {Text: long}},
			func(p *models.Profile) { p.AdditionalInfo = long }, []string{"additional_info"}},
		{"too long", map[ProfileField]FieldValue{"additional_info": {Text: long + "x"}}, nil, nil},
		{"not a field", map[ProfileField]FieldValue{"success_count": {Text: "99"}}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := before
			if c.want != nil {
				c.want(&want)
				want.UpdatedAt = now
			}
			got, changed := MergeProfile(before, ProfileAsk{Fields: c.fields}, now)
			require.Equal(t, want, got)
			require.Equal(t, c.changed, changed)
		})
	}
}

func TestEveryProfileFieldHasItsPlace(t *testing.T) {
	ask := ProfileAsk{Fields: map[ProfileField]FieldValue{}}
	for _, field := range ProfileFields() {
		ask.Fields[field] = FieldValue{Text: "new " + string(field)}
	}
	got, changed := MergeProfile(models.Profile{}, ask, instant(t, noon))
	require.Equal(t, strings.Fields(joinedPlain(ProfileFields())), changed)
	require.Equal(t, models.Profile{HabitTexts: models.HabitTexts{HabitDomain: "new habit_domain", MotivationalFrame: "new motivational_frame", PreferredTime: "new preferred_time", PromptAnchor: "new prompt_anchor", AdditionalInfo: "new additional_info", LastSuccessfulPrompt: "new last_successful_prompt", LastBarrier: "new last_barrier", LastMotivator: "new last_motivator", LastTweak: "new last_tweak"}, UpdatedAt: instant(t, noon)}, got)
}

func joinedPlain(fields []ProfileField) string { return strings.ReplaceAll(joinNames(fields), ",", "") }

func TestProfileAskCheck(t *testing.T) {
	for _, c := range []struct {
		name, field, want string
		ask               ProfileAsk
	}{
		{"fine", "", "", ProfileAsk{Fields: map[ProfileField]FieldValue{"last_tweak": {Text: "shorter"}}, ToneTags: []string{"concise"}}},
		{"counter", "success_count", "habit_domain", ProfileAsk{Fields: map[ProfileField]FieldValue{"success_count": {Text: "9"}}}},
		{"too long", "last_tweak", "at most 200", ProfileAsk{Fields: map[ProfileField]FieldValue{"last_tweak": {Text: strings.Repeat("x", 501)}}}},
		{"unknown tone", "tone_tags", "bilingual_ok", ProfileAsk{ToneTags: []string{"concise", "sarcastic"}}},
		{"unknown source", "tone_update_source", "explicit or implicit", ProfileAsk{ToneSource: "guess"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.ask.Check()
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			var field *models.FieldError
			require.ErrorAs(t, err, &field)
			require.Equal(t, c.field, field.Field)
			require.Contains(t, field.Message, c.want)
		})
	}
}

func TestReportsSuccess(t *testing.T) {
	report := func(value FieldValue) bool {
		return ProfileAsk{Fields: map[ProfileField]FieldValue{FieldLastSuccessfulPrompt: value}}.ReportsSuccess()
	}
	require.True(t, report(FieldValue{Text: "after coffee, ten steps"}))
	require.False(t, report(FieldValue{Text: " "}))
	require.False(t, report(FieldValue{Null: true}))
	require.False(t, ProfileAsk{}.ReportsSuccess())
}

func TestMissing(t *testing.T) {
	require.Equal(t, []string{"habit_domain", "motivational_frame", "preferred_time", "prompt_anchor"}, MissingFields(models.Profile{}))
	require.Equal(t, []string{"prompt_anchor", "preferred_time"}, PromptNeeds(models.Profile{HabitTexts: models.HabitTexts{HabitDomain: "walking"}}))
	full := models.Profile{HabitTexts: models.HabitTexts{HabitDomain: "a", MotivationalFrame: "b", PreferredTime: "c", PromptAnchor: "d"}}
	require.Empty(t, MissingFields(full))
	require.Empty(t, PromptNeeds(full))
	full.PromptAnchor = "  "
	require.Equal(t, []string{"prompt_anchor"}, MissingFields(full))
}

func withTones(tags ...string) models.Profile { return models.Profile{Tone: models.Tone{Tags: tags}} }

func TestExplicitTone(t *testing.T) {
	now := instant(t, noon)
	for _, c := range []struct {
		name      string
		had, asks []string
		want      []string
		changed   []string
	}{
		{"at once", nil, []string{"formal", "concise"}, []string{"concise", "formal"}, []string{"tone_tags"}},
		{"replaces its opposite", []string{"concise", "formal"}, []string{"detailed"}, []string{"detailed", "formal"}, []string{"tone_tags"}},
		{"one of three", []string{"confidence_low"}, []string{"confidence_high"}, []string{"confidence_high"}, []string{"tone_tags"}},
		{"no change", []string{"concise"}, []string{"concise"}, []string{"concise"}, nil},
		{"no emojis wins", nil, []string{"no_emojis", "emojis_ok"}, []string{"no_emojis"}, []string{"tone_tags"}},
		{"emojis again", []string{"no_emojis"}, []string{"emojis_ok"}, []string{"emojis_ok"}, []string{"tone_tags"}},
		{"unknown is left out", []string{"concise"}, []string{"sarcastic"}, []string{"concise"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := withTones(c.had...)
			got, changed := MergeProfile(before, ProfileAsk{ToneTags: c.asks, ToneSource: tone.Explicit}, now)
			require.Equal(t, c.want, got.Tone.Tags)
			require.Equal(t, c.changed, changed)
			require.Equal(t, c.had, before.Tone.Tags, "the profile passed in stays")
		})
	}
}

// observe takes n implicit observations, far enough apart to count.
func observe(p models.Profile, n int, now *time.Time, tags ...string) models.Profile {
	for range n {
		*now = now.Add(3 * time.Minute)
		p, _ = MergeProfile(p, ProfileAsk{ToneTags: tags, ToneSource: tone.Implicit}, *now)
	}
	return p
}

func TestImplicitTone(t *testing.T) {
	now := instant(t, noon)

	p := observe(models.Profile{}, 7, &now, "concise")
	require.Empty(t, p.Tone.Tags, "seven observations give 0.68")
	p = observe(p, 1, &now, "concise")
	require.Equal(t, []string{"concise"}, p.Tone.Tags)
	require.InDelta(t, 0.7275, p.Tone.Scores["concise"], 0.001)

	p = observe(p, 3, &now, "formal")
	require.Equal(t, []string{"concise"}, p.Tone.Tags, "0.447 is above the lower threshold")
	p = observe(p, 1, &now, "formal")
	require.Empty(t, p.Tone.Tags)

	explicit := withTones("concise", "humor_ok")
	p = observe(explicit, 30, &now, "formal")
	require.Equal(t, []string{"concise", "formal", "humor_ok"}, p.Tone.Tags, "an explicit wish does not fade by itself")
	p = observe(explicit, 5, &now, "detailed")
	require.Equal(t, []string{"concise", "humor_ok"}, p.Tone.Tags)
	p = observe(p, 3, &now, "detailed")
	require.Equal(t, []string{"detailed", "humor_ok"}, p.Tone.Tags)

	p = observe(withTones("no_emojis"), 30, &now, "emojis_ok")
	require.Equal(t, []string{"no_emojis"}, p.Tone.Tags)
	p = observe(models.Profile{}, 8, &now, "emojis_ok", "no_emojis")
	require.Equal(t, []string{"no_emojis"}, p.Tone.Tags)
}

func TestImplicitToneIsPaced(t *testing.T) {
	now := instant(t, noon)
	ask := ProfileAsk{ToneTags: []string{"casual"}}
	first, changed := MergeProfile(models.Profile{}, ask, now)
	require.Equal(t, []string{"tone_scores"}, changed, "no source counts as implicit")
	require.InDelta(t, 0.15, first.Tone.Scores["casual"], 1e-9)

	again, changed := MergeProfile(first, ask, now.Add(3*time.Minute-time.Second))
	require.Empty(t, changed)
	require.Equal(t, first, again)

	later, changed := MergeProfile(first, ask, now.Add(3*time.Minute))
	require.Equal(t, []string{"tone_scores"}, changed)
	require.InDelta(t, 0.2775, later.Tone.Scores["casual"], 1e-9)
	require.InDelta(t, 0.15, first.Tone.Scores["casual"], 1e-9, "the profile passed in stays")

	settled, changed := MergeProfile(later, ProfileAsk{ToneTags: []string{"formal"}, ToneSource: tone.Explicit}, now.Add(4*time.Minute))
	require.Equal(t, []string{"tone_tags"}, changed)
	require.NotContains(t, settled.Tone.Scores, "casual")
}
