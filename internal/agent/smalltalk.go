package agent

import (
	"slices"
	"strings"
	"unicode"

	"coachline/internal/agent/plan"
	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// smallTalk are whole texts that a small model answers badly, by what answers them and by
// language, one between bars.
var smallTalk = map[prompts.Name]map[string]string{
	prompts.Hello: {
		"en": "hi|hello|hey|hi there|hello there|good morning|good evening|good afternoon",
		"de": "hallo|hi|hey|guten morgen|guten tag|guten abend|moin|servus",
		"es": "hola|buenos días|buenos dias|buenas tardes|buenas noches|buenas",
		"fr": "bonjour|salut|coucou|bonsoir",
		"pt": "olá|ola|oi|bom dia|boa tarde|boa noite",
	},
	prompts.Thanks: {
		"en": "thanks|thank you|thx|many thanks|thanks a lot|thank you so much|thank you very much",
		"de": "danke|danke schön|dankeschön|vielen dank|danke dir|danke sehr",
		"es": "gracias|muchas gracias|mil gracias",
		"fr": "merci|merci beaucoup|merci bien",
		"pt": "obrigado|obrigada|muito obrigado|muito obrigada|valeu",
	},
	prompts.WhatAreYou: {
		"en": "are you a real person|are you a person|are you human|are you a human|are you real|are you a robot|are you a bot|who are you|what are you|is this a bot",
		"de": "bist du ein mensch|bist du echt|bist du ein echter mensch|bist du ein roboter|bist du ein bot|wer bist du|was bist du",
		"es": "eres una persona|eres una persona real|eres real|eres humano|eres humana|eres un robot|eres un bot|quién eres|quien eres|qué eres|que eres",
		"fr": "es-tu une personne|tu es une personne|es-tu une vraie personne|tu es une vraie personne|es-tu humain|tu es humain|es-tu un robot|tu es un robot|qui es-tu|tu es qui",
		"pt": "você é uma pessoa|você é uma pessoa real|você é real|você é humano|você é um robô|és uma pessoa|és um robô|quem é você|quem és tu",
	},
}

// smallTalkAnswer returns the fixed text that answers a greeting, thanks, or the question
// what the coach is, where a small model would answer it; empty for all other texts, for
// one that answers a question of ours, and where the coach said the same lately.
func (a *Agent) smallTalkAnswer(t turn) string {
	c := t.context
	if t.capability.Size != models.SizeSmall || t.kind != wire.TurnReply || len(c.Steps) > 0 || c.Participant.Attention != "" {
		return ""
	}
	name, locale := findSmallTalk(t.queryText(), c.Participant.Locale)
	hasHabit := c.Profile.HabitDomain != ""
	if name == "" || name == prompts.Hello && hasHabit && len(coach.MissingFields(c.Profile)) > 0 {
		return "" // The next question of the interview is the model's.
	}
	words, err := a.Prompts.Fixed(name, locale, prompts.FixedData{
		Programme: a.Settings.Programme, Name: c.Participant.Name, HasHabit: hasHabit,
	})
	lately := c.Window[max(0, len(c.Window)-2*writtenBefore):]
	if err != nil || slices.ContainsFunc(lately, func(m models.Message) bool { return m.Role == models.RoleAssistant && m.Text == words }) {
		return ""
	}
	return words
}

// findSmallTalk returns the fixed text that answers a text, and the locale to write it in:
// the person's where the words are of its language. The name is empty for other texts.
func findSmallTalk(text, locale string) (prompts.Name, string) {
	text = strings.TrimFunc(strings.ToLower(strings.Join(strings.Fields(text), " ")), func(r rune) bool { return !unicode.IsLetter(r) })
	own, _, _ := strings.Cut(locale, "-")
	for name, languages := range smallTalk {
		found := ""
		for language, phrases := range languages {
			if !slices.Contains(strings.Split(phrases, "|"), text) {
				continue
			}
			if language == own {
				return name, locale
			}
			found = max(found, language)
		}
		if found != "" {
			return name, found
		}
	}
	return "", ""
}

// fewTools is the most tools that a small model is offered.
const fewTools = 3

// pickFew returns the tools that a small model is offered: two of those that mode and
// profile need and those that a plan, a call that failed, the text or a call of the
// conversation asks for, which go first, and the one for danger. While the profile is not complete no other
// tool of the mode is added, unless there are schedules to speak of.
func (t turn) pickFew(in plan.AllowInput) []string {
	last := len(t.offer.Few) - 1
	need, danger := t.offer.Few[:last], t.offer.Few[last]
	isCore := func(name string) bool { return slices.Contains(t.offer.Core, name) }
	asked := slices.Concat(in.Planned, in.Failed, in.Selection.Names, slices.DeleteFunc(slices.Clone(in.Kept), isCore))
	isNeeded := func(name string) bool { return slices.Contains(need, name) }
	var first, others []string
	for _, name := range asked {
		isOrdinary := slices.ContainsFunc(t.offer.Specs, func(spec models.ToolSpec) bool { return spec.Name == name })
		isEarly := len(t.offer.Few) < fewTools && isCore(name) && len(t.context.Schedules) == 0
		switch {
		case isNeeded(name):
			first = append(first, name)
		case isOrdinary && !isEarly:
			others = append(others, name)
		}
	}
	few := plan.Distinct(slices.Concat(first, others, need))
	return append(few[:min(len(few), fewTools-1)], danger)
}
