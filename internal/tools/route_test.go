package tools

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent/plan"
	"coachline/models"
	"coachline/models/wire"
)

func catalogue(t testing.TB, mode wire.Mode) []models.ToolSpec {
	t.Helper()
	registry := newRegistry(t)
	return registry.For(mode)
}

// TestEverydayTextsFindTheirTools routes with the words people use. More tools
// than wanted may be picked; the model chooses among them.
func TestEverydayTextsFindTheirTools(t *testing.T) {
	tests := []struct {
		in   string
		want []string
	}{
		{"I want to walk every morning after coffee", []string{"save_user_profile"}},
		{"I'd like to drink more water", []string{"save_user_profile"}},
		{"so I have more energy for my kids", []string{"save_user_profile"}},
		{"right after I brush my teeth", []string{"save_user_profile"}},
		{"Around 8am works best", []string{"save_user_profile", "scheduler"}},
		{"It went well, I managed ten minutes", []string{"save_user_profile"}},
		{"I skipped it, was too tired", []string{"save_user_profile"}},
		{"it was raining so I couldn't go", []string{"save_user_profile"}},
		{"can you keep it shorter and no emojis", []string{"save_user_profile"}},
		{"Remind me at 7:30 please", []string{"scheduler"}},
		{"text me every day at 9am", []string{"scheduler"}},
		{"change my reminder to the evening", []string{"scheduler", "save_user_profile"}},
		{"What time do you text me?", []string{"scheduler"}},
		{"please cancel the daily prompts", []string{"scheduler"}},
		{"Show me an example", []string{"generate_habit_prompt"}},
		{"can I get another prompt now?", []string{"generate_habit_prompt"}},
		{"motivate me", []string{"generate_habit_prompt"}},
		{"I'd rather not give feedback today", []string{"transition_state"}},
		{"let's start over with a new habit", []string{"transition_state", "save_user_profile"}},
		{"do you remember my dog's name?", []string{"search_memory"}},
		{"what did I tell you about my knee?", []string{"search_memory"}},
		{"I mentioned it last week", []string{"search_memory"}},
		{"What do you know about me?", []string{"list_memories"}},
		{"which data have you stored", []string{"list_memories"}},
		{"show me your memories of me", []string{"list_memories"}},
		{"forget what I said about my knee", []string{"forget_memory", "search_memory"}},
		{"delete everything you know about me", []string{"forget_memory", "list_memories"}},
		{"please erase my data", []string{"forget_memory", "list_memories"}},
		{"Quiero caminar por la mañana", []string{"save_user_profile"}},
		{"recuérdame a las ocho", []string{"scheduler"}},
		{"¿Qué sabes de mí?", []string{"list_memories"}},
		{"olvida lo que dije de mi rodilla", []string{"forget_memory", "search_memory"}},
		{"borra mis datos", []string{"forget_memory", "list_memories"}},
		{"Je veux marcher le matin", []string{"save_user_profile"}},
		{"un rappel chaque jour", []string{"scheduler"}},
		{"Que savez-vous de moi ?", []string{"list_memories"}},
		{"oublie ce que j'ai dit", []string{"forget_memory", "search_memory"}},
		{"Ich möchte morgens nach dem Kaffee laufen", []string{"save_user_profile"}},
		{"Erinnere mich jeden Tag um 8 Uhr", []string{"scheduler"}},
		{"Was weißt du über mich?", []string{"list_memories"}},
		{"Vergiss bitte, was ich gesagt habe", []string{"forget_memory", "search_memory"}},
		{"Weißt du noch, was ich gestern erzählt habe?", []string{"search_memory"}},
		{"I'm on holiday next week", []string{"pause_prompts"}},
		{"I've got the flu", []string{"pause_prompts"}},
		{"estoy enferma esta semana", []string{"pause_prompts"}},
		{"je pars en vacances", []string{"pause_prompts"}},
		{"ich bin zwei Wochen im Urlaub", []string{"pause_prompts"}},
		{"vou viajar, volto na sexta", []string{"pause_prompts"}},
		{"Quero caminhar de manhã", []string{"save_user_profile"}},
		{"Me mande um lembrete às oito", []string{"scheduler"}},
		{"O que você sabe sobre mim?", []string{"list_memories"}},
		{"Esqueça o que eu disse do joelho", []string{"forget_memory", "search_memory"}},
		{"Apague os meus dados", []string{"forget_memory", "list_memories"}},
		{"Você lembra do que contei ontem?", []string{"search_memory"}},
		{"Mostre um exemplo", []string{"generate_habit_prompt"}},
		{"quero começar de novo", []string{"transition_state"}},
		{"Zeig mir ein Beispiel", []string{"generate_habit_prompt"}},
		{"Muéstrame un ejemplo", []string{"generate_habit_prompt"}},
	}
	tools := catalogue(t, wire.ModeIntake)
	picked := 0
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			got := plan.SelectTools(plan.StrategyKeyword, plan.RouteInput{Query: tt.in, Tools: tools}, plan.RouteEvidence{})
			require.Equal(t, plan.StrategyKeyword, got.By, "no word met a tool")
			require.Subset(t, got.Names, tt.want)
			picked += len(got.Names)
		})
	}
	require.Less(t, float64(picked)/float64(len(tests)), 3.0, "tools offered on average, of %d", len(tools))
}

// TestEveryKeywordFindsItsTool: none is shadowed by the router's empty words,
// too short, or shared by so many tools that it tells nothing.
func TestEveryKeywordFindsItsTool(t *testing.T) {
	for _, mode := range []wire.Mode{wire.ModeIntake, wire.ModeFeedback} {
		tools := catalogue(t, mode)
		for _, tool := range tools {
			require.NotEmpty(t, tool.Keywords, tool.Name)
			require.NotEmpty(t, tool.Keywords, tool.Name)
			seen := map[string]bool{}
			for _, word := range tool.Keywords {
				got := plan.SelectTools(plan.StrategyKeyword, plan.RouteInput{Query: word, Tools: tools}, plan.RouteEvidence{})
				require.Equal(t, plan.StrategyKeyword, got.By, word)
				require.Contains(t, got.Names, tool.Name, word)
				require.False(t, seen[word], "%s twice for %s", word, tool.Name)
				seen[word] = true
			}
		}
	}
}

// TestToolsFindOneAnother: what find_tools answers when the caller looks in
// the mode's catalogue, and what the caller reads from it.
func TestToolsFindOneAnother(t *testing.T) {
	tools := catalogue(t, wire.ModeFeedback)
	tests := []struct {
		name, query string
		tools       []models.ToolSpec
		want        []string
	}{
		{"search of tools", "delete what is remembered about the person", tools, []string{"search_memory", "forget_memory"}},
		{"what is known", "show what is known about the person", tools, []string{"list_memories"}},
		{"search answers a sentence", "book a flight", tools, nil},
		{"search finds a forbidden tool", "delete a memory", plan.PermittedTools(tools, []string{"save_user_profile", "scheduler"}), []string{"scheduler"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := RunInput{Call: models.ToolCall{Name: "find_tools", Arguments: `{"query":"` + tt.query + `"}`}, Finder: finder(tt.tools)}
			out, err := newRegistry(t).Run(t.Context(), in)
			require.NoError(t, err)
			require.False(t, out.Result.Failed)
			found := plan.FoundTools(out.Result.Content, tt.tools)
			if len(tt.want) == 0 {
				require.Empty(t, found)
			}
			require.Subset(t, found, tt.want)
		})
	}
}

// finder looks in a catalogue, as the caller does.
type finder []models.ToolSpec

func (f finder) FindTools(query string) string { return plan.SearchTools(query, f) }

// TestModesHaveTheirTools: feedback has the three tools that it is made of, intake a fourth
// one; what looks things up or ends something is asked for by words in both.
func TestModesHaveTheirTools(t *testing.T) {
	three := []string{"transition_state", "save_user_profile", "scheduler"}
	others := []string{"search_memory", "list_memories", "forget_memory", "pause_prompts", "read_playbook"}
	named := func(specs []models.ToolSpec) (out []string) {
		for _, spec := range specs {
			out = append(out, spec.Name)
		}
		return out
	}
	require.ElementsMatch(t, slices.Concat(three, others), named(catalogue(t, wire.ModeFeedback)))
	require.ElementsMatch(t, slices.Concat(three, others, []string{"generate_habit_prompt"}), named(catalogue(t, wire.ModeIntake)))
	out, err := newRegistry(t).Run(t.Context(), RunInput{Mode: wire.ModeFeedback, Call: models.ToolCall{Name: "generate_habit_prompt", Arguments: `{"delivery_mode":"immediate"}`}})
	require.NoError(t, err)
	require.True(t, out.Result.Failed, "not by a name that the model remembers either")
}
