package screening_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/screening"
)

// TestSaysMinor holds what is found of texts by writers who did not see the rules; those of
// the half "count" nobody read who wrote them.
var at = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func TestSaysMinor(t *testing.T) {
	content, err := os.ReadFile("testdata/minors.tsv")
	require.NoError(t, err)
	type tally struct{ found, all int }
	counts := map[string]*tally{}
	for line := range strings.Lines(string(content)) {
		cells := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if cells[0] == "half" {
			continue
		}
		key := cells[0] + " " + cells[2]
		if counts[key] == nil {
			counts[key] = &tally{}
		}
		counts[key].all++
		isFound := screening.SaysMinor(cells[3], at)
		if isFound {
			counts[key].found++
		}
		if cells[0] == "look" && isFound != (cells[2] == "minor") {
			t.Logf("%s %s: %s", cells[1], cells[2], cells[3])
		}
	}
	for key, c := range counts {
		t.Logf("%s: %d of %d", key, c.found, c.all)
	}
	ordinary, err := filepath.Glob("testdata/ordinary/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, ordinary)
	taken := 0
	for _, path := range ordinary {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		for line := range strings.Lines(string(content)) {
			if screening.SaysMinor(line, at) {
				taken++
				t.Log("ordinary: ", line)
			}
		}
	}
	require.LessOrEqual(t, taken, 3, "of some 3,400 ordinary messages")
	require.GreaterOrEqual(t, counts["count minor"].found, 33)
	require.LessOrEqual(t, counts["count adult"].found, 0)
	require.LessOrEqual(t, counts["look adult"].found, 0)
	for body, want := range map[string]bool{
		"I'm 14": true, "ich bin 15 und in der schule": true, "j'ai 16 ans": true, "tengo 13 años": true, "tenho 17 anos": true, "hi, im only 12": true,
		"I'm 14 minutes late": false, "im 17 weeks pregnant": false, "ich bin 10 km gelaufen": false, "tengo 12 reuniones hoy": false, "my son is 14": false, "I was 15 then": false, "j'ai 17 ans de mariage": false, "tengo 15 años sin beber": false, "ich bin 12 jahre trocken": false, "i am 34": false, "I'm 85": false, "ich bin 83": false, "tenho 96 anos": false, "j'ai 81 ans": false, //nolint:misspell // French
		"met my old science teacher": false, "I'm grounded and calm today": false, "ich muss noch Hausaufgaben korrigieren": false, "": false,
	} {
		require.Equal(t, want, screening.SaysMinor(body, at), body)
	}
}

// TestMinorsAndOthers holds sentences of our own: what a person says of themselves, and
// what is said of a child, of once, of a count or of work at a school.
func TestMinorsAndOthers(t *testing.T) {
	for _, body := range []string{
		"I'm 14", "turning 15 in may", "in 8th grade", "im in 8th grade so mornings are tough", "just finished 9th grade", "in 2 years I'm 18", "2 more years till i'm 18",
		"it's my 16th birthday on saturday", "i just turned 13 btw", "i'll be seventeen in june", "fourteen here lol", "as a 15 year old can i do this", "i was born in 2012",
		"class of 2029 baby", "my mom says im too young for this", "i'm a high school junior", "starting high school next week", "not 18 yet sorry", "18 in 3 months",
		"i turn 18 next year", "15f, want to lose weight", "im in year 10", "yes did it. im thirteen is that bad", "ich bin 14", "werde im mai 15", "bin in der 8. klasse",
		"in zwei jahren werd ich 18", "ich werd erst nächstes jahr 18", "ich bin noch nicht 18", "geh noch aufs gymnasium", "bin fünfzehn, geht das trotzdem?",
		"mein 16. geburtstag ist am samstag", "ich bin 2011 geboren", "bin 16 geworden", "als 15-jährige darf ich das?", "ich besuche die neunte klasse", "bin jahrgang 2010",
		"hab am freitag geburtstag, werd 14", "tengo 14 años", "cumplo 15 en mayo", "estoy en segundo de la eso", "voy en segundo de secundaria", "en dos años cumplo 18",
		"todavía no tengo 18", "nací en 2011", "soy del 2012", "este sábado cumplo quince", "tengo catorce, ¿puedo?", "acabo de cumplir 16", "estoy en 3º de la ESO",
		"me faltan 2 años para los 18", "voy al insti todavía", "j'ai 14 ans", "j'aurai 15 ans en mai", "je suis en 4ème", "dans deux ans j'ai 18 ans",
		"j'ai pas encore 18 ans", "je suis née en 2011", "je viens d'avoir 16 ans", "je fais mes 15 ans samedi", "je suis lycéenne", "je suis au collège",
		"j'ai quinze ans c'est grave ?", "je suis en classe de seconde", "tenho 14 anos", "faço 15 em maio", "estou no 8º ano", "daqui a dois anos faço 18",
		"ainda não tenho 18", "nasci em 2012", "acabei de fazer 16", "fiz 15 ontem", "tô no nono ano", "tenho quinze anos, posso?", "sou aluna do 9º ano",
		"meu aniversário de 15 é sábado", "tô no ensino médio",
		"14yo here", "im a girl of 13", "i'm a 15yo and always tired", "my sister is 9 and i'm 13", "16yo, can i lift weights", "i am 13 yo and want abs",
		"ich bin ein mädchen, 13", "als 16-jähriger darf ich nicht ins studio", "mein bruder ist 10, ich bin 14", "bin grad 12 geworden", "schülerin 15, sitze viel",
		"fille de 13 ans, je veux courir", "je suis un garçon de 14 ans", "mon frère a 9 ans, moi j'ai 13 ans", "ado de 16 ans, je dors mal", "jsuis une meuf de 15 ans",
		"je viens d'avoir 12 ans", "soy una chica de 13", "chico de 15, quiero correr", "mi hermano tiene 9 y yo tengo 13", "soy alumna de 14 años",
		"niña de 12, me cuesta dormir", "acabo de cumplir 16", "sou uma menina de 13", "rapaz de 15, quero correr", "meu irmão tem 9 e eu tenho 13",
		"sou um adolescente de 16", "tenho só 12", "15f, want to lose weight", "hi 15f here", "hey 14m, how do i sleep more",
	} {
		require.True(t, screening.SaysMinor(body, at), body)
	}
	for _, body := range []string{
		"my son is 14", "my daughter is in 8th grade", "I ran 14", "14 days in", "since I was 15", "when I was 16", "i'm 14 days in", "im 15 min late", "im 17 lbs down",
		"when i was in 8th grade i ran track", "i teach 8th grade", "i teach year 9 and theyre wild", "my kid starts high school monday", "she just turned 13",
		"haven't run since high school", "met a friend from high school", "i'm 16 weeks along", "i'm 18", "i turned 18 in 1990", "born in 1985", "born in 85",
		"walked for 15 today", "im in meetings till 15", "room 12 in the high school gym", "went to the high school track for my walk",
		"picking my kids up from middle school", "my class of 2001 reunion", "i'm 10 in total today", "i work at the middle school", "pta meeting at the high school",
		"i go to the high school pool to swim", "mein sohn ist 14", "meine tochter ist in der 8. klasse", "bin 14 km gelaufen", "bin 15 minuten zu spät", "seit ich 15 war",
		"als ich 16 war hab ich geraucht", "ich unterrichte eine 8. klasse", "bin um 12 im büro", "werd 50 im mai", "mein sohn wird im mai 15", "die kleine wird 14",
		"unser großer ist jetzt am gymnasium", "war heut elternabend am gymnasium", "mi hijo tiene 14", "mi hija está en secundaria", "corrí 14", "tengo 14 días sin fumar",
		"desde que tenía 15", "cuando tenía 16 corría", "doy clase en 3º de la ESO", "llevé a los niños al cole", "voy al cole a recoger a la peque", "cumplo 50 en mayo",
		"tengo 15 minutos", "voy al instituto a dar clase", "mon fils a 14 ans", "ma fille est en 4ème", "j'ai marché 14 min", "depuis mes 15 ans je cours", //nolint:misspell // Spanish
		"quand j'avais 16 ans", "j'ai 14 minutes", "je suis prof au collège", "je dépose les enfants au collège", "j'ai 12 patients ce matin", "je suis au 3e étage",
		"meu filho tem 14", "minha filha está no 8º ano", "corri 14", "desde os 15 anos", "quando eu tinha 16 corria", "faço 15 minutos em casa", "tenho 14 reuniões hoje",
		"levei os meninos na escola", "dou aula no ensino médio", "faço 50 em maio", "i was 13 when it began", "at 15 i smoked", "im on day 14 and still going",
		"im 13 in and it hurts", "j'ai 17 ans de boîte", "tengo 16 años casada", "ich bin 12 jahre verheiratet",
		"my 13yo and me did the hill loop", "took the 11yo swimming instead of the gym", "her 15 year old beat me at badminton",
		"ran with my neighbour's girl of 12, she's quick", "walked a pupil aged 9 home, counted it as my walk", "the dog is 14yo, slow walks only",
		"our house is 17yo and the stairs creak", "coaching u15s tonight, boys of 14 never tire", "im with my 16yo at the doc so no walk",
		"my youngest, 10, wanted to race me", "my 12 year old says i'm too slow", "got a 17yo car, walked home again", "my twins just turned 11 today",
		"my lovely but lazy 15yo came along", "mein 15-jähriger läuft mir davon", "mit der 12-jährigen vom nachbarn schwimmen gewesen",
		"war mit meiner 9jährigen auf dem spielplatz, zählt das", "mein 14-Jähriger kocht heute, ich ruh mich aus", "ich und mein 16 jähriger sind zusammen gelaufen",
		"ich als mutter von 13-jährigen zwillingen hab selten ruhe", "der Hund ist 14 jahre alt, wir gehn langsam", "mein mädchen 12 war heute dabei",
		"mein schüler 15 hat mich überholt", "mein Sohn, der ja erst 14 ist, rennt schneller als ich", "bin mit dem 11-jährigen meiner schwester gelaufen",
		"meine großen jungs 14 und 16 haben mitgemacht", "j'ai couru avec mon fils de 12 ans, il gagne toujours", "sortie avec ma fille de 15 ans et sa copine",
		"la fille de 13 ans des voisins garde le chat, moi je marche", "mon ado de 16 ans dort encore, moi j'ai déjà marché",
		"les garçons de 10 ans du club me fatiguent", "mon chien a 14 ans, on va doucement", "j'ai une fille de 9 ans, le soir c'est court",
		"j'ai un garçon de 11 ans qui veut courir avec moi", "j'ai 12 élèves malades cette semaine", "ma fille vient d'avoir 12 ans",
		"avec ma grande fille de 17 ans, 30 min de vélo", "j'ai fêté les 10 ans de ma fille", "corrí con mi hija de 10 y me ganó",
		"la niña de 12 de mi hermana vino a nadar", "tengo una niña de 9, por la noche no puedo", "tengo un chico de 14 en casa que come por tres",
		"mis alumnos de 13 me agotan", "mi alumna de 16 me enseñó a estirar", "mi perro tiene 14 años y vamos despacio", "con mi niña pequeña de 8 hicimos yoga",
		"mi hija cumple 12 hoy, hubo pastel", "los chicos de 15 del equipo corren mucho", "nuestra chica de 17 ya sale sola, yo camino",
		"corri com meu filho de 8 e ele ganhou", "tenho uma menina de 9, à noite não dá", "tenho um rapaz de 16 em casa que come tudo",
		"minha aluna de 12 me ensinou a dançar", "os meninos de 11 da escolinha cansam a gente", "o cachorro tem 14 anos, passeio curto",
		"a menina de 13 da vizinha veio nadar", "meu adolescente de 17 só dorme, eu já andei", "meu caçula faz 12 amanhã",
		"tenho em casa uma garota linda de 15, briguenta", "a minha menina mais nova, de 10, foi comigo", "swam 15m underwater today", "ran 12m and stopped",
		"13f outside, stayed in", "my baby is 12m old and heavy", "the pool is 17m long",
	} {
		require.False(t, screening.SaysMinor(body, at), body)
	}
	later := at.AddDate(4, 0, 0)
	for _, body := range []string{"born in 2011", "jahrgang 2011", "naci en 2011", "class of 2029"} {
		require.True(t, screening.SaysMinor(body, at), body)
		require.False(t, screening.SaysMinor(body, later), body)
	}
}
