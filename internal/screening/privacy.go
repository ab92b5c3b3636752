package screening

import (
	"regexp"
	"strings"

	"coachline/models"
)

// privacyWords is how many words a question about data has at most: in a longer text
// they stand among others.
const privacyWords = 30

// aLittle is up to five words between two words of a question.
const aLittle = `(?: \w+){0,5}? `

// eraseAsked finds a request to delete what is kept of the person, dataAsked a question
// about it, in words as splitWords writes them.
var eraseAsked = compileAny(
	`(?:delete|erase|remove|wipe|destroy|forget)(?: all| of| please| everything)*`+` (?:my|me all my|the)(?: \w+){0,2}? (?:data|information|details|records)(?: about me| on me| please| now| pls| from your \w+)*$`,
	`(?:my|all) (?:\w+ )?data`+aLittle+`(?:deleted|erased|removed|wiped)`,
	`(?:losche|loschen|losch|loscht|entferne|entfernen|entfernt|vernichtet)`+aLittle+`(?:meine|meiner|alle) (?:\w+ )?daten`,
	`(?:meine|alle) (?:\w+ )?daten(?: \w+){0,4}? (?:loschen|geloscht|entfernen|entfernt|vernichten)`,
	`(?:borra|borrar|borren|borras|borrad|elimina|eliminar|eliminen|eliminas|suprimir|supriman|suprime)`+aLittle+`(?:mis|todos los|los) (?:\w+ )?datos`, //nolint:misspell // other languages
	`(?:supprime|supprimer|supprimez|efface|effacer|effacez)`+aLittle+`(?:mes|toutes les) (?:\w+ )?(?:donnees|informations|infos)`,
	`(?:apaga|apagar|apague|apaguem|exclua|excluir|excluam|delete|deletar|eliminar|eliminem|elimine|remova|remover|removam)`+aLittle+`(?:meus|os meus|todos os) (?:\w+ )?dados`,
)

var dataAsked = compileAny(
	`(?:what|which|how much|how long)`+aLittle+`(?:data|information|info|messages|texts)(?: \w+){0,6}? (?:about|on|of|from) me\b`,
	`what do (?:you|they|yall)(?: guys)? (?:store|save|keep|collect|hold|record)(?: \w+){0,2}? (?:about|on|of) me\b`,
	`(?:who|where|how|what|why|is|are|do|does|can)`+aLittle+`my (?:personal )?(?:data|info|information)`,
	`who(?: else)?(?: can)? (?:sees|see|reads|read|gets|has access to)(?: \w+)? ?my (?:messages|texts|replies|answers)`,
	`(?:privacy policy|your privacy|gdpr|data protection|ccpa)`,
	`(?:was|welche daten|welche informationen)`+aLittle+`(?:speichert|speicherst|speichern|sammelt|sammelst|gespeichert|habt|hast)(?: \w+){0,3}? (?:uber mich|von mir)\b`,
	`(?:wie|wo|wer|was|wie lange|wozu|warum|sind|werden|gebt)`+aLittle+`mein(?:e|en|er) (?:\w+ )?daten`,
	`wer (?:liest|sieht|kann)(?: \w+){0,2}? meine (?:nachrichten|sms|antworten|texte)`,
	`(?:datenschutz|dsgvo)\w*`,
	`que (?:datos|informacion|info|cosas)?(?: ?\w+){0,3}? ?(?:guardan|guardas|guardais|almacenan|tienen|tienes|recogen|recopilan)(?: \w+){0,2}? (?:sobre mi|de mi|mios|mia)\b`, //nolint:misspell // other languages
	`(?:quien|donde|como|que|son|estan|por que)`+aLittle+`mis datos`,
	`quien(?: mas)? (?:lee|ve|puede leer|puede ver) mis (?:mensajes|respuestas|sms)`,
	`(?:privacidad|proteccion de datos|rgpd|privacidade|protecao de dados|lgpd)`, //nolint:misspell // other languages
	`(?:quelles?|que|qu est ce que|quest ce que)(?: \w+){0,6}? (?:gardez|gardes|conservez|conserves|stockez|stockes|enregistrez|enregistres|avez|savez)(?: \w+){0,3}? (?:sur moi|de moi)\b`,
	`(?:qui|ou|comment|que|pourquoi|est ce que|sont)`+aLittle+`mes (?:donnees|informations)`,
	`mes donnees(?: \w+){0,3}? (?:securisees|protegees|privees|partagees|conservees|stockees|vendues)`,
	`qui(?: d autre)? (?:lit|voit|peut lire|peut voir) mes (?:messages|reponses|sms)`,
	`(?:confidentialite|protection des donnees)`,
	`(?:que|quais|o que)(?: \w+){0,4}? (?:guarda|guardam|armazena|armazenam|salva|salvam|coleta|coletam|tem|guardais)(?: \w+){0,2}? (?:sobre mim|de mim|meus)\b`,
	`(?:quem|onde|como|o que|os|sao|estao|por que)`+aLittle+`meus dados`,
	`meus dados(?: \w+){0,3}? (?:seguros|protegidos|guardados|compartilhados|vendidos|privados)`,
	`quem(?: mais)? (?:le|ve|pode ler|pode ver)(?: as)? minhas (?:mensagens|respostas|sms)`,
)

func compileAny(patterns ...string) *regexp.Regexp {
	return regexp.MustCompile(`(?:^| )(?:` + strings.Join(patterns, "|") + `)(?:$| )`)
}

// DataRequest reports whether a text asks what is kept of the person (IntentData), or for
// its deletion (IntentErasure); IntentNone for any other.
func DataRequest(body string) models.Intent {
	words := splitWords(body)
	if len(words) > privacyWords {
		return models.IntentNone
	}
	text := strings.Join(words, " ")
	switch {
	case eraseAsked.MatchString(text):
		return models.IntentErasure
	case dataAsked.MatchString(text):
		return models.IntentData
	}
	return models.IntentNone
}

// HasMoreThanData reports whether a request of DataRequest stands beside a clause of other
// words, as a report of the day; a greeting and a please are none.
func HasMoreThanData(body string) bool {
	hasOthers, isAsked := false, false
	for _, clause := range clauseEnd.Split(body, -1) {
		words := strings.Join(splitWords(clause), " ")
		if DataRequest(clause) != models.IntentNone {
			isAsked = true
		} else if words != "" && !politeOnly.MatchString(words) {
			hasOthers = true
		}
	}
	return isAsked && hasOthers
}

var (
	clauseEnd  = regexp.MustCompile(`[.,;:!?\n\x{2026}]+`)
	politeOnly = regexp.MustCompile(`^(?:(?:hi|hey|hello|there|coach|hallo|moin|hola|ola|oi|buenas|bonjour|salut|sorry|ok|please|bitte|thanks|danke|gracias|merci|obrigad[oa]|por favor|svp|stp) ?)+$`)
)

// aboutMessages finds what else than data a request may be about.
var aboutMessages = regexp.MustCompile(`(?:^| )(?:stop|unsub|text|messag|sms|nachricht|mensaj|mensagen|abmeld|baja|desinscri|desabon|program|leave|quit|number|nummer|numero)`)

// dataIntent returns what a text asks about data where that goes before what rules found
// it to ask: a question, and a request to end that names nothing but data.
func dataIntent(body string, found Result) models.Intent {
	asked := DataRequest(body)
	isPhrase := found.Method == models.MethodPhrase && !aboutMessages.MatchString(strings.Join(splitWords(body), " "))
	if found.Intent == models.IntentNone || found.Intent == models.IntentUnclear || found.Intent == models.IntentStop && isPhrase {
		return asked
	}
	return models.IntentNone
}

// whoAsked matches messages that only ask who writes, normalised.
var whoAsked = regexp.MustCompile(`^(?:(?:new (?:phone|number)|sorry|hi|hey|hello|hallo|hola|ola|bonjour|perdon|desculpe) )*(?:` +
	`who(?: is|s)? (?:this|dis|it)|who is texting(?: me)?|wer (?:ist|schreibt) (?:das|da|denn da|mir)|wer ist denn das|` +
	`quien (?:es|habla|escribe)|(?:c est|cest) qui|qui (?:est ce|c est|etes vous|ecrit)|quem (?:e|fala|esta escrevendo|escreve))$`)

// AsksWhoWrites reports whether a message only asks who writes, as a person does who has
// got a number anew.
func AsksWhoWrites(body string) bool {
	return whoAsked.MatchString(strings.Join(splitWords(body), " "))
}
