package screening_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"coachline/internal/screening"
	"coachline/internal/screening/sheets"
	"coachline/models"
)

var corpora = flag.String("corpora", "../../../shared/corpora", "folder of ordinary messages of other authors")

// lengths are the classes of texts by characters: up to each, not including it.
var lengths = []int{40, 80, 160, 320, 1601}

func lengthClass(body string) int {
	n := utf8.RuneCountInString(body)
	return slices.IndexFunc(lengths, func(limit int) bool { return n < limit })
}

// readOrdinary reads ordinary messages of a language: those to read, and those that are
// only counted. There are some of other authors, and for the languages without them some
// that were written for this.
func readOrdinary(t *testing.T, language string) (toRead, toCount []string) {
	t.Helper()
	if _, err := os.Stat(*corpora); os.IsNotExist(err) {
		t.Skip("no folder of ordinary messages; -corpora names it")
	}
	for _, dir := range []string{*corpora, "testdata/ordinary"} {
		open, scored, err := sheets.ReadMessages(os.DirFS(dir), language)
		require.NoError(t, err)
		toRead, toCount = append(toRead, open...), append(toCount, scored...)
	}
	return toRead, toCount
}

// ordinaryTable counts what is found in ordinary messages, by length.
func ordinaryTable(t *testing.T, found string, isFound func(screening.Result) bool) string {
	t.Helper()
	var out strings.Builder
	fmt.Fprintf(&out, "| %s | all | under 40 | 40 to 79 | 80 to 159 | 160 to 319 | 320 to 1,600 |\n|---|---|---|---|---|---|---|\n", found)
	for _, language := range screening.Languages() {
		_, bodies := readOrdinary(t, language)
		all, classes := &share{}, make([]*share, len(lengths))
		for _, body := range bodies {
			class := lengthClass(body)
			if class < 0 {
				continue
			}
			if classes[class] == nil {
				classes[class] = &share{}
			}
			isHit := isFound(screening.Screen(screening.Message{Body: body}))
			for _, s := range []*share{all, classes[class]} {
				s.n++
				if isHit {
					s.hits++
				}
			}
		}
		fmt.Fprintf(&out, "| %s | %s |", language, cell(all))
		for _, s := range classes {
			fmt.Fprintf(&out, " %s |", cell(s))
		}
		out.WriteString("\n")
	}
	return out.String()
}

// The figures of ordinary messages are not better in docs/screening.md than what is
// measured.
func TestFiguresOfOrdinaryMessages(t *testing.T) {
	for name, isFound := range map[string]func(screening.Result) bool{
		"alerts": func(found screening.Result) bool { return found.Danger != models.DangerNone },
		"pages":  func(found screening.Result) bool { return found.Tier == models.TierA },
		"requests": func(found screening.Result) bool {
			return found.Intent == models.IntentStop || found.Intent == models.IntentWrongNumber
		},
	} {
		comparePage(t, figuresPage, "ordinary "+name, ordinaryTable(t, name+" flagged", isFound), nil)
	}
}

// TestEverydayWordsPageNobody holds everyday sentences of one who had read the rules, all of
// which paged a person once, and plain dangers in as few words.
func TestEverydayWordsPageNobody(t *testing.T) {
	for _, body := range []string{
		"das fitnessstudio lässt mich nicht raus aus dem vertrag", "preciso me esforçar mais", "é só eu me esforçar amanhã", "le tuteur de mémé est passé",
		"on parle, c'est plus sain", "elle parle plus vite que moi", "j'ai repris 1 cigarette, juste une", "vizinho faz barulho, vi ele pela janela",
		"hab es versucht aber war zu müde", "hast du das schon mal versucht?", "für den lauf neue schuhe gekauft", "nach dem lauf brötchen geholt",
		"sie bringt um 8 die kinder weg", "meine ersparnisse gehen drauf für das rad", "ich lebe noch nach dem training haha", "lebe noch, war nur im urlaub",
		"mein zweiter versuch mit dem rauchstopp", "erster versuch, 10 liegestütze, dritter versuch morgen", "strick gerade socken, fertig bis weihnachten",
		"der schal hängt fertig an der garderobe", "gürtel ist bereit ein loch enger", "kabel hängt schon an der wand, steh auf und beweg mich",
		"seil gekauft fürs seilspringen", "messer bereit zum gemüse schneiden", "mein nachbar schlägt mich immer beim tischtennis",
		"meine tochter schlägt mich beim schach", "je me suis fait des bleus au foot", "j'ai des bleus partout après l'escalade", "peur de me planter à l'examen demain",
		"ma première tentative de semi, 2h10", "deuxième tentative pour arrêter de fumer", "il me tape sur les nerfs mon chef", "les voisins parlent fort jusqu'à minuit",
		"on se parle plus avec ma soeur", "mon fils m'a battu au ping pong", "ma fille a battu son record", "j'en ai marre de lutter contre le froid",
		"j'ai caché le chocolat dans le placard", "ma mère avale ses comprimés avec du jus", "la corde à sauter est prête dans le sac",
		"foulard attaché, gants mis, je sors courir", "ceinture accrochée, un cran de moins", "tout tourne autour du boulot en ce moment",
		"j'ai pris toutes les marches à pied", "j'ai vidé toutes les poubelles", "j'ai descendu toutes les marches", "charbon pour le barbecue acheté, la tente aussi",
		"acabo todo tarde y no camino", "quiero terminar todo antes de las seis", "segundo intento con la dieta", "mi primer intento de correr 5k",
		"intenté dormir antes pero no funcionó", "probé la app y no resultó", "me sacaron una muela hoy", "última noche en la playa, mañana vuelvo",
		"mi jefe no responde los correos", "me pega el sol de frente al caminar", "el bebé me patea toda la noche, 30 semanas", "la corbata me ahorca",
		"los vecinos hablan hasta las dos", "casi mato la planta por no regarla", "se me pegaron los niños a la caminata", "oigo voces de los niños en el parque",
		"me bateu uma preguiça", "me bate uma fome de noite", "me machuquei no treino, torci o pé", "me cortei descascando batata", "apanho muito sol quando caminho",
		"já tentei de tudo pra dormir", "tentei na segunda mas choveu", "minha primeira tentativa de corrida", "minha gata me seguindo pela casa",
		"minha filha me força a andar, é ótimo", "meu chefe não responde", "tomei tudo, as 8 garrafas de água", "vou tomar toda a água hoje",
		"minha filha quebrou o braço na escola", "o personal me quebrou hoje", "quebrei um copo de vidro aqui em casa", "esqueci o isqueiro aqui, fumei não",
		"ela dorme com o travesseiro da avó", "engoli tudo correndo no almoço", "tô sem ar depois da escada", "guardei os remédios da minha mãe na caixinha",
		"o motor ligado e eu no trânsito", "my second attempt at quitting sugar", "third attempt at sourdough lol", "i almost choked my dough too long",
		"belt is ready for one hole tighter", "train tracks walk today, 5k", "fresh cuts of meat from the market", "collecting pills for mum from the pharmacy",
		"lebe noch", "ich lebe noch!", "hab es versucht", "es versucht", "zweiter versuch", "erster versuch", "mein dritter versuch", "no funcionó", "no funciono",
		"no resultó", "segundo intento", "otro intento", "último intento", "última noche", "me sacaron", "recaí", "recaí ayer", "já tentei", "tentei antes",
		"já tentei isso", "minha tentativa", "segunda tentativa", "outra tentativa", "me machuquei", "me queimei", "me cortei", "me bati", "eu levo", "tomei tudo",
		"engoli tudo", "tomei toda", "qual andar", "qual altura", "second attempt", "last attempt", "another attempt", "tout tourne", "me planter", "me balancer",
		"ma tentative", "première tentative", "deuxième tentative", "grand saut", "me couper", "aucun espoir", "gehen drauf", "me pegaron", "me quedo sin aire",
		"tentei na segunda", "infelizmente ainda", "tudo girando", "der schal ist schon 30 cm lang", "metí 30 pesos al frasco del viaje",
		"siempre acabo ordenando todo los domingos", "está chovendo canivete aqui no bairro",
		"der hund hat blut am ohr, tierarzt sagt halb so wild", "me duele el pecho de tanto reír", "minha sogra me mata se eu não for", "bati a cabeça no armário, galo na testa",
	} {
		require.NotEqual(t, models.TierA, screening.Screen(screening.Message{Body: body}).Tier, body)
	}
	for _, body := range []string{
		"ich will sterben", "mich umbringen", "ich ersticke hier gerade", "das seil liegt schon bereit, heute nacht", "er reagiert nicht mehr, er atmet kaum",
		"mein mann schlägt mich wenn er trinkt", "ich spring jetzt vom dach", "suicide", "i want to die tonight", "im going to kill myself", "rope is tied and ready",
		"cant breathe, chest hurts so bad", "je me suicide demain", "il me frappe tous les soirs", "la corde est prête dans le garage", "ma mère ne respire plus",
		"quiero morirme ya", "me voy a matar esta noche", "mi marido me pega cuando toma", "el bebé no respira", "tomé cuarenta pastillas", "quero me matar hoje",
		"vou pular da ponte agora", "meu marido me bate todo dia", "tomei todos os remédios de uma vez", "meu pai não acorda, não respira",
	} {
		require.Equal(t, models.TierA, screening.Screen(screening.Message{Body: body}).Tier, body)
	}
}
