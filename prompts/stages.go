package prompts

// Texts of the stages around a reply. Each asks a model for one small thing,
// in the language that the person writes.
const (
	Router          Name = "stage_router"
	Planner         Name = "stage_planner"
	PlanResolver    Name = "stage_plan_resolver"
	Extractor       Name = "stage_extractor"
	MemoryDigest    Name = "stage_memory_digest"
	MessagesDigest  Name = "stage_messages_digest"
	ToolDigest      Name = "stage_tool_digest"
	LimitDigest     Name = "stage_limit_digest"
	MemoryStep      Name = "stage_memory_step"
	Closing         Name = "stage_closing"
	TextTools       Name = "tools_text"
	ToolChoice      Name = "tools_choice"
	ToolArguments   Name = "tools_arguments"
	ActionPlan      Name = "action_plan"
	MemoryFraming   Name = "memory_framing"
	SmallModelRules Name = "small_model_rules"
	FocusChoice     Name = "stage_focus"
	SecondLook      Name = "stage_second_look"
	AdviceLook      Name = "stage_advice"
	PlaybookList    Name = "playbooks"
)

// StageData fills the texts of the stages; each text uses the fields it needs.
// All but Tools, Limit and Small may hold redacted personal data.
type StageData struct {
	// Query is the person's text, or what a stage looks for.
	Query string
	// Dialogue holds recent lines, oldest first, each with its speaker.
	Dialogue []string
	// Context is time, zone and what else is known of the moment, on one line.
	Context string
	Tools   []ToolLine
	// Facts are lines of what is remembered, each with its id.
	Facts []string
	// Profile are the lines of the person's profile.
	Profile []string
	// Material is the text that a digest, a summary or a note is made of.
	Material string
	// Earlier is the summary or note that the new one continues.
	Earlier string
	// Steps are the steps of a plan, or of one call: what was done so far.
	Steps []string
	// Limit bounds the answer: characters, entries or sentences, as the text
	// says.
	Limit int
	// Small: the model that reads it is a small one.
	Small bool
	// Language is the locale that the answer is wanted in; empty: that of
	// Query.
	Language string
}

// ToolLine is a tool as the stages' texts show it. Schema is empty where the
// description is enough.
type ToolLine struct {
	Name        string
	Description string
	Schema      string
}

func stageNames() []Name {
	return []Name{
		Router, Planner, PlanResolver, Extractor, MemoryDigest, MessagesDigest, ToolDigest, LimitDigest, MemoryStep,
		TextTools, ToolChoice, ToolArguments, ActionPlan, MemoryFraming, SmallModelRules,
		FocusChoice, SecondLook, AdviceLook,
	}
}

// stageEntry: the texts name tools only by their data.
func stageEntry() entry {
	full := StageData{
		Query: "When do I walk?", Dialogue: []string{"user: hi", "coach: hello"}, Context: "Local time: Monday 08:00",
		Tools: []ToolLine{{Name: "sample", Description: "A sample.", Schema: "{}"}}, Facts: []string{"f1 goal: walk"}, Profile: []string{"habit_domain: a walk"},
		Material: "walks at seven", Earlier: "walked at six", Steps: []string{"look up"}, Limit: 5, Small: true, Language: "en",
	}
	return entry{audience: toolless, samples: []any{full, StageData{}}}
}

// ClosingData fills the request for what a conversation that rests came to. All
// texts may hold redacted personal data.
type ClosingData struct {
	// Facts: facts are asked for; Known are those that may change, each with its id.
	Facts          bool
	FactChars      int
	Known, Profile []string
	// Dialogue are the lines right before Conversation, which is what is new.
	Dialogue     []string
	Conversation string
	// Note is the note of the day so far. Rewrite: it is full, and the answer takes
	// its place.
	Note      string
	Rewrite   bool
	NoteWords int
	// Summary: a summary is due, of Earlier and the lines in Older.
	Summary        bool
	SummaryChars   int
	Earlier, Older string
	// Refused says what was wrong with the answer before.
	Refused string
}

// closingEntry describes the text that asks for it.
func closingEntry() entry {
	full := ClosingData{
		Facts: true, FactChars: 300, Known: []string{"f1 (goal, 2026-11-20): walk"}, Profile: []string{"habit_domain: a walk"},
		Dialogue: []string{"coach: hello"}, Conversation: "person: hi", Note: "walked", Rewrite: true, NoteWords: 200,
		Summary: true, SummaryChars: 2000, Earlier: "walks", Older: "person: hello", Refused: "Your last answer was refused.",
	}
	return entry{audience: toolless, samples: []any{full, ClosingData{}}}
}
