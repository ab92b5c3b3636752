package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"coachline/internal/coach"
	"coachline/internal/coach/tone"
	"coachline/internal/text"
	"coachline/models"
	"coachline/models/wire"
)

// SaveTool is the name of the tool that saves what the coach has learnt.
const SaveTool = "save_user_profile"

// saveUserProfile keeps what the coach has learnt. JSON null clears a field,
// an empty text is ignored, and equal values change nothing.
func saveUserProfile() Tool {
	return Tool{
		Name:        "save_user_profile",
		Description: "Save what they told you before you reply: all new or changed in one call. null erases a field.",
		Schema:      saveSchema(),
		Modes:       bothModes(),
		Core:        bothModes(),
		Keywords: "want goal habit start prefer rather motivates energy health healthy kids stress sleep better mood weight " +
			"walk run jog stretch water drink exercise workout gym yoga meditate breathe read journal pray steps vegetables smoking " +
			"morning noon afternoon evening night bedtime wake breakfast lunch dinner coffee tea brush teeth shower commute work home " +
			"went managed succeeded finished skipped missed forgot failed tired busy sick rain travelling helped worked harder easier " +
			"shorter longer emojis casual formal " +
			"quiero meta objetivo hábito habito prefiero porque energía energia salud hijos caminar correr agua ejercicio meditar respirar leer " +
			"mañana manana tarde noche desayuno desayunar almuerzo cena café cafe trabajo hice logré logre olvidé olvide cansado cansada ocupado lluvia " +
			"veux voudrais objectif habitude préfère prefere parce énergie santé sante enfants marcher courir boire étirer méditer respirer lire " +
			"matin midi soir déjeuner dejeuner dîner fait réussi reussi oublié oublie fatigué fatigue occupé pluie travail maison " +
			"möchte moechte ziel gewohnheit lieber weil energie gesundheit kinder gehen spazieren laufen wasser trinken üben meditieren atmen lesen " +
			"morgens mittags abends frühstück fruehstueck mittagessen abendessen kaffee arbeit geschafft erledigt gemacht müde muede beschäftigt krank regen " +
			"quero saúde saude filhos caminhar água beber exercício exercicio manhã manha noite almoço almoco jantar trabalho consegui fiz esqueci chuva",
		Tidy: tidySave,
		Run: func(_ context.Context, in RunInput, args Arguments) (Execution, error) {
			ask, err := profileAsk(args)
			if err != nil {
				return Execution{}, err
			}
			return applyAsk(in, ask), nil
		},
	}
}

func saveSchema() json.RawMessage {
	var texts strings.Builder
	for _, field := range models.HabitFields() {
		fmt.Fprintf(&texts, `    "%s": {"type": ["string", "null"], "maxLength": %d, "description": "%s"},`+"\n", field.Name, field.Longest, field.Meaning)
	}
	return json.RawMessage(`{
  "type": "object",
  "properties": {
` + texts.String() + `    "tone_tags": {
      "type": "array",
      "items": {"type": "string", "enum": ["` + strings.Join(tone.Tags(), `", "`) + `"]},
      "maxItems": 15,
      "description": "How they like to be written to."
    },
    "tone_update_source": {
      "type": "string",
      "enum": ["explicit", "implicit"]
    }
  },
  "additionalProperties": false
}`)
}

// tidySave renames the old name of last_barrier, trims texts, and drops what
// was not really given. Null stays: it clears a field.
func tidySave(args Arguments) {
	if old, given := args["last_blocker"]; given {
		if _, both := args["last_barrier"]; !both {
			args["last_barrier"] = old
		}
		delete(args, "last_blocker")
	}
	for name, value := range args {
		text, isText := value.(string)
		if !isText {
			continue
		}
		if args[name] = cleanText(text); args[name] == "" {
			delete(args, name)
		}
	}
	for _, name := range []string{"tone_tags", "tone_update_source"} {
		if value, given := args[name]; given && value == nil {
			delete(args, name)
		}
	}
}

func profileAsk(args Arguments) (coach.ProfileAsk, error) {
	ask := coach.ProfileAsk{
		Fields:     map[coach.ProfileField]coach.FieldValue{},
		ToneSource: tone.Source(args.Text("tone_update_source")),
	}
	for _, field := range coach.ProfileFields() {
		value, given := args[string(field)]
		if !given {
			continue
		}
		words, _ := value.(string)
		if strings.EqualFold(words, "null") {
			// Meant as null far more often than as a word; neither a guess nor
			// a profile that says "null" would help the person.
			return ask, models.BadField(string(field), "holds the word %s in quotes; use null without quotes to erase the field", words)
		}
		ask.Fields[field] = coach.FieldValue{Text: text.Memorable(words), Null: value == nil}
	}
	tags, _ := args["tone_tags"].([]any)
	for _, tag := range tags {
		text, _ := tag.(string)
		ask.ToneTags = append(ask.ToneTags, text)
	}
	return ask, ask.Check()
}

func applyAsk(in RunInput, ask coach.ProfileAsk) Execution {
	merged, changed := coach.MergeProfile(in.Profile, ask, in.Now)
	out := Execution{Outcome: outcomeOf(ask)}
	if len(changed) > 0 {
		out.Profile = &merged
	}
	answer := saveAnswer{OK: true, Changed: []string{}, Profile: profileView{merged.HabitTexts, merged.Tone.Tags}, Missing: []string{}}
	for _, name := range changed {
		// Scores are kept, but they are no change that the model could name.
		if name != tone.ChangedScores {
			answer.Changed = append(answer.Changed, name)
		}
	}
	if len(answer.Changed) == 0 {
		answer.Note = "no change"
	}
	answer.Missing = append(answer.Missing, coach.MissingFields(merged)...)
	out.Result = successResult(in.Call, answer)
	return out
}

// outcomeOf returns what is reported of a prompt: with what worked and what was in the
// way, it was done in part.
func outcomeOf(ask coach.ProfileAsk) models.PromptOutcome {
	barrier := ask.Fields["last_barrier"]
	isBarred := !barrier.Null && strings.TrimSpace(barrier.Text) != ""
	switch {
	case ask.ReportsSuccess() && isBarred:
		return models.OutcomePartly
	case ask.ReportsSuccess():
		return models.OutcomeDone
	case isBarred:
		return models.OutcomeNotDone
	}
	return ""
}

// Reported returns what a call of SaveTool that succeeded has made known of the newest prompt.
func (r *Registry) Reported(call models.ToolCall) wire.FeedbackStage {
	tool, _ := r.Lookup(SaveTool)
	args, err := tool.parseArguments(call.Arguments)
	if err != nil {
		return wire.FeedbackNone
	}
	ask, err := profileAsk(args)
	if err != nil {
		return wire.FeedbackNone
	}
	switch outcomeOf(ask) { //nolint:exhaustive // nothing else is asked about
	case models.OutcomeDone:
		return wire.FeedbackOutcome
	case models.OutcomePartly, models.OutcomeNotDone:
		return wire.FeedbackBarrier
	}
	return wire.FeedbackNone
}

type saveAnswer struct {
	OK      bool        `json:"ok"`
	Note    string      `json:"note,omitempty"`
	Changed []string    `json:"changed"`
	Profile profileView `json:"profile"`
	Missing []string    `json:"missing"`
}

// profileView is the profile as the model reads it. Counters are left out: a
// success reported by this very call is counted after the result is written.
type profileView struct {
	models.HabitTexts
	ToneTags []string `json:"tone_tags,omitempty"`
}
