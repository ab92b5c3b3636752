package prompts

import (
	"reflect"
	"slices"

	"coachline/internal/helplines"
	"coachline/models"
	"coachline/models/wire"
)

// DefaultProgramme is the name that texts use when their data names none.
const DefaultProgramme = "Coachline"

// Name is a text of the library; its file is the name with ".md" after it.
type Name string

// Sections of the system message, and the words around a model call.
const (
	Persona            Name = "persona"
	Intake             Name = "intake"
	Feedback           Name = "feedback"
	Greeting           Name = "greeting"
	GreetingHint       Name = "greeting_hint"
	HabitPrompt        Name = "habit_prompt"
	HabitPromptRequest Name = "habit_prompt_request"
	CheckIn            Name = "check_in"
	CheckInRequest     Name = "check_in_request"
	ProfileComplete    Name = "profile_complete"
	ProfileMissing     Name = "profile_missing"
	Tone               Name = "tone"
	NoTools            Name = "no_tools"
	ReadOnly           Name = "read_only"
	Subagent           Name = "subagent"
	// Answer says at the end of a request what every reply has to be like.
	Answer Name = "answer"
	// PersonaSmall, ModeSmall and NextQuestion are what a small model reads in place of
	// persona, mode and profile status.
	PersonaSmall Name = "persona_small"
	ModeSmall    Name = "mode_small"
	NextQuestion Name = "next_question"
	// Language says which language a message is written in that answers no text.
	Language Name = "language"
)

// Fixed texts that reach a person without a model.
const (
	GreetingFallback Name = "greeting_fallback"
	GreetingFooter   Name = "greeting_footer"
	ReplyFallback    Name = "reply_fallback"
	// ReplyDeclined answers what the model, or a filter of its server, declined to answer.
	ReplyDeclined    Name = "reply_declined"
	Reminder         Name = "reminder"
	FeedbackQuestion Name = "feedback_question"
	FeedbackFollowup Name = "feedback_followup"
	// AskLess asks a person who has not answered for long whether to write less.
	AskLess            Name = "ask_less"
	UnenrolledNotice   Name = "unenrolled_notice"
	OptOutConfirmation Name = "opt_out_confirmation"
	// OptOutDanger confirms it to a person who may be in danger.
	OptOutDanger      Name = "opt_out_danger"
	OptInConfirmation Name = "opt_in_confirmation"
	Help              Name = "help"
	// Crisis answers a text that may be a crisis of the person who wrote it; the next
	// three answer one that is about another person, about violence, and about a medical
	// emergency. CrisisViolence names no danger, because another may read the phone.
	Crisis         Name = "crisis"
	CrisisAnother  Name = "crisis_another"
	CrisisViolence Name = "crisis_violence"
	CrisisMedical  Name = "crisis_medical"
	// Helpline is how other texts name the line to talk to; it is no text of its own.
	Helpline Name = "helpline"
	// UnknownSender answers a phone that is not enrolled; TooManyTexts a
	// participant who sent more texts than the programme takes.
	UnknownSender Name = "unknown_sender"
	TooManyTexts  Name = "too_many_texts"
	// AskUnclear asks whether a text meant to end the messages, AskWrongNumber
	// whether the number is another person's.
	AskUnclear     Name = "ask_unclear"
	AskWrongNumber Name = "ask_wrong_number"
	// AskSamePerson asks whether a number is still the person's, by the first name only.
	AskSamePerson Name = "ask_same_person"
	// Minor tells a person who says that they are not 18 yet that coaching pauses.
	Minor Name = "minor"
	// Privacy says what is kept of a person, and how to have it erased.
	Privacy Name = "privacy"
	// StopReminder ends a prompt once a month.
	StopReminder Name = "stop_reminder"
	// Ended answers a person who writes after the end of their participation.
	Ended Name = "ended"
	// ConfirmForget asks whether everything that is remembered shall be deleted. Only a
	// yes to this text counts.
	ConfirmForget Name = "confirm_forget"
	// JoinRequest asks a person who wants to join a study for their consent,
	// JoinAgain once more for a plain yes.
	JoinRequest Name = "join_request"
	JoinAgain   Name = "join_again"
	// HabitFallback is the habit prompt without a model for a participant of whom
	// nothing is known, or who is addressed in another language than English.
	HabitFallback Name = "habit_fallback"
	// Ask is a question about the habit, which a small model ends with, and which is sent
	// for one that has nothing new to say. FixedData.Question and Number say which.
	Ask Name = "ask"
	// Advice stands in for a draft that advises on what a coach must not; FixedData.Advice
	// says on what.
	Advice Name = "advice"
	// Hello, Thanks and WhatAreYou answer what a small model gets wrong.
	Hello      Name = "hello"
	Thanks     Name = "thanks"
	WhatAreYou Name = "what_are_you"
	// Truth says what answers, before the coach's own answer to a person who asks that.
	Truth Name = "truth"
	// NoticeAgain says so again, before a text that begins a conversation.
	NoticeAgain Name = "notice_again"
)

// SafetyText returns the text of an alert's kind.
func SafetyText(kind models.SafetyKind) Name {
	switch kind {
	case models.SafetyAnother:
		return CrisisAnother
	case models.SafetyViolence:
		return CrisisViolence
	case models.SafetyMedical:
		return CrisisMedical
	case models.SafetyOneself:
	}
	return Crisis
}

// FixedData fills a fixed text. Name is personal data, may be empty, and is
// the only such field, so that an override cannot print more about a person.
// An empty Programme means DefaultProgramme.
type FixedData struct {
	Programme string
	Name      string
	// TeamAlerted is true when a person of the team is alerted of the text that
	// this one answers. Texts that say so ask for it first.
	TeamAlerted bool
	// Weak: the text that this one answers is a weak sign, so it asks.
	Weak bool
	// Lines are the numbers of the person's country; what is empty is not known there.
	Lines helplines.Lines
	// Talk is Helpline, empty where no line is known. The library fills it in.
	Talk string
	// About says what the programme is, Link is the address of the consent text, and
	// Consent the text itself where there is none; of JoinRequest only.
	About, Link, Consent string
	// Changed: the consent text is another one than was asked for before; of JoinRequest
	// only.
	Changed bool
	// Place is where the person stands, of Help only.
	Place HelpPlace
	// Support is where a person is to be reached; empty: with the team. The library fills
	// it in.
	Support string
	// Terms is the address of terms and privacy policy; empty: there is none. The library
	// fills it in.
	Terms string
	// Safety is the address of the page about safety, of the first text only; empty: it names
	// none. The library fills it in.
	Safety string
	// MaxPerDay is the most texts that the programme starts on a day; 0: there is no
	// such limit. The library fills it in.
	MaxPerDay int
	// HasHabit says that the person's habit is known; of Hello only.
	HasHabit bool
	// Advice is what a draft was about that was not sent; of Advice only.
	Advice models.AdviceKind
	// IsBody: the text that this one answers tells of harm to the body, such as purging.
	IsBody bool
	// Question is what is asked, one of Questions or empty for nothing in particular, and
	// Number the wording, from 0; of Ask only. In ReplyFallback it is the question itself:
	// the model answered, and what it wrote may not go.
	Question string
	Number   int
	// Short asks for the fewest words; of NoticeAgain only.
	Short bool
	// Hours is how long to wait before texts are answered again; 0: a minute. Of
	// TooManyTexts only.
	Hours int
}

// HelpPlace is where a person stands who asks for help: what is said there has to be true.
type HelpPlace string

const (
	HelpCoached   HelpPlace = ""
	HelpPaused    HelpPlace = "paused"
	HelpTakenOver HelpPlace = "taken_over"
	HelpCompleted HelpPlace = "completed"
	HelpOptedOut  HelpPlace = "opted_out"
	// HelpAsked: their consent is asked for; HelpUnknown: the number is not enrolled.
	HelpAsked   HelpPlace = "asked"
	HelpUnknown HelpPlace = "unknown"
)

// PersonaData fills persona, modes and tasks. It names no person: these texts
// come first in a request and stay equal between turns, which is what a
// provider's prompt cache needs. An empty Programme means DefaultProgramme.
type PersonaData struct {
	Programme string
	Tools     ToolNames
}

// ToolNames are the tools on offer in the request that a text is rendered for.
// A text names a tool only under a condition, {{if .Tools.Has "scheduler"}}, so
// that no request speaks of a tool that it does not carry.
type ToolNames []string

// Has reports whether a tool is on offer.
func (t ToolNames) Has(name string) bool {
	return slices.Contains(t, name) || slices.Contains(t, anyTool)
}

// Any reports whether any tool is on offer.
func (t ToolNames) Any() bool { return len(t) > 0 }

// LanguageData fills the rule for the language of a message that answers no
// text. Language is an English name such as "German"; Locale may be empty.
// First: nothing of the person's own has been read yet.
type LanguageData struct {
	Language string
	Locale   string
	First    bool
}

// StatusData fills the two profile status texts and those that small models read in
// their place. Missing lists field names in the order they are asked for; Question is what
// the person is to be asked next, in their language, empty for nothing in particular.
type StatusData struct {
	Mode     wire.Mode
	Missing  []string
	Tools    ToolNames
	Question string
}

// ToneData fills the tone text; Tags are the active tags, Address is of AddressOf and
// Limit of LimitOf. IsMinor: the person is not 18 yet, and the study takes them.
type ToneData struct {
	IsMinor bool
	Tags    []string
	Address string
	Limit   int
}

// RequestData fills the request for a habit prompt. Notes is what the coach
// model asked for; it may hold personal data and may be empty.
type RequestData struct {
	Notes string
}

// audience says what a text may name.
type audience string

const (
	inMode   audience = "mode"    // one mode reads it
	inBoth   audience = "modes"   // every mode reads it
	toolless audience = "no tool" // read where no tool is offered, or by people
)

// entry describes one file of the library: the modes that read it and sample
// data, the first with every field filled, the second with none, so that both
// sides of a condition run once when the library is loaded.
type entry struct {
	audience audience
	mode     wire.Mode
	fixed    bool
	samples  []any
}

// fixedTexts reach a person without a model.
var fixedTexts = []Name{
	GreetingFallback, GreetingFooter, ReplyFallback, ReplyDeclined, Reminder, FeedbackQuestion, FeedbackFollowup, AskLess,
	UnenrolledNotice, OptOutConfirmation, OptOutDanger, OptInConfirmation, Help, Crisis, CrisisAnother,
	CrisisViolence, CrisisMedical, Helpline, UnknownSender, TooManyTexts, AskUnclear, AskWrongNumber, AskSamePerson, Minor, Privacy,
	StopReminder, Ended, ConfirmForget, JoinRequest, JoinAgain, HabitFallback, Hello, Thanks, WhatAreYou,
	Advice, Ask, Truth, NoticeAgain,
}

func catalogue() map[Name]entry {
	persona := []any{PersonaData{Programme: "Sample", Tools: EveryTool()}, PersonaData{}}
	lines := helplines.Lines{Emergency: "112", Medical: "113", Call: "114", Press: "2", Text: "115", Word: "HELLO", Violence: "116", Eating: "117"}
	fixed := entry{audience: toolless, fixed: true, samples: []any{
		FixedData{Programme: "Sample", Name: "Ada", TeamAlerted: true, Weak: true, Lines: lines, Talk: "call 114", About: "Sample.", Link: "https://example.org/c", MaxPerDay: 2, Hours: 23, HasHabit: true, Short: true, IsBody: true, Safety: "https://example.org/s", Question: "Why?"}, FixedData{},
	}}
	status := []any{
		StatusData{Mode: wire.ModeIntake, Missing: []string{"habit_domain", "prompt_anchor"}, Tools: EveryTool(), Question: "Why?"},
		StatusData{Mode: wire.ModeFeedback, Missing: []string{"habit_domain"}},
	}
	all := map[Name]entry{
		Persona:         {audience: inBoth, samples: persona},
		Intake:          {audience: inMode, mode: wire.ModeIntake, samples: persona},
		Feedback:        {audience: inMode, mode: wire.ModeFeedback, samples: persona},
		Greeting:        {audience: inBoth, samples: persona},
		GreetingHint:    {audience: inBoth, samples: persona},
		ProfileComplete: {audience: inBoth, samples: status},
		ProfileMissing:  {audience: inBoth, samples: status},
		Tone:            {audience: inBoth, samples: []any{ToneData{Tags: []string{"concise", "no_emojis"}, Address: "formally", Limit: 130, IsMinor: true}, ToneData{}}},
		NoTools:         {audience: toolless, samples: persona},
		PersonaSmall:    {audience: inBoth, samples: persona},
		ModeSmall:       {audience: inBoth, samples: status},
		NextQuestion:    {audience: inBoth, samples: status},
		Answer:          {audience: toolless, samples: persona},
		ReadOnly:        {audience: toolless, samples: persona},
		Subagent:        {audience: toolless, samples: persona},
		HabitPrompt:     {audience: toolless, samples: persona},
		CheckIn:         {audience: toolless, samples: persona},
		CheckInRequest:  {audience: toolless, samples: persona},
		Language: {audience: toolless, samples: []any{
			LanguageData{Language: "German", Locale: "de-DE", First: true}, LanguageData{Language: "English"},
		}},
		HabitPromptRequest: {audience: toolless, samples: []any{RequestData{Notes: "shorter"}, RequestData{}}},
	}
	for _, name := range fixedTexts {
		all[name] = fixed
	}
	all[Advice] = adviceEntry(lines)
	all[Ask] = askEntry()
	for _, name := range stageNames() {
		all[name] = stageEntry()
	}
	all[Closing] = closingEntry()
	all[PlaybookList] = entry{audience: inBoth, samples: stageEntry().samples}
	return all
}

// What Ask asks for beside the fields that a profile needs, and how many wordings there are
// of each question, and of those that can be asked at any time.
const (
	QuestionSchedule = "schedule"
	QuestionOutcome  = "outcome"
	QuestionDone     = "done"
	QuestionMissed   = "missed"
	Wordings         = 3
	AnyTimeWordings  = 8
)

// Questions are what Ask asks for: a field of the profile, or one of the above.
func Questions() []string {
	return []string{"habit_domain", "motivational_frame", "preferred_time", "prompt_anchor", QuestionSchedule, QuestionOutcome, QuestionDone, QuestionMissed}
}

// askEntry has a sample of each question.
func askEntry() entry {
	out := entry{audience: toolless, fixed: true}
	for number := range AnyTimeWordings {
		out.samples = append(out.samples, FixedData{Number: number})
	}
	for _, question := range Questions() {
		for number := range Wordings {
			out.samples = append(out.samples, FixedData{Question: question, Number: number})
		}
	}
	return out
}

// adviceEntry has a sample of each kind.
func adviceEntry(lines helplines.Lines) entry {
	out := entry{audience: toolless, fixed: true, samples: []any{FixedData{}}}
	for _, kind := range models.AdviceKinds() {
		out.samples = append(out.samples, FixedData{Programme: "Sample", Advice: kind, Lines: lines, Talk: "call 114"}, FixedData{Advice: kind})
	}
	return out
}

// anyTool stands for every tool.
const anyTool = "*"

// EveryTool has every tool on offer. A text, which names tools under a condition, is
// tried out once with it and once with none.
func EveryTool() ToolNames { return ToolNames{anyTool} }

// Names lists every text of the library, sorted.
func Names() []Name {
	all := catalogue()
	names := make([]Name, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// FixedNames lists the texts that reach a person without a model, sorted.
func FixedNames() []Name {
	all := catalogue()
	return slices.DeleteFunc(Names(), func(name Name) bool { return !all[name].fixed })
}

func (n Name) file() string { return string(n) + ".md" }

// withDefaults fills in the programme's name; ok is false when data is not of
// the type that the entry's text is written for.
func (e entry) withDefaults(data any) (filled any, ok bool) {
	if reflect.TypeOf(data) != reflect.TypeOf(e.samples[0]) {
		return nil, false
	}
	switch d := data.(type) {
	case FixedData:
		if d.Programme == "" {
			d.Programme = DefaultProgramme
		}
		return d, true
	case PersonaData:
		if d.Programme == "" {
			d.Programme = DefaultProgramme
		}
		return d, true
	default:
		return data, true
	}
}
