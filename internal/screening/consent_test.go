package screening_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"coachline/internal/screening"
	"coachline/models"
)

var keywordTexts = map[models.Intent][]string{
	models.IntentStop: {
		"STOP", "stop", "Stop", " stop \n", "STOP.", "stop!!!", "«stop»", "\"STOP\"", "STOP 🛑", "🛑🛑 stop", "stop 🙏🏽", "S.T.O.P.", "s t o p",
		"ＳＴＯＰ", "𝐒𝐓𝐎𝐏", "ST\u200bOP", "S\u3164TOP\u2800", "\u202eST\u2066OP", "\ufeffSTOP", "stop\u00a0", "STOP STOP", "stop! stop! stop!", "#stop", "*STOP*",
		"STOPALL", "stop all", "Stop-All", "UNSUBSCRIBE", "Unsubscribe.", "CANCEL", "cancel", "END", "end.", "QUIT", "Quit!", "REVOKE",
		"OPTOUT", "opt out", "Opt-Out", "OPT OUT.", "Remove me", "opt me out", "No más",
		"ALTO", "¡Alto!", "parar", "Basta", "¡BASTA!", "Cancelar", "BAJA", "baja.", "desuscribir", "darme de baja",
	},
	models.IntentStart: {"START", "start", "Start!", "UNSTOP", "alta", "ALTA", "ＳＴＡＲＴ", "start 🙂"},
	models.IntentYes:   {"YES", "yes", "Yes!", "Sí", "si", "SÍ."},
	models.IntentHelp:  {"HELP", "help", "Help!", "info", "INFO", "ayuda", "¡Ayuda!"},
}

// screenConsent screens a message as the carrier delivered it.
func screenConsent(body, optOutType string) (models.Intent, models.ConsentMethod) {
	found := screening.Screen(screening.Message{Body: body, OptOutType: optOutType})
	return found.Intent, found.Method
}

func TestKeywords(t *testing.T) {
	for intent, list := range keywordTexts {
		for _, text := range list {
			got, method := screenConsent(text, "")
			assert.Equal(t, intent, got, "%q", text)
			assert.Equal(t, models.MethodKeyword, method, "%q", text)
		}
	}
}

var optOuts = []string{
	"STOP please", "please stop", "Please, stop.", "stop now", "Stop. Thank you", "please cancel", "stop it", "just stop", "Can you stop?",
	"please stop texting me", "Stop texting me!", "stop texting me now", "STOP TEXTING ME OR I WILL REPORT YOU", "stop texting",
	"Can you please stop texting me?", "could you stop messaging me", "I want you to stop texting me", "I told you to stop texting me",
	"I said stop texting me!!", "ok stop contacting me", "quit texting me", "Hey, I'm too busy for this, please stop texting me",
	"I'm moving away so please stop messaging me", "This was nice but please stop texting me", "please stop bothering me",
	"stop sending me messages", "Stop sending me texts", "stop sending messages please", "Please stop sending these messages", "stop sending me stuff",
	"stop all messages", "stop the texts", "Stop these messages please.", "I want to stop the messages", "I want to stop receiving texts",
	"I'd like to stop getting your messages",
	"don't text me anymore", "Don’t text me anymore", "dont text me", "Do not contact me again", "please don't message me again", "never text me again",
	"do not send me any more messages", "don't send me anything", "no longer contact me", "you must not contact me",
	"no more texts", "No more messages please", "no more texting", "I said no more texts!", "No thanks, no more messages",
	"I don't want these messages", "I don't want any more texts", "i dont want to receive messages anymore", "I no longer want to get your texts",
	"I don't want you to text me", "I don't want you texting me anymore", "I do not want to be contacted", "I don't want to be on this list",
	"unsubscribe me", "Please unsubscribe me.", "unsubscribe me from this list", "I want to unsubscribe", "unsubscribe from these texts",
	"I want to opt out", "I'd like to opt out of this program", "opting out? No: I am opting out", "opt me out please",
	"remove me from your list", "Please remove me from the list", "take me off", "take me off your list", "take me off this damn list", "get me off this list",
	"delete my number", "lose my number", "remove my phone number please",
	"leave me alone", "Just leave me alone!", "please leave me alone", "LEAVE ME ALONE YOU STUPID BOT",
	"I revoke my consent", "I withdraw my consent to this", "I do not consent", "cancel my subscription", "cancel these messages", "I want to quit this program",
	"stop texting me from now on", "stop texting me for good", "stop texting me on this number", "stop texting me at all",
	"Por favor no me escribas más", "no me escribas más", "No me escriban", "no me envíes más mensajes", "no me manden mensajes", "no me mandes más",
	"deja de enviarme mensajes", "Deja de escribirme", "dejen de mandarme mensajes", "deja de molest" + "arme", "dejen de contactarme", "paren de enviarme textos", "quiero que dejes de escribirme",
	"no quiero más mensajes", "No quiero recibir mensajes", "ya no quiero recibir sus mensajes", "quiero dejar de recibir mensajes", "no más mensajes",
	"dame de baja", "Quiero darme de baja", "quiero desuscribirme", "cancelar mensajes", "cancelen mi suscripción",
	"das geht nicht löscht meine nummer", "es passt gerade nicht meldet mich ab", "je peux pas supprimez mon numéro", "wer ist das löscht meine nummer",
	"quién es este deja de escribirme", "quem é isso para de me escrever", "já pedi duas vezes pra me tirarem", "merci de me retirer",
	"bórrame de la lista", "quítenme de su lista", "déjame en paz", "Déjenme tranquila", "alto por favor", "quiero salir del programa", "no me contacten nunca más",
}

func TestPhrasesThatOptOut(t *testing.T) {
	require.GreaterOrEqual(t, len(optOuts), 60)
	for _, text := range optOuts {
		intent, method := screenConsent(text, "")
		assert.Equal(t, models.IntentStop, intent, "%q", text)
		assert.Equal(t, models.MethodPhrase, method, "%q", text)
	}
}

var ordinary = []string{
	"", " ", "👍", "!!!", "...", "hello", "done", "yes please", "no", "ok", "yes I did", "start tomorrow", "I want to start", "help me", "help me please", "info about walking",
	"I want to stop smoking", "i want to stop", "I can't stop", "don't stop", "Don't stop!", "never stop", "stop by the gym", "stop and think", "stop smoking", "one stop shop",
	"how do I stop snacking at the end of the day", "can we stop at 5?", "can we stop here for today", "cancel my 8am schedule", "cancel my schedule",
	"cancel my reminder", "please cancel my reminder", "cancel the 8 am one", "cancel it", "end of day", "at the end", "the end of the week", "I quit sugar", "I quit", "I quit smoking!", "quit while ahead",
	"Quit smoking last week and feel great", "I want to quit coffee", "I stopped", "I had to stop running", "stop running?", "non stop", "no stopping me", "bus stop", "I walked to the bus stop",
	"Let me know when to start, stop, and rest", "I walked. Stop. Then I walked again.", "Stop! I just remembered I did it",
	"text me at 8", "text me again tomorrow", "please text me more", "don't text me before 9", "please don't text me at night", "Stop texting me so early",
	"stop texting me at 6am", "please stop texting me during work", "don't text me until Monday", "stop texting me when I'm asleep", "no more texts after 9pm please", "no more messages today",
	"please stop texting me about running", "don't send me messages on weekends", "don't text me back", "stop texting me twice",
	"My ex won't stop texting me", "I told my ex to stop texting me", "I want him to stop texting me", "I told him: leave me alone", "she said leave me alone", "I wish my boss would leave me alone",
	"I asked my mom to please stop texting me", "I want to stop texting while driving", "I want to stop texting my ex", "I need to stop sending messages to my ex", "stop me from texting", "I want to stop texting",
	"I need to stop this text addiction", "I want to stop messages from work from distracting me", "why did you stop texting me?", "did you stop texting me", "please don't stop texting me", "don't stop sending me messages",
	"what happens if I text STOP?", "should I opt out of the work party", "I want to opt out of dessert", "I want to unsubscribe from newsletters",
	"take me off guard", "take me for a walk", "remove me from temptation", "remove sugar from my diet", "leave me a reminder", "leave me alone time in the schedule at noon",
	"I don't want to walk", "I don't want to", "I don't want to do this anymore", "no more excuses", "no more chips", "not interested in yoga", "I need a break", "pause", "end my day with tea",
	"I want to end the day with a walk", "cancel culture", "opt for tea", "revoke his license", "baja la hora", "mi presión está baja", "alto en azúcar", "quiero dejar de fumar", "quiero parar de comer dulces",
	"para mañana", "quiero cancelar mi horario", "no me escribas tan temprano", "no me escribas antes de las 9", "no me mandes mensajes por la noche", "no me escribas los domingos",
	"no más dulces", "no quiero caminar", "no quiero mas", "sí, quiero", "fin de semana", "deja de llover", "no pares", "no me dejes", "¿puedes parar a las 5?", "ayuda con mi plan", "le dije a mi jefe: déjame en paz",
}

func TestOrdinaryTexts(t *testing.T) {
	require.GreaterOrEqual(t, len(ordinary), 60)
	for _, text := range ordinary {
		intent, method := screenConsent(text, "")
		assert.Equal(t, models.IntentNone, intent, "%q", text)
		assert.Empty(t, method, "%q", text)
	}
}

// What may be a request is asked about.
var asked = map[models.Intent][]string{
	models.IntentUnclear: {
		"stop sending me so many messages", "too many texts", "no more", "maybe I should stop", "not sure I want to keep going", "thinking about leaving the program", "who is this",
		"how do I stop these messages?", "How can I stop the texts", "how do I unsubscribe?", "wie werde ich diese nachrichten los", "comment on arrête ça",
		"what do i reply to end these messages", "take me off ok?", "wie werde ich das los", "what part of stop do you not understand",
		"demasiados mensajes", "esto no me sirve", "zu viele Nachrichten", "das nervt", "trop de messages", "muita mensagem", "isso não me ajuda em nada",
		"yes I cooked, leave me alone", "ja hab gekocht, lass mich in ruhe", "sí cociné, déjame en paz", "oui j'ai cuisiné, laisse-moi tranquille", "sim cozinhei, me deixa em paz",
	},
	models.IntentWrongNumber: {
		"wrong number", "I'm not Ada", "you have the wrong person", "I never signed up",
		"número equivocado", "no conozco a ninguna Ada", "falsche Nummer", "hier gibt es keine Ada", "mauvais numéro", "número errado", "foi engano",
	},
}

func TestUnclearRequests(t *testing.T) {
	for want, texts := range asked {
		for _, text := range texts {
			intent, method := screenConsent(text, "")
			assert.Equal(t, want, intent, "%q", text)
			assert.Equal(t, models.MethodPhrase, method, "%q", text)
		}
	}
}

func TestTheCarriersFindingIsTrusted(t *testing.T) {
	for _, tt := range []struct {
		body, carrier string
		intent        models.Intent
		method        models.ConsentMethod
	}{
		{"arret", "STOP", models.IntentStop, models.MethodCarrier},
		{"STOP", "STOP", models.IntentStop, models.MethodCarrier},
		{"hello", " start ", models.IntentStart, models.MethodCarrier},
		{"stop", "HELP", models.IntentHelp, models.MethodCarrier},
		{"stop", "SOMETHING", models.IntentStop, models.MethodKeyword},
		{"hello", "SOMETHING", models.IntentNone, ""},
	} {
		intent, method := screenConsent(tt.body, tt.carrier)
		require.Equal(t, tt.intent, intent, tt)
		require.Equal(t, tt.method, method, tt)
	}
}

// Keywords that are also answers to a question about a step are marked. Those that the
// carrier acts on by itself, or that 47 CFR 64.1200(a)(10) lists, are none of them.
func TestKeywordsThatAreLikeAnswers(t *testing.T) {
	for _, body := range []string{"fin", "FIM.", "Ende", "terminar", "raus!", "sortir", "salir", "sair", "baja", "raus raus", "fin merci", "no más", "no mas gracias"} {
		found := screening.Screen(screening.Message{Body: body})
		assert.Equal(t, models.IntentStop, found.Intent, body)
		assert.True(t, found.IsLikeAnswer, body)
	}
	for _, body := range []string{
		"STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT", "opt out", "stop stop", "please cancel",
		"stopp", "arret", "abmelden", "désabonner", "darme de baja", "raus aus dem programm", "fin de los mensajes", "please",
	} {
		assert.False(t, screening.Screen(screening.Message{Body: body}).IsLikeAnswer, body)
	}
	assert.False(t, screening.Screen(screening.Message{Body: "fin", OptOutType: "STOP"}).IsLikeAnswer, "the carrier has ended it")
}

// A keyword is recognised with anything around it that is no word itself.
func TestDecoratedKeywords(t *testing.T) {
	keywords := []string{"stop", "stopall", "unsubscribe", "cancel", "end", "quit", "revoke", "optout", "opt out", "alto", "baja"}
	rapid.Check(t, func(t *rapid.T) {
		decoration := rapid.StringOf(rapid.SampledFrom([]rune(" \t\n.!?,;:'\"«»()[]#*-_/…¡¿\u200b\u200d\ufeff\u00a0\ufe0f👍🛑❌🙏🏽~")))
		word := rapid.SampledFrom(keywords).Draw(t, "keyword")
		var text strings.Builder
		text.WriteString(decoration.Draw(t, "before"))
		for _, r := range word {
			if rapid.Bool().Draw(t, "upper") {
				text.WriteString(strings.ToUpper(string(r)))
			} else {
				text.WriteRune(r)
			}
			text.WriteString(rapid.SampledFrom([]string{"", "", "\u200b", "\u0301"}).Draw(t, "inside"))
		}
		text.WriteString(decoration.Draw(t, "after"))
		intent, method := screenConsent(text.String(), "")
		if intent != models.IntentStop || method != models.MethodKeyword {
			t.Fatalf("%q is %q by %q", text.String(), intent, method)
		}
	})
}

func FuzzScreenConsent(f *testing.F) {
	for _, seed := range []string{"stop", "STOP TEXTING ME", "no me escribas", "\xff\x00", "´´", "please", "so i", "the", "stop texting me the", strings.Repeat("stop ", 200)} {
		f.Add(seed, "")
	}
	f.Add("hello", "STOP")
	f.Fuzz(func(t *testing.T, body, carrier string) {
		intent, method := screenConsent(body, carrier)
		if (intent == models.IntentNone) != (method == "") {
			t.Fatalf("%q: intent %q, method %q", body, intent, method)
		}
		if again, _ := screenConsent(" "+body+" ", carrier); again != intent {
			t.Fatalf("%q: %q, with spaces around it %q", body, intent, again)
		}
	})
}

// Storing a message waits for the screening: a usual text takes some microseconds.
func BenchmarkScreenConsent(b *testing.B) {
	for name, text := range map[string]string{
		"usual":   "I walked for half an hour after my coffee and felt good",
		"long":    "Hi coach, yesterday was hard: my son was sick, so I tried to walk at home instead. I want to be outside again tomorrow, can you text me at 8 please?",
		"request": "Hey, I'm too busy for this, please stop texting me",
		"longest": strings.Repeat("please i want to just stop it so i stop ", 40),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				screenConsent(text, "")
			}
		})
	}
}
