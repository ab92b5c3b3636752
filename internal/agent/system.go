package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"coachline/internal/coach"
	"coachline/internal/helplines"
	"coachline/internal/screening"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// section is a titled part of the system message.
type section struct{ title, body string }

// joinSections renders the sections, each under its title.
func joinSections(sections []section) string {
	parts := make([]string, 0, 5*len(sections))
	for _, s := range sections {
		parts = append(parts, "\n\n", "# ", s.title, "\n", s.body)
	}
	return strings.Join(parts[min(1, len(parts)):], "")
}

// systemMessage writes what stands before the conversation, from what is equal for all
// people to what is known of this one, and the notes that stand behind it.
func systemMessage(lib *prompts.Library, in Input) (system, notes string, err error) {
	w := sectionWriter{lib: lib, programme: in.Programme, tools: toolNames(in.Tools)}
	ctx := in.Context
	in.IsSmall = in.IsSmall && in.Kind != wire.TurnGreeting && in.Kind != wire.TurnPrompt
	if in.IsSmall {
		w.addPersona(prompts.PersonaSmall)
		w.addSection("Mode: "+string(in.Mode), []string{w.renderText(prompts.ModeSmall, w.statusData(in))})
	} else {
		w.addPersona(prompts.Persona)
		w.addTask(in)
	}
	w.addSection("Participant", participantLines(ctx.Participant, in.Zone))
	if len(ctx.Profile.Tone.Tags) > 0 || isMinor(ctx.Participant, in.Now) || in.Kind == wire.TurnGreeting || w.lib.AddressOf(ctx.Participant.Locale) != "" {
		w.addTone(ctx.Profile.Tone, ctx.Participant, in.Now)
	}
	w.addSection("Profile", in.profileLines())
	w.addSection("Schedules", scheduleLines(ctx, in.Zone))
	if lead := leadOf(ctx, in.HistoryLimit); lead != nil {
		text := clipText(entryLabel(*lead, in.Zone)+toOneLine(w.withoutFooter(*lead, ctx.Participant.Locale)), leadLength)
		w.addSection("Before the first message below", []string{"You wrote: " + text})
	}
	system, w.sections = joinSections(w.sections), nil
	w.addStatus(in)
	if ctx.Outstanding != nil {
		w.addSection("Outstanding prompt", outstandingLines(ctx, in.Zone))
	}
	w.addBlock("Feedback", feedbackLines[in.Feedback])
	w.addBlock("Memory", in.Memory)
	w.addBlock("Plan", in.Plan)
	w.addNotes(in)
	w.addSection("Now", []string{clockLine(in.Now, in.Zone)})
	if in.Kind != wire.TurnGreeting && in.Kind != wire.TurnPrompt {
		w.addPrompt("Your answer", prompts.Answer)
	}
	if in.IsSmall {
		w.addNextQuestion(in)
	}
	return system, joinSections(w.sections), w.err
}

// addNextQuestion ends the last section with what the person is to be asked.
func (w *sectionWriter) addNextQuestion(in Input) {
	if question := nextQuestion(w.lib, in.Context, in.Mode, in.Programme, in.Now); question != "" {
		w.sections[len(w.sections)-1].body += "\n" + w.renderText(prompts.NextQuestion, prompts.StatusData{Question: question})
	}
}

// feedbackLines say how far the collecting of feedback is.
var feedbackLines = map[wire.FeedbackStage]string{
	wire.FeedbackAsked:   "How it went is not known yet.",
	wire.FeedbackOutcome: "They did it; that is saved. Ask at most what helped.",
	wire.FeedbackBarrier: "How it went and what got in the way are saved. Ask for neither again.",
	wire.FeedbackDone:    "Collected for this prompt. Ask no more about it.",
}

// addTask writes what the turn is for: its mode and the operator's focus where
// the person is answered, else the one message that is wanted.
func (w *sectionWriter) addTask(in Input) {
	switch in.Kind { //nolint:exhaustive // the others answer the person
	case wire.TurnGreeting:
		w.addPrompt("Task: greeting", prompts.Greeting)
		w.addLanguage(in.Context.Participant.Locale, true)
		return
	case wire.TurnPrompt:
		w.addPrompt("Task: habit prompt", prompts.HabitPrompt)
		w.addLanguage(in.Context.Participant.Locale, false)
		return
	}
	w.addPlaybooks(in.Playbooks)
	switch in.Mode {
	case wire.ModeIntake:
		w.addPrompt("Mode: INTAKE", prompts.Intake)
	case wire.ModeFeedback:
		w.addPrompt("Mode: FEEDBACK", prompts.Feedback)
	}
	if in.Focus != "" {
		w.addSection("Focus", []string{in.Focus})
	}
}

// addLanguage says which language a message is written in that answers no text.
// first marks a greeting, which the legal footer follows in the language of the
// footer; all others go by what the person writes.
func (w *sectionWriter) addLanguage(locale string, first bool) {
	name := w.lib.LanguageName(prompts.GreetingFooter, locale)
	w.addSection("Language", []string{w.renderText(prompts.Language, prompts.LanguageData{Language: name, Locale: toOneLine(locale), First: first})})
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

// renderText renders a prompt text and keeps the first error.
func (w *sectionWriter) renderText(name prompts.Name, data any) string {
	text, err := w.lib.Render(name, data)
	if err != nil && w.err == nil {
		w.err = err
	}
	return text
}

func (w *sectionWriter) addSection(title string, lines []string) {
	w.sections = append(w.sections, section{title, strings.Join(lines, "\n")})
}

// addBlock adds a section whose body was written elsewhere, and none when it is
// empty. Its lines cannot open a section.
func (w *sectionWriter) addBlock(title, body string) {
	if body == "" {
		return
	}
	lines := strings.Split(body, "\n")
	for i := range lines {
		lines[i] = strings.TrimLeft(lines[i], "# ")
	}
	w.addSection(title, lines)
}

// addPrompt adds a section with a rendered prompt text.
func (w *sectionWriter) addPrompt(title string, name prompts.Name) {
	w.addSection(title, []string{w.renderText(name, w.personaData())})
}

// addPersona writes who the coach is, and what the operator's workspace adds to it.
func (w *sectionWriter) addPersona(name prompts.Name) {
	w.addPrompt("Persona", name)
	for _, file := range w.lib.Workspace() {
		w.addSection("Workspace: "+file.Name, []string{file.Text})
	}
}

// personaData returns the values that prompt texts are rendered with.
func (w *sectionWriter) personaData() prompts.PersonaData {
	return prompts.PersonaData{Programme: w.programme, Tools: w.tools}
}

// addPlaybooks lists what can be read. The list is the same for every
// participant and stands before the mode, so that requests share it.
func (w *sectionWriter) addPlaybooks(readable bool) {
	if !readable {
		return
	}
	list, err := w.lib.PlaybookSection()
	if err != nil && w.err == nil {
		w.err = err
	}
	if list != "" {
		w.addSection("Playbooks", []string{list})
	}
}

// addStatus says which fields of the profile are missing, and what to do about it where
// the end of the request does not.
func (w *sectionWriter) addStatus(in Input) {
	data := w.statusData(in)
	lines, name := []string{"Missing: " + strings.Join(data.Missing, ", ")}, prompts.ProfileMissing
	if len(data.Missing) == 0 {
		lines, name = []string{"Complete."}, prompts.ProfileComplete
	}
	if !in.IsSmall {
		lines = append(lines, w.renderText(name, data))
	}
	w.addSection("Profile status", lines)
}

// statusData returns the values that texts about the profile's state are rendered with.
func (w *sectionWriter) statusData(in Input) prompts.StatusData {
	return prompts.StatusData{Mode: in.Mode, Missing: coach.MissingFields(in.Context.Profile), Tools: w.tools}
}

// addTone writes the tone that the person wants, and how they are addressed.
// isMinor reports whether a person has said that they are not 18 yet, or their birth year
// says it.
func isMinor(person models.Participant, now time.Time) bool {
	return person.Attention == wire.AttentionMinor || models.IsMinor(person.BirthYear, now)
}

func (w *sectionWriter) addTone(t models.Tone, person models.Participant, now time.Time) {
	locale := person.Locale
	w.addSection("Tone", []string{w.renderText(prompts.Tone, prompts.ToneData{
		Tags: t.Tags, Address: w.lib.AddressOf(locale), Limit: prompts.LimitOf(locale), IsMinor: isMinor(person, now),
	})})
}

// formatField returns "name: value" on one line, so that no value can open a
// section, and nil when there is no value.
func formatField(name, value string) []string {
	if value = toOneLine(value); value == "" {
		return nil
	}
	return []string{name + ": " + value}
}

func toOneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func participantLines(p models.Participant, zone *time.Location) []string {
	name := zone.String()
	if p.ZoneAssumed {
		name += " (the programme's default; the person's own zone is not known)"
	}
	var lines []string
	for field, text := range p.Texts() {
		if field.IsToldToModel {
			lines = append(lines, formatField(field.Label, cmp.Or(*text, field.WhenEmpty))...)
		}
	}
	return append(lines, formatField("Time zone", name)...)
}

// profileLines lists the profile as the turn found it: results of tools say what changed
// since, and the requests of a turn begin alike.
func (in Input) profileLines() []string {
	if in.Profile != "" {
		return []string{in.Profile}
	}
	return ProfileLines(in.Context.Profile)
}

// ProfileLines lists the filled fields of a profile, one a line; a single line
// says so where nothing is known.
func ProfileLines(p models.Profile) []string {
	var lines []string
	for field, text := range p.All() {
		lines = append(lines, formatField(field.Name, *text)...)
	}
	if len(lines) == 0 {
		lines = []string{"Nothing known yet."}
	}
	if p.TotalPrompts > 0 {
		lines = append(lines, fmt.Sprintf("prompts sent: %d, successes reported: %d", p.TotalPrompts, p.SuccessCount))
	}
	return lines
}

func scheduleLines(ctx models.TurnContext, zone *time.Location) []string {
	var lines []string
	for _, row := range ctx.Schedules {
		name := row.Zone
		if name == "" {
			name = zone.String()
		}
		switch row.Type {
		case wire.ScheduleFixed:
			lines = append(lines, fmt.Sprintf("- %s: fixed at %s (%s)", row.ID, row.At, name))
		case wire.ScheduleRandom:
			lines = append(lines, fmt.Sprintf("- %s: random between %s and %s (%s)", row.ID, row.FromTime, row.ToTime, name))
		}
	}
	if len(lines) == 0 {
		return []string{"None."}
	}
	if !ctx.HeldUntil.IsZero() {
		lines = append(lines, "Paused; texts begin again "+shortTime(ctx.HeldUntil, zone)+".")
	}
	return lines
}

func outstandingLines(ctx models.TurnContext, zone *time.Location) []string {
	prompt := ctx.Outstanding
	text := strings.TrimLeft(toOneLine(promptText(ctx)), "# ")
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
	return append(lines, "The person has written since: "+yesOrNo(prompt.RespondedAt != nil)+"; outcome: "+outcomeText(prompt.Outcome))
}

func yesOrNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// outcomeText says what is saved of a prompt.
func outcomeText(outcome models.PromptOutcome) string {
	return strings.ReplaceAll(cmp.Or(string(outcome), "not saved"), "_", " ")
}

// recentLines list the last prompts with what came of them, the newest first.
func recentLines(recent []models.PastPrompt, zone *time.Location) []string {
	var lines []string
	for _, past := range recent {
		came := outcomeText(past.Outcome)
		if past.Outcome == "" && past.RespondedAt == nil {
			came = "no answer"
		}
		lines = append(lines, "- "+shortTime(*past.SentAt, zone)+", "+came+": "+strings.TrimLeft(toOneLine(past.Text), "# "))
	}
	return lines
}

// promptText finds the text of the outstanding prompt: its entry in the
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

// addNotes writes what this step needs besides the clock, each in a section of
// its own before Now, which holds nothing but the clock: an open crisis, what the
// channel permits, and that no tool can be called.
func (w *sectionWriter) addNotes(in Input) {
	if note := attentionNote(in); note != nil {
		w.addSection("Safety", note)
	}
	if w.tools.Has("scheduler") && asksForLess(in.Context) {
		w.addSection("Request", []string{"The person may want fewer messages or other times, not an end of them. If so, change it now: with `scheduler` list, then create and delete. " +
			"Say in one sentence what comes from now on, and what you cannot set. Ask only where you cannot tell what they want."})
	}
	if models.ChannelSpecOf(in.Context.Turn.Channel).ReadOnly {
		w.addPrompt("Channel", prompts.ReadOnly)
	}
	if in.Introduce {
		w.addSection("Introduction", []string{"The person has had no message from you yet. Begin the reply by saying that this is " + w.programme + " and that you are an automated coach, then answer. " +
			"A line about costs and about the words STOP and HELP is added below your message, in the language of the programme's fixed texts. Do not write it yourself."})
	}
	if len(in.Tools) == 0 && in.Kind != wire.TurnGreeting {
		w.addPrompt("This round", prompts.NoTools)
	}
}

// asksForLess reports whether a text of the turn may ask for fewer messages or for other
// times.
func asksForLess(c models.TurnContext) bool {
	return slices.ContainsFunc(c.Window, func(entry models.Message) bool {
		return entry.Role == models.RoleUser && entry.TurnID == c.Turn.ID && screening.AsksForLess(entry.Text)
	})
}

// withoutFooter returns the text of an entry without the legal footer that a
// greeting ends with: the model did not write it and must not go by it.
func (w *sectionWriter) withoutFooter(entry models.Message, locale string) string {
	if entry.Kind != models.KindGreeting {
		return entry.Text
	}
	footer, err := w.lib.Fixed(prompts.GreetingFooter, locale, prompts.FixedData{Programme: w.programme})
	if err != nil {
		return entry.Text
	}
	// How often texts come was another number then, perhaps.
	head, _, _ := strings.Cut(footer, ",")
	if at := strings.LastIndex(entry.Text, head); at >= 0 {
		return strings.TrimSpace(entry.Text[:at])
	}
	return strings.TrimSpace(entry.Text)
}

// attentionNote returns the lines about an open crisis, nil for none; no other
// request has them.
func attentionNote(in Input) []string {
	p := in.Context.Participant
	if p.Attention != wire.AttentionCrisis || p.AttentionAt == nil {
		return nil
	}
	team := "Nobody of the team has been told: never say or suggest that a person is told, reads this or will call. "
	if in.AlertsTeam {
		team = "A person of the team is being told, and you may say so; they may not answer at once. "
	}
	return []string{"On " + shortTime(*p.AttentionAt, in.Zone) + " the person wrote something that may be a crisis. " + team +
		"Do not coach on it and do not judge it: be calm and brief, and where it comes up again point to " + callNumbers(in.Lines) + " and people nearby. No habit talk unless the person begins it."}
}

// callNumbers says whom a person can call in danger.
func callNumbers(lines helplines.Lines) string {
	out := cmp.Or(lines.Medical, "their local emergency number")
	if lines.Call != "" {
		out += " (in an emergency), " + lines.Call + " (to talk to someone)"
	}
	return out
}

// leadOf returns the coach's own entry just before a window that starts at a
// user entry, nil when there is none: the window must start there, and without
// it the answer to a greeting would answer nothing. Of a conversation that is cut a reply
// before the cut is not repeated, and a limit of 0 asks for no history at all.
func leadOf(c models.TurnContext, limit int) *models.Message {
	entries := c.Window
	kept := windowOf(entries, c.Turn.ID, limit)
	if limit == 0 || len(kept) == 0 || !kept[0].isFromUser() {
		return nil
	}
	first := slices.Index(entries, kept[0][0])
	for i, entry := range slices.Backward(entries[:first]) {
		switch {
		case entry.Role == models.RoleUser || entry.Kind == models.KindReply && slices.ContainsFunc(entries[:i], func(m models.Message) bool { return m.Role == models.RoleUser }):
			return nil
		case entry.Role == models.RoleAssistant && entry.Kind != models.KindToolCall && entry.Kind != models.KindDebug && !isAsking(entry):
			return &entry
		}
	}
	return nil
}

// clipText cuts a text to at most n characters.
func clipText(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return strings.TrimSpace(string(runes[:n])) + "..."
}

// clockLine returns the time to the minute.
func clockLine(now time.Time, zone *time.Location) string {
	return fmt.Sprintf("Local time: %s (%s); UTC: %s",
		now.In(zone).Format("Monday 2006-01-02 15:04"), zone, now.UTC().Truncate(time.Minute).Format(time.RFC3339))
}
