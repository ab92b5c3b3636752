// Package tone moves the tone in which a person is spoken to: what they asked
// for holds at once, what was inferred is smoothed.
package tone

import (
	"maps"
	"slices"
	"time"

	"coachline/models"
)

// Source is how a tone became known.
type Source string

const (
	// Explicit: the person asked for it; it applies at once.
	Explicit Source = "explicit"
	// Implicit: the model inferred it; it is smoothed.
	Implicit Source = "implicit"
)

// Smoothing of implicit observations.
const (
	weight   = 0.15
	onAt     = 0.7
	offAt    = 0.4
	interval = 3 * time.Minute
)

const (
	tagEmojis   = "emojis_ok"
	tagNoEmojis = "no_emojis"
)

// Tags lists every tag that a profile may carry.
func Tags() []string {
	return []string{
		"concise", "detailed", "formal", "casual", "warm_supportive", "neutral_professional",
		"direct_coach", "gentle_coach", "confidence_low", "confidence_medium", "confidence_high",
		"humor_ok", tagEmojis, tagNoEmojis, "bilingual_ok",
	}
}

// oppositesOf lists the tags that cannot be active together with tag.
func oppositesOf(tag string) []string {
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

// Names of a change.
const (
	// ChangedTags: the active tags are others than before.
	ChangedTags = "tone_tags"
	// ChangedScores: an observation was noted that turned no tag on or off.
	ChangedScores = "tone_scores"
)

// Merge returns the tone after tags were asked for or observed and the name of
// the change, empty when there is none. Unknown tags are left out; a source
// other than Explicit counts as Implicit. The tone passed in is not modified.
func Merge(tone models.Tone, tags []string, source Source, now time.Time) (models.Tone, string) {
	unknown := func(tag string) bool { return !slices.Contains(Tags(), tag) }
	tags = slices.DeleteFunc(slices.Clone(tags), unknown)
	if len(tags) == 0 {
		return tone, ""
	}
	next := models.Tone{Tags: slices.Clone(tone.Tags), Scores: maps.Clone(tone.Scores), ImplicitAt: tone.ImplicitAt}
	if source == Explicit {
		next = setExplicit(next, tags)
	} else {
		next = applyObservation(next, tags, now)
	}
	slices.Sort(next.Tags)
	switch {
	case !slices.Equal(tone.Tags, next.Tags):
		return next, ChangedTags
	case !maps.Equal(tone.Scores, next.Scores):
		return next, ChangedScores
	}
	return tone, ""
}

// setExplicit turns the tags on and their opposites off. It forgets their
// scores, so that only new evidence against an explicit wish can wear it down.
// Of two opposites in one ask the later holds, but no_emojis always does.
func setExplicit(tone models.Tone, tags []string) models.Tone {
	if slices.Contains(tags, tagNoEmojis) {
		tags = append(tags, tagNoEmojis)
	}
	for _, tag := range tags {
		delete(tone.Scores, tag)
		for _, other := range oppositesOf(tag) {
			delete(tone.Scores, other)
		}
		tone.Tags = turnOn(tone.Tags, tag)
	}
	return tone
}

// applyObservation takes one observation, at most one every three minutes: the
// score of each observed tag rises, that of each tag observed earlier and of
// each active opposite falls. An explicit tag has no score and stands until its
// opposite is observed often enough.
func applyObservation(tone models.Tone, tags []string, now time.Time) models.Tone {
	if !tone.ImplicitAt.IsZero() && now.Sub(tone.ImplicitAt) < interval {
		return tone
	}
	if slices.Contains(tone.Tags, tagNoEmojis) || slices.Contains(tags, tagNoEmojis) {
		tags = slices.DeleteFunc(tags, func(tag string) bool { return tag == tagEmojis })
	}
	if tone.Scores == nil {
		tone.Scores = map[string]float64{}
	}
	tone.ImplicitAt = now
	for _, tag := range Tags() {
		tone = updateScore(tone, tag, tags)
	}
	return tone
}

// updateScore moves the score of one tag by an observation and turns the tag on
// or off where the score crosses a threshold.
func updateScore(tone models.Tone, tag string, observed []string) models.Tone {
	active := slices.Contains(tone.Tags, tag)
	seen := slices.Contains(observed, tag)
	score, tracked := tone.Scores[tag]
	if !tracked {
		against := active && slices.ContainsFunc(oppositesOf(tag), func(o string) bool { return slices.Contains(observed, o) })
		if !seen && !against {
			return tone
		}
		if active {
			score = 1
		}
	}
	score *= 1 - weight
	if seen {
		score += weight
	}
	tone.Scores[tag] = score
	switch {
	case !active && score >= onAt:
		tone.Tags = turnOn(tone.Tags, tag)
	case active && score <= offAt:
		tone.Tags = slices.DeleteFunc(tone.Tags, func(t string) bool { return t == tag })
	}
	return tone
}

// turnOn adds a tag in place of its opposites.
func turnOn(tags []string, tag string) []string {
	out := slices.DeleteFunc(tags, func(t string) bool { return slices.Contains(oppositesOf(tag), t) })
	if !slices.Contains(out, tag) {
		out = append(out, tag)
	}
	return out
}
