package screening_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"coachline/internal/screening"
	"coachline/models"
)

// habits are texts that rules once took for danger: pills taken as every day, words for
// "or" and "today", a bus that was caught, leaflets, what a doctor asked.
var habits = []string{
	"took all my pills",
	"took all my pills today, 7 day streak",
	"took all my meds this morning ✅",
	"me tomé las pastillas",
	"me tomé todas las pastillas hoy, racha de 7 días",
	"alle tabletten genommen",
	"alle Tabletten genommen heute, 7 Tage in Folge",
	"j'ai pris tous mes médicaments",
	"j'ai pris tous mes comprimés aujourd'hui, 7e jour",
	"tomei todos os meus remédios",
	"tomei todos os remédios hoje, 7 dias seguidos",
	"tomei os remédios",
	"meine Tabletten hab ich genommen",
	"no more suicidal thoughts since the new meds",
	"keine Gedanken mehr daran, mein Leben zu beenden",
	"ya no pienso en quitarme la vida",
	"plus d'idées d'en finir depuis des mois",
	"não penso mais em acabar com a minha vida",
	"Kaffee od Tee",
	"had to catch the bus",
	"musste den Bus erwischen",
	"tuve que alcanzar el bus",
	"j'ai dû attraper le bus",
	"tive que correr pra pegar o ônibus",
	"Side effects may include suicidal thoughts, says the leaflet",
	"the leaflet says it may cause thoughts of suicide, normal?",
	"im Beipackzettel steht, dass Suizidgedanken auftreten können",
	"el prospecto dice que puede causar pensamientos suicidas",
	"la notice dit que ça peut donner des idées suicidaires",
	"a bula diz que pode causar pensamentos suicidas",
	"my doctor asked whether I wanted to hurt myself, I said no",
	"my doctor asked if I think about killing myself and I said no",
	"meine Ärztin hat gefragt, ob ich mir etwas antun will, ich hab nein gesagt",
	"mi doctora me preguntó si quería hacerme daño y le dije que no",
	"mon médecin m'a demandé si je voulais me faire du mal, j'ai dit non",
	"minha médica perguntou se eu queria me machucar, eu disse que não",
	"I can't stop thinking about food",
	"ich kann nicht aufhören ans Essen zu denken",
	"no puedo dejar de pensar en comida",
	"je n'arrête pas de penser à la nourriture",
	"não paro de pensar em comida",
	"I jump in front of the mirror every morning",
	"ich springe jeden Morgen vor dem Spiegel",
	"salto frente al espejo cada mañana",
	"je saute devant le miroir chaque matin",
	"pulo na frente do espelho toda manhã",
	"wie hoch ist der Preis",
	"was ist mit meinen Konten",
	"hj",
	"hj não deu",
	"hj foi bom",
}

// What people do every day pages and ends nothing.
func TestHabitsAreNoDanger(t *testing.T) {
	for _, body := range habits {
		found := screening.Screen(screening.Message{Body: body})
		assert.NotEqual(t, models.TierA, found.Tier, "%s: %s", body, found.Rule)
		assert.Empty(t, found.Intent, body)
	}
}

// signs are texts of people in danger without a word for it: a date, a question that
// wants no answer, not being there, means, a farewell, not eating; and words in look-alike
// letters or without blanks.
var signs = []string{
	"sunday is the day, then it will all be over",
	"I picked a date, the 14th",
	"after friday you won't hear from me again",
	"why get up tomorrow",
	"what would even be the point of tomorrow",
	"who would notice if I was gone",
	"I won't be there at christmas",
	"no need to plan christmas with me",
	"I bought the rope today",
	"the pills are lined up on my nightstand",
	"I know where my dad keeps the gun",
	"thank you for everything, you were always kind to me. take care",
	"it was nice knowing you all, goodbye",
	"I take laxatives every day",
	"I haven't eaten in four days",
	"fifth day without eating",
	"am Sonntag ist es dann vorbei",
	"ich hab mir ein Datum ausgesucht",
	"nach Freitag hörst du nichts mehr von mir",
	"wozu morgen noch aufstehen",
	"wem würde es auffallen, wenn ich weg wäre",
	"an Weihnachten bin ich nicht mehr da",
	"ich hab heute das Seil gekauft",
	"die Tabletten liegen bereit",
	"danke für alles, du warst immer lieb zu mir. macht es gut",
	"ich nehme jeden Tag Abführmittel",
	"ich habe seit vier Tagen nichts gegessen",
	"el domingo se acaba todo",
	"ya escogí la fecha",
	"después del viernes no sabrás más de mí",
	"para qué levantarme mañana",
	"quién notaría si no estoy",
	"en navidad ya no voy a estar",
	"hoy compré la soga",
	"las pastillas están listas en la mesita",
	"gracias por todo, siempre fuiste buena conmigo. cuídense",
	"tomo laxantes todos los días",
	"llevo cuatro días sin comer",
	"dimanche ce sera fini pour moi",
	"j'ai choisi la date",
	"après vendredi tu n'auras plus de mes nouvelles",
	"à quoi bon se lever demain",
	"qui remarquerait si je n'étais plus là",
	"à Noël je ne serai plus là",
	"j'ai acheté la corde aujourd'hui",
	"les cachets sont prêts sur la table de nuit",
	"merci pour tout, tu as toujours été gentil avec moi. prenez soin de vous",
	"je prends des laxatifs tous les jours",
	"ça fait quatre jours que je n'ai rien mangé",
	"domingo tudo acaba",
	"já escolhi a data",
	"depois de sexta você não vai mais saber de mim",
	"pra que levantar amanhã",
	"quem ia notar se eu sumisse",
	"no natal eu não vou estar mais aqui",
	"comprei a corda hoje",
	"os comprimidos já estão separados na mesinha",
	"obrigada por tudo, você sempre foi boa comigo. se cuidem",
	"tomo laxante todo dia",
	"estou há quatro dias sem comer",
	"і want to kіll myself",
	"I wаnt to diе",
	"iwanttokillmyself",
	"iwanttodie",
	"ichwillsterben",
	"quieromorir",
	"jeveuxmourir",
	"queromorrer",
	"ich will nicht mehr leben",
}

// What may be a sign only is at least a weak one, which a model reads once more.
func TestSignsAreFound(t *testing.T) {
	for _, body := range signs {
		assert.NotEqual(t, models.DangerNone, screenDanger(body), body)
	}
}
