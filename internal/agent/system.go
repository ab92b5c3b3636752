package agent

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"coachline/internal/coach"
	"coachline/models"
	"coachline/prompts"
)

// section is a titled part of the system message.
type section struct{ title, body string }

func join(sections []section) string {
	parts := make([]string, 0, 5*len(sections))
	for _, s := range sections {
		parts = append(parts, "\n\n", "# ", s.title, "\n", s.body)
	}
	return strings.Join(parts[min(1, len(parts)):], "")
}

// systemMessage orders its sections from what never changes to what changes
// every time.
func systemMessage(lib *prompts.Library, in Input) (string, error) {
	w := sectionWriter{lib: lib, programme: in.Programme, tools: toolNames(in.Tools)}
	w.text("Persona", prompts.Persona)
	w.task(in)
	ctx := in.Context
	w.add("Participant", participantLines(ctx.Participant, in.Zone))
	w.tone(ctx.Profile.Tone)
	w.status(in.Mode, ctx.Profile)
	w.add("Profile", ProfileLines(ctx.Profile))
	w.add("Schedules", scheduleLines(ctx.Schedules, in.Zone))
	if ctx.Outstanding != nil {
		w.add("Outstanding prompt", outstandingLines(ctx, in.Zone))
	}
	w.block("Memory", in.Memory)
	w.block("Plan", in.Plan)
	w.notes(in)
	w.add("Now", []string{clockLine(in.Now, in.Zone)})
	return join(w.sections), w.err
}

// task writes what the turn is for: its mode and the operator's focus where the
// person is answered, else the one message that is wanted.
func (w *sectionWriter) task(in Input) {
	switch in.Kind { //nolint:exhaustive // the others answer the person
	case models.KindGreeting:
		w.text("Task: greeting", prompts.Greeting)
		w.language(in.Context.Participant.Locale, true)
		return
	case models.KindPrompt:
		w.text("Task: habit prompt", prompts.HabitPrompt)
		w.language(in.Context.Participant.Locale, false)
		return
	}
	w.playbooks(in.Playbooks)
	switch in.Mode {
	case models.ModeIntake:
		w.text("Mode: INTAKE", prompts.Intake)
	case models.ModeFeedback:
		w.text("Mode: FEEDBACK", prompts.Feedback)
	}
	if in.Focus != "" {
		w.add("Focus", []string{in.Focus})
	}
}

// language says which language a message is written in that answers no text.
// first: it is a greeting, which the legal footer follows in the language of
// the footer; all others go by what the person writes.
func (w *sectionWriter) language(locale string, first bool) {
	name := w.lib.LanguageName(prompts.GreetingFooter, locale)
	w.add("Language", []string{w.render(prompts.Language, prompts.LanguageData{Language: name, Locale: flat(locale), First: first})})
}

func toolNames(specs []models.ToolSpec) prompts.ToolNames {
	names := make(prompts.ToolNames, len(specs))
	for i, spec := range specs {
		names[i] = spec.Name
	}
	return names
}

// sectionWriter collects sections and the first error.
type sectionWriter struct {
	lib       *prompts.Library
	programme string
	tools     prompts.ToolNames
	sections  []section
	err       error
}

func (w *sectionWriter) render(name prompts.Name, data any) string {
	text, err := w.lib.Render(name, data)
	if err != nil && w.err == nil {
		w.err = err
	}
	return text
}

func (w *sectionWriter) add(title string, lines []string) {
	w.sections = append(w.sections, section{title, strings.Join(lines, "\n")})
}

// block adds a section that came about elsewhere; none when it is empty. Its
// lines cannot open a section.
func (w *sectionWriter) block(title, body string) {
	if body == "" {
		return
	}
	lines := strings.Split(body, "\n")
	for i := range lines {
		lines[i] = strings.TrimLeft(lines[i], "# ")
	}
	w.add(title, lines)
}

func (w *sectionWriter) text(title string, name prompts.Name) {
	w.add(title, []string{w.render(name, w.data())})
}

func (w *sectionWriter) data() prompts.PersonaData {
	return prompts.PersonaData{Programme: w.programme, Tools: w.tools}
}

// playbooks lists what can be read (J50). The list is the same for everybody
// and stands before the mode, so that requests share it (D4).
func (w *sectionWriter) playbooks(readable bool) {
	if !readable {
		return
	}
	list, err := w.lib.PlaybookSection()
	if err != nil && w.err == nil {
		w.err = err
	}
	if list != "" {
		w.add("Playbooks", []string{list})
	}
}

func (w *sectionWriter) status(mode models.Mode, p models.Profile) {
	missing := coach.MissingFields(p)
	first, name := "Missing: "+strings.Join(missing, ", "), prompts.ProfileMissing
	if len(missing) == 0 {
		first, name = "Complete.", prompts.ProfileComplete
	}
	w.add("Profile status", []string{first, w.render(name, prompts.StatusData{Mode: mode, Missing: missing, Tools: w.tools})})
}

func (w *sectionWriter) tone(t models.Tone) {
	w.add("Tone", []string{w.render(prompts.Tone, prompts.ToneData{Tags: t.Tags})})
}

// line is "name: value" on one line, so that no value can open a section; nil
// when there is no value.
func line(name, value string) []string {
	if value = flat(value); value == "" {
		return nil
	}
	return []string{name + ": " + value}
}

// flat puts a text on one line.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

func participantLines(p models.Participant, zone *time.Location) []string {
	name := zone.String()
	if p.ZoneAssumed {
		name += " (the programme's default; the person's own zone is not known)"
	}
	return slices.Concat(
		line("Name", p.Name), line("Gender", p.Gender), line("Ethnicity", p.Ethnicity),
		line("Background", p.Background), line("Locale", p.Locale), line("Time zone", name))
}

// ProfileLines lists the filled fields of a profile, one a line; a single line
// says so where nothing is known.
func ProfileLines(p models.Profile) []string {
	lines := slices.Concat(
		line("habit_domain", p.HabitDomain), line("motivational_frame", p.MotivationalFrame),
		line("preferred_time", p.PreferredTime), line("prompt_anchor", p.PromptAnchor),
		line("additional_info", p.AdditionalInfo), line("last_successful_prompt", p.LastSuccessfulPrompt),
		line("last_barrier", p.LastBarrier), line("last_motivator", p.LastMotivator), line("last_tweak", p.LastTweak))
	if len(lines) == 0 {
		lines = []string{"Nothing known yet."}
	}
	if p.TotalPrompts > 0 {
		lines = append(lines, fmt.Sprintf("prompts sent: %d, successes reported: %d", p.TotalPrompts, p.SuccessCount))
	}
	return lines
}

func scheduleLines(rows []models.ScheduleRow, zone *time.Location) []string {
	var lines []string
	for _, row := range rows {
		name := row.Zone
		if name == "" {
			name = zone.String()
		}
		switch row.Type {
		case models.ScheduleFixed:
			lines = append(lines, fmt.Sprintf("- %s: fixed at %s (%s)", row.ID, row.At, name))
		case models.ScheduleRandom:
			lines = append(lines, fmt.Sprintf("- %s: random between %s and %s (%s)", row.ID, row.FromTime, row.ToTime, name))
		}
	}
	if len(lines) == 0 {
		return []string{"None."}
	}
	return lines
}

func outstandingLines(ctx models.TurnContext, zone *time.Location) []string {
	prompt := ctx.Outstanding
	text := strings.TrimLeft(flat(promptText(ctx)), "# ")
	if text == "" {
		text = "(its text is not known)"
	}
	lines := []string{text}
	if prompt.SentAt != nil {
		lines = append(lines, "Sent: "+shortTime(*prompt.SentAt, zone))
	}
	if prompt.ReminderSentAt != nil {
		lines = append(lines, "Reminded: "+shortTime(*prompt.ReminderSentAt, zone))
	}
	if prompt.RespondedAt != nil {
		return append(lines, "Answered: yes")
	}
	return append(lines, "Answered: no")
}

// promptText finds the words of the outstanding prompt: its entry in the
// conversation, which is written just before it is sent, or else the newest
// prompt text that was generated.
func promptText(ctx models.TurnContext) string {
	for _, entry := range slices.Backward(ctx.Window) {
		sent := ctx.Outstanding.SentAt == nil || !entry.At.After(*ctx.Outstanding.SentAt)
		if entry.Kind == models.KindPrompt && sent {
			return entry.Text
		}
	}
	return ctx.Profile.LastHabitPrompt
}

// leadLength bounds what is repeated of an entry that the window cut off, in
// characters.
const leadLength = 320

// notes writes what this round needs besides the clock, each in a section of
// its own before Now, which holds nothing but the clock: an open crisis, what
// the first text of the window answers, what the channel permits, and that no
// tool can be called.
func (w *sectionWriter) notes(in Input) {
	if note := attentionNote(in.Context.Participant, in.Zone); note != nil {
		w.add("Safety", note)
	}
	if lead := leadOf(in.Context, in.HistoryLimit); lead != nil {
		text := clip(label(*lead, in.Zone)+flat(w.withoutFooter(*lead, in.Context.Participant.Locale)), leadLength)
		w.add("Before the first message below", []string{"You wrote: " + text})
	}
	if in.Context.Turn.Channel.Rights().ReadOnly {
		w.text("Channel", prompts.ReadOnly)
	}
	if in.Introduce {
		w.add("Introduction", []string{"The person has had no message from you yet. Begin the reply by saying that this is " + w.programme + " and that you are an automated coach, then answer. " +
			"A line about costs and about the words STOP and HELP is added below your message, in the language of the programme's fixed texts. Do not write it yourself."})
	}
	if len(in.Tools) == 0 && in.Kind != models.KindGreeting {
		w.text("This round", prompts.NoTools)
	}
}

// withoutFooter is the text of an entry without the legal footer that a
// greeting ends with: the model did not write it and must not go by it.
func (w *sectionWriter) withoutFooter(entry models.Message, locale string) string {
	if entry.Kind != models.KindGreeting {
		return entry.Text
	}
	footer, err := w.lib.Fixed(prompts.GreetingFooter, locale, prompts.FixedData{Programme: w.programme})
	if err != nil {
		return entry.Text
	}
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(entry.Text), footer))
}

// attentionNote tells a model of an open crisis; no other request has it.
func attentionNote(p models.Participant, zone *time.Location) []string {
	if p.Attention != models.AttentionCrisis || p.AttentionAt == nil {
		return nil
	}
	return []string{"On " + shortTime(*p.AttentionAt, zone) + " the person wrote something that may be a crisis; the safety text was sent, and it says that the team is told. " +
		"Do not coach on it and do not judge it: be calm and brief, and where it comes up again point to the emergency number, 988 in the US, and people nearby. No habit talk unless the person begins it."}
}

// leadOf is the coach's own entry just before a window that starts at a user
// entry, nil when there is none: the window must start there, and without it
// the answer to a greeting would answer nothing. A limit of 0 asks for no
// history at all.
func leadOf(c models.TurnContext, limit int) *models.Message {
	entries := c.Window
	kept := windowOf(entries, c.Turn.ID, limit)
	if limit == 0 || len(kept) == 0 || !kept[0].byUser() {
		return nil
	}
	first := slices.Index(entries, kept[0][0])
	for _, entry := range slices.Backward(entries[:first]) {
		switch {
		case entry.Role == models.RoleUser:
			return nil
		case entry.Role == models.RoleAssistant && entry.Kind != models.KindToolCall && entry.Kind != models.KindDebug:
			return &entry
		}
	}
	return nil
}

// clip cuts a text to at most n characters.
func clip(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return strings.TrimSpace(string(runes[:n])) + "..."
}

// clockLine is exact to the minute, so that the rounds of a turn share their
// beginning (D4).
func clockLine(now time.Time, zone *time.Location) string {
	return fmt.Sprintf("Local time: %s (%s); UTC: %s",
		now.In(zone).Format("Monday 2006-01-02 15:04"), zone, now.UTC().Truncate(time.Minute).Format(time.RFC3339))
}
