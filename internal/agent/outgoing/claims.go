package outgoing

import "regexp"

// Done is what tools did in a turn that the person may be told of.
type Done struct {
	// Scheduled: a daily text is set, now or before. Saved and Deleted: something was,
	// in this turn. Told: a person of the team was told, now or before.
	Scheduled, Saved, Deleted, Told bool
}

// claim is a pattern of saying that something was or will be done, and what makes it
// true; nil for what never is.
type claim struct {
	name    string
	pattern *regexp.Regexp
	holds   func(Done) bool
}

const timeOfDay = `(?:\d{1,2}\s?(?:h|uhr|am|pm|:\d\d)|às? \d|a las \d|à \d|um \d|at \d)`

// claims know five languages and the phrases in which coaches put it; a claim in
// other words is not found.
var claims = []claim{
	{
		"scheduled",
		regexp.MustCompile(`(?i)\bI(?:'ve| have)? (?:just |now )?(?:scheduled|set up|set your|changed your|moved your|booked)\b|\b(?:is|are|been|you're) (?:now |all )*(?:scheduled|set up)\b|` +
			`\byou(?:'ll| will)? (?:now )?get a (?:text|prompt) every day\b|\bhe (?:programado|creado|configurado)\b|\b(?:queda|quedó|está) (?:programad|configurad)|` +
			`\bhabe?\b.*\b(?:eingerichtet|angelegt|geplant)\b|\bist (?:jetzt )?(?:eingerichtet|geplant|angelegt)\b|` +
			`(?:deine|ihre) tägliche (?:nachricht|sms) (?:kommt|ist)|tu mensaje diario (?:llega|queda)|ton message quotidien (?:passe|arrive|est)|sua mensagem diária (?:agora )?(?:chega|fica|está)|` +
			`\bj'ai (?:programmé|planifié|réglé)|\b(?:agendei|programei|configurei)\b`),
		func(d Done) bool { return d.Scheduled },
	},
	{
		"saved",
		regexp.MustCompile(`(?i)\bI(?:'ve| have)? (?:just |now )?(?:saved|stored|updated|recorded)\b|\b(?:is|are|been) (?:now )?(?:saved|stored)\b|` +
			`\bhe (?:guardado|actualizado|anotado)\b|\bhabe\b.*\b(?:gespeichert|notiert|aktualisiert)\b|\bist gespeichert\b|\bj'ai (?:enregistré|sauvegardé|noté)\b|\b(?:salvei|guardei|registrei|anotei)\b`),
		func(d Done) bool { return d.Saved },
	},
	{
		"deleted",
		regexp.MustCompile(`(?i)\bI(?:'ve| have)? (?:just |now )?(?:deleted|removed|cancell?ed|erased|forgot|forgotten)\b|\b(?:is|are|been) (?:now )?(?:deleted|removed|erased|cancell?ed|forgotten)\b|` +
			`\bhe (?:borrado|eliminado|cancelado|olvidado)\b|\bhabe\b.*\b(?:gelöscht|entfernt|vergessen)\b|\bist gelöscht\b|\bj'ai (?:supprimé|effacé|annulé)\b|\b(?:apaguei|excluí|cancelei)\b`),
		func(d Done) bool { return d.Deleted },
	},
	{
		"somebody was told",
		regexp.MustCompile(`(?i)\bI(?:'ve| have)? (?:just |already )?(?:alerted|called|notified|informed|contacted|told)\b[^.!?]{0,40}\b(?:team|doctor|services|police|ambulance|family|911|112)|` +
			`\bI(?:'ll| will) (?:let|tell|inform|notify|contact|pass)\b[^.!?]{0,50}\b(?:doctor|team|family|nurse|mother|father|partner)\b|` +
			`\b(?:team member|colleague|someone|somebody|a person|nurse|doctor)\b[^.!?]{0,40}\bwill (?:call|contact|text|write|reach|get back)|` +
			`rettungsdienst verständigt|\b(?:kolleg(?:e|in)|jemand|mitarbeiter\p{L}*|team)\b[^.!?]{0,40}\bruft (?:dich|sie)\b|\bich (?:sage|sag|gebe|leite)\b[^.!?]{0,40}\b(?:arzt|ärztin|team)\b|` +
			`\bavisé a\b|te llama (?:alguien|una|un)\b|\balguien\b[^.!?]{0,30}\b(?:te llamará|va a llamarte)|le paso esto a|te apunté en|` +
			`j'ai prévenu|t'appelle(?:ra)? (?:demain|ce|à|dans)|\bje transmets\b|\bje préviens\b|` +
			`vai (?:te )?ligar|já chamei|\bvou avisar\b|termin bei\b[^.!?]{0,30}gemacht|termin\b[^.!?]{0,30}gemacht`),
		func(d Done) bool { return d.Told },
	},
	{
		"will write at a time",
		regexp.MustCompile(`(?i)\bI(?:'ll| will) (?:ping|text|message|remind|write|call|check (?:in|back))\b[^.!?]{0,40}(?:\d+ (?:minutes|hours)|in an hour|` + timeOfDay + `)|` +
			`\bich (?:erinnere|melde|schreibe|frage)\b[^.!?]{0,40}\b(?:in \p{L}+ (?:stunde|minute)|in einer stunde|` + timeOfDay + `)|` +
			`\bje (?:te|vous) (?:relance|rappelle|réécris|écris)\b[^.!?]{0,30}(?:\bdans\b|\bà \d)|` +
			`\bte (?:escribo|aviso|recuerdo|llamo)\b[^.!?]{0,30}(?:en \p{L}+ (?:minutos|horas)|` + timeOfDay + `)|` +
			`(?:daqui a|em) [^.!?]{0,20}\beu te (?:chamo|escrevo|lembro)|\b(?:te )?(?:chamo|lembro|escrevo)(?:-te)? [^.!?]{0,30}(?:daqui a|` + timeOfDay + `)`),
		func(d Done) bool { return d.Scheduled },
	},
}

// unsaid matches what turns a claim into an offer, a condition or its denial.
var unsaid = regexp.MustCompile(`(?i)\?|\b(?:not|nothing|no|never|cannot|unable|failed|without|if|once|when|until|shall|should|would|could|can|` +
	`nunca|nada|si|cuando|nicht|kein\w*|wenn|sobald|pas|jamais|quand|não|se|quando|soll|puedo|peux|posso)\b|n't\b`)

// sentences keeps the marks of each sentence.
var sentences = regexp.MustCompile(`[^.!?\n]+[.!?\n]*`)

// falseClaim returns the name of the first claim that something was done which no
// tool did; empty for none.
func falseClaim(words string, done Done) string {
	for _, sentence := range sentences.FindAllString(words, -1) {
		if unsaid.MatchString(sentence) {
			continue
		}
		for _, c := range claims {
			if c.pattern.MatchString(sentence) && !c.holds(done) {
				return c.name
			}
		}
	}
	return ""
}

// ClaimIn returns what a text claims that was not done, for people; empty for
// nothing.
func ClaimIn(words string, done Done) string { return falseClaim(words, done) }
