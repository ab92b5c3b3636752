package tools

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent/plan"
	"coachline/models"
)

func catalogue(t testing.TB, mode models.Mode) []models.ToolSpec {
	t.Helper()
	registry := newRegistry(t)
	return registry.For(mode)
}

const (
	save   = "save_user_profile"
	daily  = "scheduler"
	sample = "generate_habit_prompt"
	mode   = "transition_state"
	search = "search_memory"
	list   = "list_memories"
	erase  = "forget_memory"
)

// TestEverydayTextsFindTheirTools routes with the words people use. More tools
// than wanted may be picked; the model chooses among them.
func TestEverydayTextsFindTheirTools(t *testing.T) {
	tests := []struct {
		in   string
		want []string
	}{
		{"I want to walk every morning after coffee", []string{save}},
		{"I'd like to drink more water", []string{save}},
		{"so I have more energy for my kids", []string{save}},
		{"right after I brush my teeth", []string{save}},
		{"Around 8am works best", []string{save, daily}},
		{"It went well, I managed ten minutes", []string{save}},
		{"I skipped it, was too tired", []string{save}},
		{"it was raining so I couldn't go", []string{save}},
		{"can you keep it shorter and no emojis", []string{save}},
		{"Remind me at 7:30 please", []string{daily}},
		{"text me every day at 9am", []string{daily}},
		{"change my reminder to the evening", []string{daily, save}},
		{"What time do you text me?", []string{daily}},
		{"please cancel the daily prompts", []string{daily}},
		{"Show me an example", []string{sample}},
		{"can I get another prompt now?", []string{sample}},
		{"motivate me", []string{sample}},
		{"I'd rather not give feedback today", []string{mode}},
		{"let's start over with a new habit", []string{mode, save}},
		{"do you remember my dog's name?", []string{search}},
		{"what did I tell you about my knee?", []string{search}},
		{"I mentioned it last week", []string{search}},
		{"What do you know about me?", []string{list}},
		{"which data have you stored", []string{list}},
		{"show me your memories of me", []string{list}},
		{"forget what I said about my knee", []string{erase, search}},
		{"delete everything you know about me", []string{erase, list}},
		{"please erase my data", []string{erase, list}},
		{"Quiero caminar por la mañana", []string{save}},
		{"recuérdame a las ocho", []string{daily}},
		{"¿Qué sabes de mí?", []string{list}},
		{"olvida lo que dije de mi rodilla", []string{erase, search}},
		{"borra mis datos", []string{erase, list}},
		{"Je veux marcher le matin", []string{save}},
		{"un rappel chaque jour", []string{daily}},
		{"Que savez-vous de moi ?", []string{list}},
		{"oublie ce que j'ai dit", []string{erase, search}},
		{"Ich möchte morgens nach dem Kaffee laufen", []string{save}},
		{"Erinnere mich jeden Tag um 8 Uhr", []string{daily}},
		{"Was weißt du über mich?", []string{list}},
		{"Vergiss bitte, was ich gesagt habe", []string{erase, search}},
		{"Weißt du noch, was ich gestern erzählt habe?", []string{search}},
		{"Zeig mir ein Beispiel", []string{sample}},
		{"Muéstrame un ejemplo", []string{sample}},
	}
	tools := catalogue(t, models.ModeIntake)
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
	for _, mode := range []models.Mode{models.ModeIntake, models.ModeFeedback} {
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
	tools := catalogue(t, models.ModeFeedback)
	tests := []struct {
		name, query string
		tools       []models.ToolSpec
		want        []string
	}{
		{"J82", "delete what is remembered about the person", tools, []string{search, erase}},
		{"J82 what is known", "show what is known about the person", tools, []string{list}},
		{"A25", "book a flight", tools, nil},
		{"A26", "delete a memory", plan.PermittedTools(tools, []string{save, daily}), []string{daily}},
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
