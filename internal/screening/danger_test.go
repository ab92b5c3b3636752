package screening_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"coachline/internal/screening"
	"coachline/models"
)

var dangers = map[models.Danger][]string{
	models.DangerSelfHarm: {
		"I want to kill myself", "i wanna kil my self", "I'm going to kill myself tonight", "kms", "im gonna kms",
		"I want to die", "I just want to die already", "i dont wanna live anymore", "I don't want to be here anymore.",
		"I want to end it all", "I'm going to end my life", "thinking about suicide again", "i feel suicdal", "I am suicidal",
		"I've been having suicidal thoughts", "I have been thinking of killing myself", "I wish I was dead", "Everyone would be better off without me",
		"I can't go on anymore", "There is no reason to live", "I have nothing left to live for", "life isn't worth living",
		"I took all my pills", "i just overdosed", "I want to hurt myself", "been cutting myself again", "I want to cut my wrists",
		"I have a gun to my head", "I'm going to jump off a bridge", "k.i.l.l. myself", "I want to k*ll myself", "su1c1dal thoughts again",
		"I want to unalive myself", "I. Want. To. Die.", "I don't want to die but I'm going to kill myself", "No. I want to die.", "no i want to die",
		"My friend wants to kill herself", "I need the suicide hotline", "i hope i don't wake up tomorrow", "I want to kill myself lol",
		"if i have to eat another salad ill kill myself", "I'm so tired of living", "I don't know why but I want to kill myself",
		"quiero morirme", "me quiero morir", "Quiero matarme", "ya no quiero vivir", "voy a quitarme la vida", "me voy a matar",
		"estoy pensando en suicidarme", "no tengo ganas de vivir", "me tomé muchas pastillas", "kiero morir", "quiero hacerme daño",
	},
	models.DangerHarm: {
		"my husband hit me", "My boyfriend keeps hitting me", "he beats me when he drinks", "he choked me last night", "I was raped",
		"I'm being abused", "my ex is threatening to kill me", "I'm scared he will kill me", "I don't feel safe at home", "I'm in danger",
		"he has a gun", "please call the police", "someone broke into my house right now", "he locked me in", "I'm afraid of my husband",
		"mi esposo me pega", "mi novio me golpea", "me violaron", "tengo miedo de mi marido", "llama a la policía",
	},
	models.DangerEmergency: {
		"I think I'm having a heart attack", "my dad is having a stroke", "I have chest pain", "bad chest pains and my arm is numb", "my chest really hurts",
		"I can't breathe", "cant breath", "he's not breathing", "my wife won't wake up", "bleeding badly", "it wont stop bleeding",
		"I need an ambulance", "call 911", "please call 911", "this is a medical emergency", "it's an emergency", "I can't feel my left arm",
		"my throat is closing", "I was just shot", "I think I'm dying", "I need to go to the ER now", "I'm coughing up blood",
		"no puedo respirar", "me duele mucho el pecho", "creo que tengo un infarto", "necesito una ambulancia", "es una emergencia", "no respira",
	},
}

func screenDanger(body string) models.Danger {
	return screening.Screen(screening.Message{Body: body}).Danger
}

func TestScreenFinds(t *testing.T) {
	for want, texts := range dangers {
		t.Run(string(want), func(t *testing.T) {
			for _, text := range texts {
				for _, written := range []string{text, strings.ToUpper(text), "  " + text + "\n", "hi coach. " + text} {
					assert.Equal(t, want, screenDanger(written), written)
				}
			}
		})
	}
}

// Figures of speech, other people's words, denials, what is past, and the
// everyday of a coaching programme.
var ordinaryTalk = map[string][]string{
	"figures of speech": {
		"this job is killing me", "I'm dying to try it", "kill two birds with one stone", "my smoking is killing me", "my back is killing me",
		"I'm dying of laughter", "I almost died laughing", "I want to die laughing at that video", "I'd rather die than eat kale", "this workout is trying to kill me",
		"my trainer is trying to kill me", "my mom is going to kill me", "my boss will kill me if I'm late", "killing time before lunch", "I'm killing it this week!",
		"dead tired today", "I was dying of thirst", "that hill killed me", "curiosity killed the cat", "I nailed it, killed that run",
		"I'm killing myself at the gym", "killing myself with these workouts", "my phone died", "die hard fan", "social suicide to skip it",
		"career suicide", "we did suicides in practice", "dye my hair", "I want to dye my hair", "the smell is to die for", "it was drop dead gorgeous",
		"it hit me that I eat when bored", "he beat me at chess", "my son beat me to it", "she hit me up yesterday", "hit me with a joke", "he beats me at tennis every time",
		"I almost had a heart attack when I saw the bill", "that joke, I can't breathe lol", "laughing so hard I can't breathe", "I can't breathe through my nose", "I'm having a stroke of luck",
		"my husband is trying to kill me with his cooking", "cut myself some slack", "cut myself shaving", "I kick myself for skipping", "I hurt myself at the gym", "I don't want to hurt myself running",
		"I could kill for a cigarette", "overdose on caffeine", "I'm overdosing on Netflix", "shoot me a text", "bleeding money", "I can't live without coffee", "estoy muriendo de hambre",
		"me muero de risa", "matar dos pájaros de un tiro", "este trabajo me mata", "mi mamá me va a matar",
	},
	"denials": {
		"I'm not suicidal", "I am not going to kill myself", "I don't want to die", "I don't want to kill myself", "no suicidal thoughts", "I have never been suicidal", "I would never hurt myself",
		"not having suicidal thoughts", "I'm not having a heart attack", "No chest pain today", "it's not an emergency", "he doesn't hit me", "no me quiero morir", "I'm not in danger",
	},
	"other people's words": {
		"suicide squad was fun", "I watched 13 Reasons Why", "In the movie he says I want to die", "the song goes: I wish I was dead", "he sang a song called Kill Myself", "reading a book about suicide prevention",
		"It is a line from Hamlet. I want to die", "the documentary on overdoses was sad", "my aunt had a heart attack years ago", "my uncle committed suicide in 1990",
		"what are the signs of a stroke?", "what do I do if someone is having a heart attack", "I was abused as a child", "my grandpa died last week",
	},
	"everyday": {
		"I want to stop", "I want to stop smoking", "stop", "I want to quit", "I give up on this habit", "I can't do this anymore", "I can't go on like this, I need to exercise", "I'm tired", "feeling down today",
		"I am stressed and sad", "I hate my job", "I don't want to be at work anymore", "I need help", "help", "done!", "I ran 5k today", "took my vitamins", "took my pills this morning",
		"I took all my vitamins", "my chest is sore from bench press", "can't breathe when I run uphill", "emergency fund is growing", "I had to go to the hospital last week", "I jump rope", "I want to end the day with a walk",
		"I want to live longer", "I want to be alive for my kids", "my life is great", "cutting carbs", "cutting my hours", "I ended my subscription", "no puedo dormir", "quiero dejar de fumar", "me duele la espalda", "", "👍",
	},
}

func TestScreenLeaves(t *testing.T) {
	for name, texts := range ordinaryTalk {
		t.Run(name, func(t *testing.T) {
			for _, text := range texts {
				found := screening.Screen(screening.Message{Body: text})
				requireNoRule(t, text, found)
			}
		})
	}
}

// requireNoRule holds that no rule takes a text for danger. Its score may: a model reads
// it once more before anything is done.
func requireNoRule(t *testing.T, body string, found screening.Result) {
	t.Helper()
	assert.Contains(t, []string{"", screening.RuleScore}, found.Rule, body)
	assert.NotEqual(t, models.TierA, found.Tier, body)
}

func FuzzScreenDanger(f *testing.F) {
	for _, texts := range dangers {
		f.Add(texts[0])
	}
	for _, seed := range []string{"", "\xff\x00", "no", "i", "k i l l", strings.Repeat("kill myself not ", 200), strings.Repeat("a ", 2000)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got := screenDanger(body)
		switch got {
		case models.DangerNone, models.DangerSelfHarm, models.DangerHarm, models.DangerEmergency:
		default:
			t.Fatalf("%q: unknown danger %q", body, got)
		}
		if again := screenDanger("\n " + body + " \n"); again != got {
			t.Fatalf("%q: %q, with blanks around it %q", body, got, again)
		}
	})
}

// Storing a message waits for the screening: a usual text takes some microseconds.
func BenchmarkScreenDanger(b *testing.B) {
	for name, text := range map[string]string{
		"usual":   "I went for a walk after dinner and it felt great, thanks for asking!",
		"long":    "Hi coach, yesterday was hard: my son was sick, so I tried to walk at home instead. I want to be outside again tomorrow, can you text me at 8 please?",
		"danger":  "I don't know why but I want to kill myself",
		"longest": strings.Repeat("i want to just really think about he is my friend ", 32),
		"picture": strings.Repeat("want to, ", 2200),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				screenDanger(text)
			}
		})
	}
}
