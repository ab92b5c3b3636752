package console

import (
	"fmt"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/models"
)

type fact struct{ name, value string }

func factsList(all []fact) g.Node {
	return h.Dl(h.Class("facts"), g.Map(all, func(one fact) g.Node {
		if one.value == "" {
			return nil
		}
		return g.Group{h.Dt(g.Text(one.name)), h.Dd(g.Text(one.value))}
	}))
}

// describeSettings says what a study changes of the configuration, and how it
// randomises.
func describeSettings(s models.StudySettings) g.Node {
	facts := []fact{
		{"Programme", s.Programme}, {"Sends from", s.From}, {"Messaging service", s.MessagingService},
		{"Languages", strings.Join(s.Locales, ", ")}, {"Close-out text", s.CloseOut},
	}
	if s.RequireConsent {
		facts = append(facts, fact{"Consent", "needed before a person is enrolled"})
	}
	facts = append(facts, overlayFacts(s.StudyOverlay)...)
	if !hasValue(facts) && len(s.Join) == 0 && len(s.Arms) == 0 && s.DecisionPoints == nil {
		return h.P(g.Text("None: the study follows the configuration and has no arms."))
	}
	return g.Group{
		factsList(facts),
		g.Iff(len(s.Join) > 0, func() g.Node {
			return tableOf("Joining by text", []string{"Keyword", "Language", "About", "Consent text"}, g.Map(s.Join, func(j models.StudyJoin) g.Node {
				return h.Tr(h.Th(h.Scope("row"), g.Text(j.Keyword)), h.Td(g.Text(j.Locale)), h.Td(g.Text(j.About)), h.Td(g.Text(orText(j.Link, "sent by text"))))
			}))
		}),
		g.Iff(len(s.Arms) > 0, func() g.Node { return describeArms(s) }),
		g.Iff(s.DecisionPoints != nil, func() g.Node { return describeDecisionPoints(*s.DecisionPoints) }),
	}
}

func hasValue(facts []fact) bool {
	for _, one := range facts {
		if one.value != "" {
			return true
		}
	}
	return false
}

func orText(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

func overlayFacts(o models.StudyOverlay) []fact {
	return []fact{
		{"Model", o.Model}, {"Small model", o.SmallModel}, {"Folder of prompts", o.PromptsDir},
		{"Tools that are off", strings.Join(o.ToolsOff, ", ")}, {"Quiet hours", o.QuietHours},
		{"Reminders", onOrOff(o.Reminders)}, {"Check-ins", onOrOff(o.CheckIns)},
		{"Texts a day at most", perDay(o.MaxPerDay)}, {"Fewer texts after silence", onOrOff(o.BackOff)},
	}
}

func perDay(most *int) string {
	switch {
	case most == nil:
		return ""
	case *most == 0:
		return "no limit"
	}
	return strconv.Itoa(*most)
}

func onOrOff(set *bool) string {
	switch {
	case set == nil:
		return ""
	case *set:
		return "on"
	}
	return "off"
}

// describeArms lists the arms with the share of each, and how people are
// allocated to them.
func describeArms(s models.StudySettings) g.Node {
	total := 0
	for _, arm := range s.Arms {
		total += arm.Weight
	}
	rows := g.Map(s.Arms, func(arm models.StudyArm) g.Node {
		var differs []string
		for _, one := range overlayFacts(arm.Overlay) {
			if one.value != "" {
				differs = append(differs, one.name+": "+one.value)
			}
		}
		return h.Tr(h.Th(h.Scope("row"), g.Text(arm.Name)), h.Td(g.Text(fmt.Sprintf("%d of %d", arm.Weight, total))),
			h.Td(g.Text(orText(strings.Join(differs, "; "), "nothing"))))
	})
	strata := g.Map(s.Randomisation.Strata, func(one models.Stratum) g.Node {
		return h.Tr(h.Th(h.Scope("row"), g.Text(one.Name)), h.Td(g.Text(strings.Join(one.Levels, ", "))))
	})
	return g.Group{
		h.H3(g.Text("Arms")),
		h.P(g.Text("People are allocated by " + describeMethod(s.Randomisation.Method) + ".")),
		tableOf("Arms", []string{"Arm", "Share", "What differs"}, rows),
		g.Iff(len(strata) > 0, func() g.Node { return tableOf("Strata", []string{"Stratum", "Levels"}, strata) }),
	}
}

func describeMethod(m models.RandomisationMethod) string {
	switch m {
	case models.RandomSimple:
		return "simple randomisation"
	case models.RandomBlocks:
		return "permuted blocks"
	case models.RandomMinimisation:
		return "minimisation"
	}
	return string(m)
}

// describeDecisionPoints says how each prompt slot of a person is randomised.
func describeDecisionPoints(d models.DecisionPoints) g.Node {
	chance := func(o models.DecisionOption) string { return strconv.FormatFloat(o.Probability, 'g', -1, 64) }
	rule := "The probabilities are fixed."
	if d.Thompson != nil {
		chance = func(models.DecisionOption) string { return "follows the outcomes" }
		rule = fmt.Sprintf("Thompson sampling sets the probabilities, none below %g.", d.Thompson.ClipOf())
	}
	rows := g.Map(d.Options, func(o models.DecisionOption) g.Node {
		sends := "nothing"
		if o.Send {
			sends = "the prompt"
		}
		return h.Tr(h.Th(h.Scope("row"), g.Text(o.Name)), h.Td(g.Text(chance(o))), h.Td(g.Text(sends)), h.Td(g.Text(o.Instruction)))
	})
	return g.Group{
		h.H3(g.Text("Decision points")),
		h.P(g.Text(fmt.Sprintf("Policy %s. Each prompt slot is randomised; an answer within %d hours counts. %s", d.Policy, d.Hours(), rule))),
		tableOf("Decision points", []string{"Option", "Probability", "Sends", "Instruction"}, rows),
	}
}
