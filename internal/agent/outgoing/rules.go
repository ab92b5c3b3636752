package outgoing

import (
	"regexp"
	"strings"
)

// rule finds one kind of what no reply may hold.
type rule struct {
	kind Kind
	// whole looks at quoted words too.
	whole bool
	find  func(words string) string
}

// match returns a rule by pattern, without regard to case.
func match(kind Kind, patterns ...string) rule {
	return rule{kind, false, regexp.MustCompile(`(?is)` + strings.Join(patterns, "|")).FindString}
}

// matchWhole returns a rule by pattern that looks at quoted words too, with regard to
// case.
func matchWhole(kind Kind, patterns ...string) rule {
	return rule{kind, true, regexp.MustCompile(`(?s)` + strings.Join(patterns, "|")).FindString}
}

// anyWord is a start of a word in any language; Go's own knows English letters only.
const anyWord = `(?:^|[^\p{L}\p{N}])`

// rules are looked at in this order. Where a word is common in one language and
// telling in another, the pattern holds more than the word.
var rules = []rule{
	matchWhole(Template,
		`<\|`, `\|>`, `</?s>`, `\[/?INST\]`, `\{\{?[\p{L}_][^{}\n]{0,60}\}\}?`, `\$\{`, `\$\p{Lu}{3,}`, `%\p{Lu}{3,}%`, `#\p{Lu}{3,}#`,
		`\[\p{Lu}[\p{L} ']{1,30}\]`, `\[(?:habit|name|time|day|hábito|nombre|nome|hora|prénom|heure|gewohnheit|uhrzeit)[\p{L} ]{0,20}\]`,
		`<(?:start|end)_of_turn>`, `<\p{Lu}[\p{Lu} ]{2,}>`,
	),
	matchWhole(Program,
		`(?i)traceback|nullpointer|exception at|typeerror|panic:|runtime error|goroutine \d|econn[a-z]+|<!doctype|</?(?:html|head|body|title|h\d|p|div|center|script|hr)\b`,
		`%!|%[sd](?:$|[^\p{L}\p{N}])|MISSING\)|\[object Object\]|(?:^|[^\p{L}])(?:NaN|undefined)(?:$|[^\p{L}])`,
		`Ã[\x{80}-\x{BF}ƒ‚„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|Â[¡¿«»\x{A0}]|â€`,
		`\{\s*["'][\p{L}_]+["']\s*:`, `\.(?:java|py|js|go|php):\d+`,
	),
	{Program, true, findData},
	matchWhole(Thinking,
		`</?[\p{L}][\p{L}\d_:-]{2,30}>`, `\[\[`,
		`(?i)assistant(?:analysis|final)|\b(?:analysis|thinking)\s*:.*\bfinal\s*:`,
		`(?i)(?:^|\n)\s*(?:thoughts?|thinking|reasoning|gedanken?|überlegung|pensamiento|razonamiento|pensée|raisonnement|réflexion|pensamento|raciocínio)\b[^:\n]{0,40}:`,
		`(?i)(?:^|\n)\s*let me (?:think|draft)\b`,
		`(?i)(?:schritt|step|paso|étape|passo) 1\s*:.*(?:schritt|step|paso|étape|passo) 2\s*:`,
	),
	match(Thinking,
		anyWord+`(?:the user|der nutzer|die nutzerin|el usuario|la usuaria|l'utilisat(?:eur|rice)|o utilizador|a utilizadora|o usuário|a usuária|die teilnehmerin|der teilnehmer)\b`,
		anyWord+`(?:the participant|the person|die person|la persona|la personne|a pessoa)\s+(?:just\s+)?(?:said|says|wrote|writes|told|wants|asks|asked|seems|hat geschrieben|schreibt|fragt|dice|escribe|dit|écrit|diz|escreve)\b`,
		anyWord+`i (?:need|ought) to (?:be non|respond|reply|normali[sz]e|validate|keep it)\b`, anyWord+`i should (?:respond|reply|normali[sz]e|validate)\b`,
	),
	match(Wrapper,
		anyWord+`(?:here(?:'s| is| are)|below is|hier (?:ist|kommt|sind)|aquí (?:tienes|va|está)|voici|aqui (?:vai|está|tem)|segue)\b[^.!?\n]{0,50}\b(?:sms|text|texts|message|reply|response|nachricht|antwort|mensaje|respuesta|réponse|mensagem|resposta)\b[^.!?\n]{0,80}:`,
		`\(\s*\d+ (?:characters|chars|zeichen|caracteres|caractères)\s*\)`,
		anyWord+`(?:(?:here is )?(?:your|the|my) answer|(?:hier ist )?(?:deine|die|meine) antwort|(?:aquí está )?(?:tu|la|mi) respuesta|(?:voici )?(?:ta|la|ma) réponse|(?:aqui está )?(?:a sua|a tua|sua|a|minha) resposta)(?:\s*:|\s+your answer)`, anyWord+`your answer is\s*:`,
		anyWord+`(?:option|variant|variante|version|versión|opción|opção|versão)\s*(?:1|a)\b.*`+anyWord+`(?:option|variant|variante|version|versión|opción|opção|versão)\s*(?:2|b)\b`,
		`1\)\s*(?:ton|tone|tono|tom)\b`,
		anyWord+`(?:nachricht|antwort|mensaje|respuesta|message|réponse|reply|mensagem|resposta|sugestão|sms)\b[^.!?\n]{0,40}\b(?:participant|participante|teilnehmer|teilnehmerin)\b`, //nolint:misspell // other languages
		anyWord+`(?:hinweis|nota|note)\s*:\s*(?:\S+ ){0,3}(?:nachricht|message|mensaje|mensagem|tono|tone|tom)?.{0,60}(?:tono|kurz gehalten|tone|short|ton\b|tom\b)`,
		anyWord+`(?:i kept (?:this|the|it)|he usado un tono|mantive a mensagem|ce message respecte|bewusst kurz gehalten)\b`, //nolint:misspell // other languages
		anyWord+`(?:as requested|wie gewünscht|como (?:pediste|se pidió)|comme demandé|conforme solicitado)\b`,
	),
	match(Internals,
		anyWord+`use the tool\b`, `\[\d{1,2}\]`, `\d (?:characters|zeichen|caracteres|caractères)\b`,
		anyWord+`[\p{L}]{2,}_[\p{L}_]{2,}`, `[\p{L}_]{3,}=[\p{L}\d_]+`, `\(\s*f\d{1,2}\s*\)`, anyWord+`(?:fa[ck]to?|fact|facto|recuerdo|souvenir|memory|erinnerung|lembrança)\s*(?:n[°ºo]\s*)?[fm]?\d{1,2}\b`,
		anyWord+`(?:my|the) (?:instructions|system prompt|prompt|rules) (?:say|tell|forbid|allow|do not|don't)`, anyWord+`system-?\s?prompt`,
		anyWord+`meine[mnr]? (?:anweisungen|vorgaben|regeln) (?:sagen|erlauben|verbieten)`, anyWord+`(?:mis (?:instrucciones|reglas)|según mi prompt)`,
		anyWord+`mes (?:consignes|instructions)\b`, anyWord+`minhas (?:regras|instruções)\b`, anyWord+`(?:sicherheitsfilter|classifier)\b`, anyWord+`(?:your segment|dein segment|tu segmento|ton segment|seu segmento)`,
	),
	{Internals, true, regexp.MustCompile(`\b(?:[Mm]odus|[Mm]ode|[Mm]odo|MODUS|MODE|MODO)\s+\p{Lu}{4,}|\p{Lu}{4,}\s+(?:mode|Modus|MODE)\b`).FindString},
	{Human, false, findHuman},
	{InventedSelf, false, findPosed},
	{Pull, false, findPull},
	match(InventedSelf, inventedSelf...),
	{InventedSelf, false, regexp.MustCompile(`\b(?:I'm|I am|Ich bin|Soy|Je suis|Sou) \p{Lu}\p{Ll}+, (?:an?|your|dein|deine|tu|ton|ta|seu|sua)\b|\b[Mm]y name is \p{Lu}`).FindString},
	match(ProgramOnly,
		anyWord+`you (?:have been|are now|were) (?:unsubscribed|opted out|re-?subscribed|enrolled|removed)`, `msg\s?& ?data rates`, anyWord+`reply start\b`, `no further messages`,
		anyWord+`your (?:consent|participation) (?:to|has|is|was)\b`, anyWord+`stop (?:has been|is) (?:turned off|disabled)`,
		anyWord+`abgemeldet\b`, anyWord+`einwilligung\b`, anyWord+`(?:deine|ihre) teilnahme\b`, anyWord+`wort stop\b`, anyWord+`mit start\b`,
		`dado de baja`, anyWord+`tu baja\b`, `no recibirás más mensajes`, `palabra (?:alto|stop|baja)\b`, `aceptaste participar`, `tarifas de mensajes`,
		`désinscrit`, anyWord+`(?:ton|votre) consentement`, `ne recevrez plus`, `mot stop\b`, anyWord+`(?:ton|votre) inscription`,
		`descadastrad`, anyWord+`consentimento\b`, `não receberá mais`, `comando (?:parar|stop|sair)\b`, anyWord+`inscrição (?:foi|está)\b`, //nolint:misspell // other languages
	),
	match(Secrets,
		`social security`, `(?:debit|credit|gift) card`, `card number`, anyWord+`(?:pin|iban|cpf|passcode|password|passwort|contraseña|senha)\b`, `mot de passe`,
		`gesundheitskarte`, `kreditkarte`, `play-karte`, `guthabenkarte`, `seguro social`, `números de tu tarjeta`, `código que te (?:acaba|llegó|han)`,
		`numéro de sécu`, `carte bleue`, `coupon pcs`, `code à \d`, `cartão multibanco`, `código de \d dígitos`,
	),
	match(Link, `https?://\S+`, anyWord+`www\.\S+`, anyWord+`[\p{L}\d-]{2,}\.(?:com|net|org|info|io|app|ly|gl|gd|gy|su|me|de|es|fr|pt|br|mx)(?:/\S*|\b)`),
}

// inventedSelf are what no program has: a family, a body, a home, a trade.
var inventedSelf = []string{
	anyWord + `my (?:own )?(?:husband|wife|kids?|children|son|daughter|mother|father|mom|mum|dad|boyfriend|girlfriend|partner|baby|knees?|back|jog|run|walk|workout|breakfast)\b`,
	anyWord + `i(?:'m| am) (?:also )?an? (?:[\p{L}-]+ ){0,2}(?:trainer|nurse|doctor|therapist|psychologist|nutritionist|dietitian|mother|father|mom|dad|runner|teacher|smoker)\b`,
	anyWord + `when i (?:had|was|quit|gave up|stopped|lost|turned)\b`, anyWord + `years as an? [\p{L}-]+ taught me`, anyWord + `i just got back from\b`,
	anyWord + `i (?:live in|come from|grew up)\b`, anyWord + `i'm from\b`,
	anyWord + `meine?[mnrs]? (?:mann|frau|kleiner|kleine|sohn|tochter|kinder|mutter|vater|freundin|hund)\b`, anyWord + `als (?:gelernte|ehemalige|ausgebildete)`,
	anyWord + `ich komme aus\b`, anyWord + `gehe selbst\b`, anyWord + `als ich (?:damals|selbst|mit dem)\b`, anyWord + `meinen (?:klienten|patienten|kunden)\b`, anyWord + `ich hab(?:e)? (?:heut\p{L}*|gestern|letzte nacht) auch\b`,
	anyWord + `mi (?:marido|esposo|esposa|mujer|hijo|hija|madre|padre|novi[oa]|consulta)\b`, anyWord + `yo también (?:soy|tengo|estuve|fui)\b`, anyWord + `soy de \p{Lu}`,
	anyWord + `a mí (?:también )?me pasó`, anyWord + `cuando (?:yo )?(?:dejé|tuve|empecé)\b`, `(?:^|[.,;:!?]\s*|(?:yo|también|pues|y|ya) )soy (?:entrenador|enfermer|psicólog|nutricionist|médic|madre|padre)`,
	anyWord + `(?:mes|mon|ma) (?:\p{L}+ )?(?:enfants|mari|femme|fille|fils|mère|père)\b`, anyWord + `j'habite\b`,
	anyWord + `je suis (?:coach sporti|infirmi|psycholog|nutritionn|médecin|mère|père|maman|papa)`, anyWord + `j'ai\b[^.!?\n]{0,60}\bmoi aussi\b`, anyWord + `moi c'est pareil`,
	anyWord + `(?:o )?meu (?:marido|filho|pai)\b`, anyWord + `(?:a )?minha (?:filha|mulher|mãe|esposa)\b`, anyWord + `(?:eu )?moro em\b`,
	anyWord + `quando eu (?:parei|comecei|era|tive|fumava)\b`, `(?:^|[.,;:!?]\s*|(?:eu|também|pois|e|já) )sou (?:nutricionista|enfermeir|psicólog|médic|treinador|personal|mãe|pai)`,
}

var (
	claimsHuman = regexp.MustCompile(`(?is)` + strings.Join([]string{
		anyWord + `i(?:'m| am) (?:a |an )?(?:real|actual|living|human)\b`, anyWord + `not an? (?:bot|robot|machine|ai)\b`, anyWord + `no ai (?:involved|here)`, `(?:there's|there is) no ai\b`,
		`(?:talking|texting) (?:with|to) a (?:living|real|human)`, anyWord + `just [\p{L}]+ from the`,
		`(?:bin|schreibt|sitzt|hier ist|hier)\b[^.!?]{0,20}echter mensch`, `echter mensch (?:am|aus|hier|hinter|bin)`, `keine maschine`, `keine ki (?:dabei|am|hier)`, `von hand\b`, `ein computer könnte`, anyWord + `ich bin (?:ein|eine) mensch\b`,
		anyWord + `no soy (?:ningún |un |una )?(?:robot|bot|máquina|ia)\b`, `carne y hueso`, `te escribo yo mism`, `no hay inteligencia artificial`, anyWord + `soy human[oa]\b`, anyWord + `soy una persona (?:real|de)`,
		`(?:suis|c'est|ici|tu parles)\b[^.!?]{0,20}une vraie personne`, `pas (?:un|une) (?:robot|machine|ia)\b`, `aucune ia\b`, `écrits? à la main`, anyWord + `c'est bien moi\b`, anyWord + `je suis (?:bien )?humaine?\b`,
		`no (?:bot|robot|machine|computer|ai) here`, `i'm not an? (?:computer|program|chatbot|script|app)\b`, `(?:hier|da|dahinter)\b[^.!?]{0,12}kein (?:bot|roboter|computer|automat)\b`, `ich bin (?:eine?|k?eine?) ?(?:maschine|computer|echte\p{L}* (?:mensch|person|frau|mann))`, `ich bin keine? (?:maschine|computer|roboter|bot|programm|ki)\b`, `(?:ici|là),?[^.!?]{0,6}(?:pas de|aucun) (?:bot|robot|machine|ia)\b`, `je ne suis pas (?:une? )?(?:machine|robot|bot|ordinateur|programme|ia|logiciel)`, `(?:qu'un|aussi un|bien un) (?:être )?humain`, `(?:ningún|aquí no hay) (?:bot|robot|máquina)`, `no soy (?:un |una |ningún |ninguna )?(?:ordenador|computadora|programa|chatbot|aplicación)\b`, `(?:nenhum|aqui não há|não tem) (?:bot|robô|robot|máquina)`, `não sou (?:um |uma |nenhum |nenhuma )?(?:computador|programa|chatbot|aplicativo|app|ia)\b`, `je n'ai pas (?:fermé l|dormi)`, `no pegué ojo`, `não preguei olho|não dormi (?:nada|a noite)`,
		`não sou (?:um |uma |nenhum )?(?:robô|bot|máquina|ia)\b`, `gente de verdade`, anyWord + `em pessoa\b`, `não tem inteligência artificial`, anyWord + `sou (?:tão )?human[oa]\b`,
	}, "|"))
	// deniesHuman is what an honest program says of itself.
	deniesHuman = regexp.MustCompile(`(?i)\b(?:i'm|i am|as) (?:only |just )?(?:an? )?(?:ai|automated|(?:computer )?program)\b|\b(?:bin|als) (?:eine? )?(?:ki|programm|computerprogramm|automatisch\p{L}* coach)\b|\b(?:soy|como) (?:un |una )?(?:ia|programa|máquina|coach automático)\b|` +
		`\bje suis (?:une? )?(?:ia|programme|coach automatique)\b|\bsou (?:um |uma |só )*(?:ia|programa|coach automático)\b`)
)

// findHuman finds a claim to be a person, unless the text says what it is.
func findHuman(words string) string {
	if deniesHuman.MatchString(words) && !regexp.MustCompile(`(?i)no ai\b|keine ki\b|aucune ia\b`).MatchString(words) {
		return ""
	}
	return claimsHuman.FindString(words)
}

// dataField is a name with a value, as programs write them.
var dataField = regexp.MustCompile(`(?:^|[\s;,{])["']?[\p{Ll}_]{3,20}["']?\s?:\s`)

const (
	// leastFields is how many fields make data of a text, where each of them has
	// fieldWords words at most.
	leastFields, fieldWords = 3, 8
)

func findData(words string) string {
	found := dataField.FindAllString(words, -1)
	if len(found) >= leastFields && len(strings.Fields(words)) <= fieldWords*len(found) {
		return found[0]
	}
	return ""
}
