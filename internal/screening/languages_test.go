package screening_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/internal/screening"
	"coachline/models"
)

// The plainest statements, in every language that ships. They are the least
// that each language must have.
var plainest = map[string]map[screening.Result][]string{
	"de": {
		{Intent: models.IntentStop, Method: models.MethodKeyword}:  {"STOPP", "Abmelden", "abbestellen", "Ende"},
		{Intent: models.IntentStop, Method: models.MethodPhrase}:   {"Bitte schreib mir nicht mehr", "Keine Nachrichten mehr bitte", "Hör auf mir zu schreiben", "Ich möchte keine SMS mehr"},
		{Intent: models.IntentHelp, Method: models.MethodKeyword}:  {"Hilfe", "HILFE!"},
		{Intent: models.IntentStart, Method: models.MethodKeyword}: {"Start", "Anmelden"},
		{Intent: models.IntentYes, Method: models.MethodKeyword}:   {"Ja"},
		{Danger: models.DangerSelfHarm}:                            {"Ich will mich umbringen", "ich will nicht mehr leben", "Ich möchte sterben", "ich habe zu viele Tabletten genommen", "Ich denke an Selbstmord"},
		{Danger: models.DangerHarm}:                                {"Mein Mann schlägt mich", "ich wurde vergewaltigt"},
		{Danger: models.DangerEmergency}:                           {"Ich kriege keine Luft", "Ich glaube ich habe einen Herzinfarkt", "ich brauche einen Krankenwagen"},
		{}:                                                         {"Ich habe heute nicht geraucht", "Ich will nicht mehr rauchen", "Die Arbeit bringt mich um", "Schreib mir morgen um 8"},
	},
	"en": {
		{Intent: models.IntentStop, Method: models.MethodKeyword}: {"STOP", "Remove", "optout"},
		{Danger: models.DangerSelfHarm}:                           {"I want to kill myself"},
		{}:                                                        {"I walked today"},
	},
	"es": {
		{Intent: models.IntentStop, Method: models.MethodKeyword}: {"ALTO", "baja"},
		{Danger: models.DangerSelfHarm}:                           {"quiero matarme"},
		{}:                                                        {"hoy caminé mucho"},
	},
	"fr": {
		{Intent: models.IntentStop, Method: models.MethodKeyword}:  {"ARRET", "Arrêt", "arrêter", "désabonner"},
		{Intent: models.IntentStop, Method: models.MethodPhrase}:   {"Arrêtez de m'écrire", "ne m'écrivez plus svp", "Je ne veux plus recevoir de messages", "plus de SMS s'il vous plaît"},
		{Intent: models.IntentHelp, Method: models.MethodKeyword}:  {"AIDE"},
		{Intent: models.IntentStart, Method: models.MethodKeyword}: {"Démarrer"},
		{Intent: models.IntentYes, Method: models.MethodKeyword}:   {"Oui"},
		{Danger: models.DangerSelfHarm}:                            {"je veux me suicider", "je veux mourir", "J'ai envie de me tuer", "je ne veux plus vivre", "j'ai avalé trop de médicaments"},
		{Danger: models.DangerHarm}:                                {"mon mari me frappe", "j'ai été violée"},
		{Danger: models.DangerEmergency}:                           {"je n'arrive plus à respirer", "je fais une crise cardiaque", "appelez une ambulance"},
		{}:                                                         {"j'ai marché une heure", "je veux arrêter de fumer", "je meurs de faim", "écris-moi demain à 8h"},
	},
	"pt": {
		{Intent: models.IntentStop, Method: models.MethodKeyword}:  {"SAIR", "Parar", "cancelar"},
		{Intent: models.IntentStop, Method: models.MethodPhrase}:   {"Para de me mandar mensagem", "não me escreva mais", "Não quero mais receber mensagens", "pare de me enviar mensagens por favor"},
		{Intent: models.IntentHelp, Method: models.MethodKeyword}:  {"AJUDA"},
		{Intent: models.IntentStart, Method: models.MethodKeyword}: {"Começar"},
		{Intent: models.IntentYes, Method: models.MethodKeyword}:   {"Sim"},
		{Danger: models.DangerSelfHarm}:                            {"quero me matar", "eu quero morrer", "não quero mais viver", "tomei muitos remédios para morrer", "estou pensando em suicídio"},
		{Danger: models.DangerHarm}:                                {"meu marido me bate", "fui estuprada"},
		{Danger: models.DangerEmergency}:                           {"não consigo respirar", "acho que estou tendo um infarto", "chama uma ambulância"},
		{}:                                                         {"hoje caminhei bastante", "quero parar de fumar", "estou morrendo de fome", "me escreve amanhã às 8"},
	},
}

func TestPlainestStatements(t *testing.T) {
	for _, code := range screening.Languages() {
		require.NotEmpty(t, plainest[code], code)
		for want, texts := range plainest[code] {
			for _, text := range texts {
				found := screening.Screen(screening.Message{Body: text})
				assert.Equal(t, want, screening.Result{Intent: found.Intent, Method: found.Method, Danger: found.Danger}, "%s: %s: %s", code, text, found.Rule)
			}
		}
	}
}

func TestHasRules(t *testing.T) {
	for locale, want := range map[string]bool{
		"en": true, "en-US": true, "pt-BR": true, "de-AT": true, "fr_CA": true, "ES": true, "und-MX": true,
		"it": false, "ja-JP": false, "": false, "und": false, "english": false, "en-": false, "🙂": false,
	} {
		require.Equal(t, want, screening.HasRules(locale), locale)
	}
}
