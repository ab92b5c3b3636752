package coach

import (
	"maps"
	"slices"
	"time"

	"coachline/models"
)

// ToneSource is how a tone became known.
type ToneSource string

const (
	// ToneExplicit: the person asked for it; it applies at once.
	ToneExplicit ToneSource = "explicit"
	// ToneImplicit: the model inferred it; it is smoothed.
	ToneImplicit ToneSource = "implicit"
)

// Smoothing of implicit observations (conversation rules, section 3).
const (
	toneWeight   = 0.15
	toneOn       = 0.7
	toneOff      = 0.4
	toneInterval = 3 * time.Minute
)

const (
	tagEmojis   = "emojis_ok"
	tagNoEmojis = "no_emojis"
)

// ToneTags lists every tag that a profile may carry.
func ToneTags() []string {
	return []string{
		"concise", "detailed", "formal", "casual", "warm_supportive", "neutral_professional",
		"direct_coach", "gentle_coach", "confidence_low", "confidence_medium", "confidence_high",
		"humor_ok", tagEmojis, tagNoEmojis, "bilingual_ok",
	}
}

// opposites lists the tags that cannot be active together with tag.
func opposites(tag string) []string {
	groups := [][]string{
		{"concise", "detailed"}, {"formal", "casual"}, {"warm_supportive", "neutral_professional"},
		{"direct_coach", "gentle_coach"}, {"confidence_low", "confidence_medium", "confidence_high"},
		{tagEmojis, tagNoEmojis},
	}
	for _, group := range groups {
		if i := slices.Index(group, tag); i >= 0 {
			return slices.Delete(group, i, i+1)
		}
	}
	return nil
}

func checkTone(tags []string, source ToneSource) error {
	for _, tag := range tags {
		if !slices.Contains(ToneTags(), tag) {
			return models.BadField("tone_tags", "%s is not a tone; allowed: %s", quoted(tag), joined(ToneTags()))
		}
	}
	switch source {
	case "", ToneExplicit, ToneImplicit:
		return nil
	}
	return models.BadField("tone_update_source", "%s is not allowed; use explicit or implicit", quoted(string(source)))
}

// mergeTone returns the tone after an ask and the name of the change, empty
// when there is none. Unknown tags are left out.
func mergeTone(tone models.Tone, ask ProfileAsk, now time.Time) (models.Tone, string) {
	known := func(tag string) bool { return !slices.Contains(ToneTags(), tag) }
	tags := slices.DeleteFunc(slices.Clone(ask.ToneTags), known)
	if len(tags) == 0 {
		return tone, ""
	}
	next := models.Tone{Tags: slices.Clone(tone.Tags), Scores: maps.Clone(tone.Scores), ImplicitAt: tone.ImplicitAt}
	if ask.ToneSource == ToneExplicit {
		next = explicitTone(next, tags)
	} else {
		next = implicitTone(next, tags, now)
	}
	slices.Sort(next.Tags)
	switch {
	case !slices.Equal(tone.Tags, next.Tags):
		return next, ChangedToneTags
	case !maps.Equal(tone.Scores, next.Scores):
		return next, ChangedToneScores
	}
	return tone, ""
}

// explicitTone turns the tags on and their opposites off. It forgets their
// scores, so that only new evidence against an explicit wish can wear it down.
// Of two opposites in one ask the later holds, but no_emojis always does.
func explicitTone(tone models.Tone, tags []string) models.Tone {
	if slices.Contains(tags, tagNoEmojis) {
		tags = append(tags, tagNoEmojis)
	}
	for _, tag := range tags {
		delete(tone.Scores, tag)
		for _, other := range opposites(tag) {
			delete(tone.Scores, other)
		}
		tone.Tags = turnOn(tone.Tags, tag)
	}
	return tone
}

// implicitTone takes one observation, at most one every three minutes: the
// score of each observed tag rises, that of each tag observed earlier and of
// each active opposite falls. An explicit tag has no score and stands until
// its opposite is observed often enough.
func implicitTone(tone models.Tone, tags []string, now time.Time) models.Tone {
	if !tone.ImplicitAt.IsZero() && now.Sub(tone.ImplicitAt) < toneInterval {
		return tone
	}
	if slices.Contains(tone.Tags, tagNoEmojis) || slices.Contains(tags, tagNoEmojis) {
		tags = slices.DeleteFunc(tags, func(tag string) bool { return tag == tagEmojis })
	}
	if tone.Scores == nil {
		tone.Scores = map[string]float64{}
	}
	tone.ImplicitAt = now
	for _, tag := range ToneTags() {
		tone = smooth(tone, tag, tags)
	}
	return tone
}

// smooth moves the score of one tag by an observation and turns the tag on or
// off where the score crosses a threshold.
func smooth(tone models.Tone, tag string, observed []string) models.Tone {
	active := slices.Contains(tone.Tags, tag)
	seen := slices.Contains(observed, tag)
	score, tracked := tone.Scores[tag]
	if !tracked {
		against := active && slices.ContainsFunc(opposites(tag), func(o string) bool { return slices.Contains(observed, o) })
		if !seen && !against {
			return tone
		}
		if active {
			score = 1
		}
	}
	score *= 1 - toneWeight
	if seen {
		score += toneWeight
	}
	tone.Scores[tag] = score
	switch {
	case !active && score >= toneOn:
		tone.Tags = turnOn(tone.Tags, tag)
	case active && score <= toneOff:
		tone.Tags = slices.DeleteFunc(tone.Tags, func(t string) bool { return t == tag })
	}
	return tone
}

// turnOn adds a tag in place of its opposites.
func turnOn(tags []string, tag string) []string {
	out := slices.DeleteFunc(tags, func(t string) bool { return slices.Contains(opposites(tag), t) })
	if !slices.Contains(out, tag) {
		out = append(out, tag)
	}
	return out
}
