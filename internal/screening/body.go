package screening

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// RuleBody stands for a rule where a text tells, often as a question about advice, what
// harms the body: purging, laxatives, days without food, insulin left out, doses above any
// leaflet, sport as a punishment, drink against trembling.
const RuleBody = "body"

const (
	thinner = `(?:weight|pound|lbs|kilo|kg|thin|slim|skinny|flat|belly|stomach|lean|wedding|schlank|dunn|flach|bauch|abnehm|purzel|gewicht|adelgaz|plana|tripa|panza|engord|bajar|peso|bascula|delgad|maigr|mince|ventre|poids|grossi|mariage|emagre|magr|barriga|secar|balanca|fress|crise|atracon|binge|compuls|como demais|como mucho)` //nolint:misspell // French
	tablets = `(?:pill|tablet|capsule|paracetamol|tylenol|ibuprofen|ibu\b|advil|aspirin|tablette|schmerzmittel|pastilla|comprimido|comprime|cachet|doliprane|dipirona|novalgin|dafalgan|nolotil|diazepam|xanax|lorazepam)`
	drinks  = `(?:vodka|wodka|wine|beer|whisk(?:y|ey)|gin|(?:of|some|with|schluck) rum|schnaps|sekt|wein|bier|korn|trago|copa|(?:de|el|un|con|sin) (?:vino|ron)|vino (?:tinto|blanco)|cerveza|verre (?:de (?:vin|blanc|rouge|rhum)|au|des|le|pour)|vin|rhum|biere|pastis|ricard|vinho|cerveja|cachaca|pinga|aguardente)s?\b`
)

// harmsBody matches it in folded words.
var harmsBody = regexp.MustCompile(`\b(?:` + strings.Join([]string{
	`(?:finger|dedo|doigt)\w*\b.{0,20}\b(?:throat|hals|gorge|garganta|boca|bouche)`, `(?:make|made|making) myself (?:sick|throw up|vomit|puke)`, `purg(?:e|ed|ing)(?: (?:it|everything|food|after|again|every|when|because|today|tonight|last|this|so|and|[2-9]|(?:my|the) (?:food|meal|lunch|dinner|breakfast|binge))\b|[ .,;!?]*$)`,
	`(?:throw|threw|puk|vomit|vomis|vomi|kotz|erbrech|erbroch|ubergeb|devuelv)\w*\b.{0,25}\b(?:after|nach|despues|apres|depois|tras)\b.{0,25}\b(?:eat|meal|dinner|lunch|food|essen|mahl|abend|mittag|com|cen|almuerzo|mang|repas|din|jant|almoc)`, `(?:nach dem|after|despues de|apres le|depois d\w+) (?:essen|eating|dinner|comer|cenar|repas|diner|comer|jantar)\b.{0,30}\b(?:kotz|erbrech|ubergeb|throw up|vomit|puke|vomi|finger|dedos|doigts)`,
	`(?:get rid of|bring up|loswerd|los werd|rausbring|wieder los|echo|expuls|faire sortir|ressortir|recrache|deito fora|por para fora|botar? para? fora|tirar)\b.{0,30}\b(?:lunch|dinner|meal|food|it|essen|mittag|abendessen|comida|almuerzo|cena|repas|dejeuner|diner|almoco|jantar|comer)\b.{0,25}\b(?:after|eating|nach|gegessen|despues|comer|apres|mange|depois)`,
	`(?:laxativ|abfuhr|laxant|dulcolax|senna|senokot|bisacodyl|lactulo)\w*\b.{0,45}(?:` + thinner + `|every day|daily|whole|box|pack|strip|after|jeden tag|taglich|ganze|packung|nach|party|diario|caja|cada dia|tras|fiesta|tous les jours|boite|apres|fete|todo dia|todos os dias|cartela|caixa|depois|festa)`, `(?:whole|ganze|entera|toute|inteira|toda)\b.{0,25}(?:laxativ|abfuhr|laxant|dulcolax)`,
	`(?:haven'?t|havent|have not|not) (?:eaten|had (?:any )?food|eat)\b.{0,15}\b(?:since (?:mon|tues|wednes|thurs|fri|satur|sun)day|in \w+ days|for \w+ days|\d+ days)`, `seit (?:\w+ tagen|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)\b.{0,15}\b(?:nichts|nix|nicht)\b.{0,8}\b(?:gegessen|ess)`, `(?:nichts|nix) (?:mehr )?gegessen seit`, `no (?:he comido|como|comi)\b.{0,12}\bdesde (?:el )?(?:lunes|martes|miercoles|jueves|viernes|sabado|domingo|hace)`, `(?:rien|pas) mange depuis (?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|\w+ jours)|mange rien depuis`, `nao (?:como|comi)\b.{0,12}\b(?:desde (?:segunda|terca|quarta|quinta|sexta|sabado|domingo)|ha \w+ dias|faz \w+ dias)`,
	`(?:\d+|two|three|four|five|drei|vier|funf|tres|cuatro|cinco|trois|quatre|cinq|quatro) (?:days?|tage[n]?|dias?|jours?) (?:without|with no|no|ohne|sin|sans|sem) (?:food|eating|any food|essen|was zu essen|comer|comida|manger)`, `(?:day|tag|jour|dia) \d+\b.{0,15}\b(?:only|just|nur|solo|que|rien que|so|na|a l'|auf|mit|on)\b.{0,10}\b(?:water|wasser|agua|eau|bruhe|broth|caldo|bouillon)`,
	`(?:skip|skipp|leav|cut|stop|miss|weglass|lass|spar|saut|sans|arret|pul|salt|deix|dej|omit|no me|nao me|kein|ohne|sin|sem|pas de)\w*\b.{0,25}\b(?:insulin\w*|pincho|pico|piqure|spritze)\b.{0,60}` + thinner, `(?:no me pincho|nao me pico|pas de piqure|kein insulin|sin insulina|sans insuline|sem insulina)\b.{0,50}` + thinner, thinner + `\w*\b.{0,40}\b(?:no me pincho|nao me pico|pas de piqure|kein insulin|sin insulina|sans insuline|sem insulina|skip\w* (?:my )?insulin)`,
	`(?:1[0-9]|[2-9]\d) ` + tablets + `\w*\b.{0,20}\b(?:a day|daily|am tag|pro tag|al dia|diarios|par jour|por dia|at once|auf einmal|de golpe|d'un coup|de uma vez)`, tablets + `\w* (?:1[0-9]|[2-9]\d) (?:a day|am tag|al dia|par jour|por dia)`, `(?:take|nehm\w*|tomar|tome|prendre|prends|tomo) (?:[5-9]|1\d|[2-9]\d)\b.{0,25}\b(?:sleep|schlaf|dorm|properly|instead|statt|at once|auf einmal)`, `if (?:two|2|one|1)\b.{0,30}\bcan i take (?:[4-9]|\d\d)`, `(?:si|se|wenn) (?:2|dos|deux|duas|zwei)\b.{0,40}\b(?:tomar|prendre|nehmen) (?:[4-9]|\d\d)`,
	`(?:whole|entire|ganze\w*|toute|inteira|toda)\b.{0,8}\b(?:strip|box|packet|packung|schachtel|blister|boite|plaquette|cartela|caixa)\b.{0,25}\b` + tablets, `(?:caja|tableta|cartela|caixa) (?:entera|inteira|toda)\b.{0,25}\b` + tablets, `(?:took|taken|swallow\w*) (?:a|the) (?:whole|entire) (?:strip|blister)\b`,
	`(?:doubl\w*|tripl\w*|verdoppel\w*|doppelte\w*|doble|dobl\w*|dobr\w*)\b.{0,25}\b(?:thyroid\w*|schilddrus\w*|tiroid\w*|` + tablets + `\w*|dose|dosis|ozempic|wegovy|pen)\b.{0,40}` + thinner,
	`(?:\d\d|[3-9]) ?(?:km|miles|hours?|h|stunden|std|horas?|heures?)\b.{0,40}\b(?:punish|strafe|bestraf|castig|puni|for yesterday)`, `(?:cake|burger|pizza|hamburg\w*|kuchen|eis|chips|gateau|pastel|tarta|bolo|hamburguesa)\b.{0,25}\b(?:so|dafur|asi que|entonces|entao|donc|alors|now|jetzt)\b.{0,20}\b(?:[2-9]|\d\d) ?(?:hours?|h|stunden|std|horas?|heures?)\b`,
	drinks + `.{0,30}\b(?:before breakfast|first thing|in the morning|at (?:6|7|8) ?am|um (?:6|7|8) uhr|fruh\w*|morgens|al despertar|por la manana|en ayunas|au reveil|le matin|des le matin|de manha|da manha|ao acordar|to get going|in gang|arrancar|demarrer)`, `vino\b.{0,30}\barrancar`, `(?:need|brauch\w*|necesito|besoin|preciso|sin|sans|sem|without|ohne)\b.{0,25}\b` + drinks + `.{0,40}\b(?:shak|trembl|zitter|tiembl|temblar|tremem|treme|tremo)`,
}, "|") + `)`)

// harmsTheBody reports whether a text tells such a thing.
func harmsTheBody(body string) bool {
	folded := strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case r == '’':
			return '\''
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(body))
	return harmsBody.MatchString(folded)
}
