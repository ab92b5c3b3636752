package screening_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/internal/screening"
	"coachline/models"
)

// Requests to end as people write them in German, French and Portuguese, and
// everyday replies with the same words.
func TestRequestsOfOtherLanguages(t *testing.T) {
	for want, bodies := range map[models.Intent][]string{
		models.IntentStop: {
			"nein kein interesse bitte streichen", "mir wäre lieber ihr schreibt mir nicht mehr",
			"hab keine zeit dafür, meldet mich ab", "bin raus tschüss",
			"j'ai plus besoin du coaching arrêtez", "tannez-moi pus avec vos messages", "merci de supprimer mon numéro de votre système",
			"STOP au 36111", "ne plus me contacter sur ce numéro", "tu peux me sortir de ce truc",
			"deixem de me chatear com mensagens", "cada sms me custa dinheiro então parem",
			"não entrem mais em contato nesse número", "tenho advogado e revogo qualquer consentimento", "chega dessas mensagens",
		},
		models.IntentUnclear: {
			"weiß nicht ob das programm was für mich ist", "vielleicht sollte ich aufhören mit dem programm", "das gibt mir nichts",
			"je pense à me désinscrire", "le programme me saoule un peu", "je ne suis plus sûre de vouloir continuer",
			"isso não tá me ajudando", "esse programa tá me irritando", "e se eu largar acontece o quê",
		},
		models.IntentWrongNumber: {
			"sie verwechseln mich", "ich glaub das war nicht für mich gedacht", "das ist nicht mehr die nummer von anna",
			"je crois que ce message n'était pas pour moi", "vous me confondez", "erreur de destinataire",
			"esse número não é mais da ana", "acho que essa mensagem não era pra mim", "tenho esse número desde ontem",
		},
		models.IntentNone: {
			"jetzt nicht", "vielleicht später", "mir egal", "bin beschäftigt", "der regen hört auf ich geh raus", "bin raus aus dem haus und laufe los",
			"hab den newsletter vom laden abbestellt", "ich hab aufgehört mit zucker", "tschüss bis morgen",
			"pas maintenant", "peu importe", "pas le temps là", "la pluie s'arrête je sors", "envoie-moi plus de rappels", "j'arrête de fumer",
			"je sors du bureau et je cours", "au revoir à demain",
			"agora não", "tanto faz", "chega por hoje", "não sei o que cozinhar", "a chuva parou vou sair", "parei de fumar", "tchau até amanhã",
		},
	} {
		for _, body := range bodies {
			found := screening.Screen(screening.Message{Body: body})
			require.Equal(t, want, found.Intent, body)
		}
	}
}

// A statement is found wherever the language lets its words stand, and a denial
// between them is not skipped.
func TestStatementsOfOtherLanguages(t *testing.T) {
	for _, body := range []string{
		"ich will am wochenende sterben", "ich bin bereit zu sterben", "ich hoffe dass ich morgen tot bin", "i bring mi um",
		"warum sollte ich mich nicht umbringen", "er hat gesagt er sticht mich ab", "bin im unterzucker und ich kann kaum tippen",
		"donne-moi une raison de ne pas me suicider", "demain je serai mort", "j'veux pus vivre", "mon daron me met des patates",
		"il s'est écroulé et bouge plus", "j'ai plus la force de rester en vie",
		"amanhã minha vida acaba", "num guento mais viver", "minha véia me desce a porrada", "se eu não acordasse amanhã seria um alívio",
		"meu pai diz que sem ele a gente fica melhor", "hipoglicemia tá escurecendo a vista",
	} {
		require.NotEqual(t, models.DangerNone, screening.Screen(screening.Message{Body: body}).Danger, body)
	}
	for _, body := range []string{
		"ich will nicht sterben", "medis genommen", "meine füße bringen mich um", "hat nicht geklappt sorry", "habe 7 kms geschafft",
		"mon dos me tue", "depuis 2019 plus de scarifications", "ma voiture va crever",
		"o treinador vai me matar kkk", "meu joelho me mata", "nada de falta de ar tudo bem", "remédio tomado às 8",
	} {
		require.Equal(t, models.DangerNone, screening.Screen(screening.Message{Body: body}).Danger, body)
	}
}

// Requests that name what shall end in any of several forms, behind a lead-in
// and before a trailer, polite and rude, and misspelled.
func TestRequestsInAnyWording(t *testing.T) {
	requireIntents(t, map[models.Intent][]string{
		models.IntentStop: {
			"cease", "sotp texting me", "end program", "kill these texts", "enough messages already", "would you mind not texting me anymore",
			"no more reminders please im done", "scrub my number from your database", "i hereby request removal from your contact list",
			"this is harassment stop now", "i didn't agree to this please stop", "if you text me one more time im calling a lawyer",
			"that's enough, stop it", "bye stop", "deactivate me", "pls rmv me",
			"ich kündige", "genug nachrichten", "vergesst meine nummer", "stellt die nachrichten ab", "ich wünsche keine weitere kontaktaufnahme",
			"meldet mich heute ab", "ich breche das programm ab", "verpiss dich", "kein interesse stopp",
			"no doy mi consentimiento", "no quiero mas recordatorios", "desactiven los mensajes", "fin de los mensajes", "voy a bloquearlos",
			"cancele mi participación", "paren hoy mismo", "no me enviéis más mensajes", "ya no me escriban gracias",
			"stop aux messages", "cessez tout envoi", "lachez moi la grappe", "je porte plainte si vous continuez", "bloquez mon numéro", "je m'oppose à tout envoi", "vous n'avez pas mon accord pour m'écrire", "j'ai déjà dit stop",
			"não dei permissão parem", "esqueçam meu número", "desativa as mensagens", "gostaria de solicitar o cancelamento",
			"favor remover meu número", "nunca mais me escreva", "tô fora do programa", "não tenho interesse, obrigado, pare",
		},
		models.IntentUnclear: {
			"who is this", "who is this?", "who dis", "wer ist das", "wer ist da?", "quién es", "quien es?", "c'est qui", "c'est qui ?", "quem é", "quem é?",
			"should i unsubscribe", "soll ich mich abmelden", "die nachrichten nerven", "quizás debería dejar el programa",
			"vos messages m'énervent", "essas mensagens são chatas",
		},
		models.IntentWrongNumber: {
			"this isn't maria", "im not john", "who are you trying to reach", "david no longer has this phone", "i inherited this number",
			"ich bin nicht anna", "sie hat die nummer gewechselt", "hier ist eine arztpraxis", "se equivocan de persona", "con quién quiere hablar",
			"je ne suis pas marie", "elle a changé de numéro", "c'est pas le bon numéro", "não sou a maria", "ela mudou de número", "quer falar com quem",
		},
		models.IntentNone: {
			"who are you", "who are you?", "wer bist du", "quién eres", "qui es-tu", "quem é você",
			"stop at the store", "can we stop the morning ones and do evenings", "i want to stop smoking", "quit sugar", "end my day with a walk",
			"cancel my gym plan", "remove dairy", "delete the 7 am one", "pause for a week", "take me off caffeine haha", "help me stop",
			"sorry wrong number it was 7000 steps", "i was about to unsubscribe but this helps", "maybe i should stop eating bread",
			"nimm den mittwoch raus", "ich will mit zucker aufhören", "nicht geschafft", "ich kenne keine gute übung", "handy aus um 9",
			"no soy muy constante", "tengo número nuevo, es 555 0100", "apago el celular a las 9", "cambié de celular",
			"n'arrêtez pas de m'écrire", "je connais pas de bonne recette", "pas faim", "retire la course du plan", "je sors",
			"sem parar", "número errado eram 7000 passos", "não conheço nenhuma receita boa", "quero largar o cigarro",
		},
	})
}

// Words that may ask to end the messages, or to end a life, opt no person out: the
// safety text answers.
func TestDangerIsNoRequest(t *testing.T) {
	for _, body := range []string{
		"someone please shoot me and end this", "kill me and end this please", "i want it to stop", "take me out of this life",
		"delete me from this world", "I want out", "just end it all", "je veux que ça s'arrête", "leave me alone i want to die",
		"unsubscribe me from existence", "please get me out of this existence", "delete me from existence", "opting out of life",
		"me quiero dar de baja de la vida", "vom leben abmelden", "meld mich vom leben ab", "je veux me désabonner de la vie", "my grandpa hurts me and i don't want it",
	} {
		found := screening.Screen(screening.Message{Body: body})
		require.NotEqual(t, models.DangerNone, found.Danger, body)
		require.Equal(t, models.IntentNone, found.Intent, body)
	}
	require.Empty(t, screening.Screen(screening.Message{Body: "merci de me supprimer de votre liste"}).Danger, "a plain request")
}

// Words that may ask to end the messages or a pain, and that are all of a text, are
// asked about in each language; with a word of what shall end they are clear.
func TestAmbiguousRequestsAreAsked(t *testing.T) {
	requireIntents(t, map[models.Intent][]string{
		models.IntentUnclear: {
			"make it stop", "make it stop please", "please make it stop", "please end it", "end it", "just make this stop",
			"i want out of this", "want out of it", "end this for me", "let it stop", "i want this to stop", "i want out of here", "let me out",
			"que pare ya", "que pare", "haz que pare", "quiero que pare", "quiero que esto pare", "por favor que pare", "que esto termine ya",
			"quiero salir de esto", "quiero salirme de aquí", "ya quiero salir de esto", "acaba con esto", "déjenme salir",
			"ich will raus", "ich will hier raus", "ich will da raus", "will nur noch raus", "es soll aufhören", "das soll bitte aufhören", "mach dass es aufhört",
			"beende es", "mach dem bitte ein ende", "lasst mich raus",
			"je veux sortir de ça", "je veux sortir de là", "je veux juste en sortir", "faites que ça s'arrête", "fais que ça cesse", "mettez fin à ça", "laissez-moi sortir",
			"quero sair dessa", "quero sair disso", "só quero sair daqui", "quero que pare", "quero que isso pare", "faz isso parar", "que pare logo",
			"acaba com isso", "me deixa sair",
		},
		models.IntentStop: {
			"make these texts stop", "please end the messages", "i want out of this program", "it was nice but please end it, no more texts",
			"que paren ya los mensajes", "quiero salir de este programa", "haz que paren los sms", "quiero salir", "sáquenme de aquí",
			"ich will raus aus dem programm", "die nachrichten sollen aufhören", "nehmt mich da raus", "raus",
			"je veux sortir de ce programme", "faites que les sms s'arrêtent", "je veux sortir", "arrêtez ça",
			"quero sair desse programa", "quero que parem as mensagens", "quero sair", "me tirem daqui",
		},
	})
}

// A score ends and pauses nothing, whether what it would find is a request or not.
func TestScoresEndNothing(t *testing.T) {
	requireIntents(t, map[models.Intent][]string{
		models.IntentNone: {
			"ese señor ya tiene otro teléfono, este me lo vendieron a mí",
			"please stop texting me about running", "why did you stop texting me?", "don't stop", "bus stop", "no pares",
			"please drop my spot there is no point in me being alive",
		},
		models.IntentUnclear: {"acabou, nem dica nem lembrete nem nada", "no cuenten conmigo", "mettez mon numéro sur liste rouge"},
	})
	for carrier, want := range map[string]models.Intent{"": models.IntentUnclear, "STOP": models.IntentStop} {
		found := screening.Screen(screening.Message{Body: "stop texting me, i want to die", OptOutType: carrier})
		require.Equal(t, want, found.Intent)
		require.Equal(t, models.TierA, found.Tier)
	}
}

// The form of a request, a verb of ending near what it ends, ends where the score of the
// text is that of a request; beside a doubt, another object or a report that nothing
// arrives it does not.
func TestFormsOfRequestsEnd(t *testing.T) {
	requireIntents(t, map[models.Intent][]string{
		models.IntentStop: {
			"ok please remove me from whatever this is", "hey, could you drop my number from this thing? cheers", "i've asked nicely twice now, no more of these",
			"konto schließen bitte und meine nummer raus", "bitte meine nummer streichen", "könnt ihr mal aufhören mir ständig was zu schicken",
			"no quiero que sigan mandando mensajes", "les agradecería que dejaran de mandarme mensajes",
			"merci de me supprimer de votre liste", "je ne souhaite plus rien recevoir", "plus jamais à ce numéro", "je souhaite être retirée svp",
			"hört auf mit den nachrichten", "ich möchte gelöscht werden", "i wish to be removed", "who is this stop texting me", "ya les dije que no quiero nada",
			"remova", "quero ser excluída", "supprimez", "eliminen",
			"moça faz o favor de não ficar mandando mais essas mensagens pra mim", "gostaria de me desligar do programa",
		},
		models.IntentUnclear: {
			"ich will mich nicht abmelden", "não sei mais se quero participar", "don't stop these messages", "ich möchte nicht gelöscht werden",
			"is there a way to unsubscribe later on", "est-ce qu'on peut se désabonner plus tard", "tem como cancelar depois", "hay forma de darme de baja luego",
			"cancela isso, queria dizer 7 e não 1", "nimm bitte das Bügeln von der Liste, ich lese lieber", "quita la plancha de mi lista, prefiero leer", "j'ai demandé qu'on m'enlève un plâtre", "keine rezepte mehr bitte",
			"ya estuvo bueno",
			"não recebi mais mensagens desde ontem",
		},
		models.IntentNone: {
			"je ne reçois plus vos messages depuis lundi", "i dont get messages on my new phone anymore",
			"i want to stop", "je veux arrêter", "quero parar", "what is this stop near my house", "ya dije que no quiero más pan",
			"i want to be removed from the waiting list at the gym", "hört auf euch Sorgen zu machen", "je sors de la douche",
			"no dejen de mandar coach", "não parem de me escrever",
		},
	})
}

func requireIntents(t *testing.T, wanted map[models.Intent][]string) {
	t.Helper()
	for want, bodies := range wanted {
		for _, body := range bodies {
			assert.Equal(t, want, screening.Screen(screening.Message{Body: body}).Intent, body)
		}
	}
}

// What asks to see messages or a list has the words of requests to end: the score
// alone took it for one.
func TestRequestsToSeeSomething(t *testing.T) {
	requireIntents(t, map[models.Intent][]string{
		models.IntentNone: {
			"list my schedules please", "list my reminders please", "please list my messages", "can you list my reminders?", "List all of my texts", "show me a list of my reminders please",
			"liste meine Nachrichten bitte auf", "bitte alle meine Erinnerungen auflisten", "zeig mir bitte meine Nachrichten", "liste meine zeitpläne bitte auf",
			"lista mis mensajes por favor", "lista mis horarios por favor", "muéstrame mi lista de recordatorios por favor", "por favor lista todos mis recordatorios",
			"liste mes messages stp", "liste mes horaires s'il vous plaît", "montre-moi la liste de mes rappels svp", "tu peux lister mes messages",
			"lista minhas mensagens por favor", "liste meus horários por favor", "me mostra a lista dos meus lembretes por favor", "por favor mostre minhas mensagens",
		},
		models.IntentStop: {
			"take me off your list please", "list my reminders please, then stop texting me", "show me how to stop my messages please", "no more reminders please", "please unlist my number",
			"streich mich bitte von der Liste", "liste meine nachrichten auf und schreib mir nicht mehr", "zeig mir wie ich meine nachrichten abbestelle",
			"quítenme de la lista por favor", "lista mis mensajes y luego deja de escribirme", "retirez-moi de la liste svp", "liste mes messages et arrête de m'écrire",
			"me tirem da lista por favor", "lista minhas mensagens e para de me mandar mensagem",
		},
	})
}

// TestRequestsInOtherRegisters has requests of curt, formal and angry people, and
// everyday replies with their words.
func TestRequestsInOtherRegisters(t *testing.T) {
	for want, bodies := range map[models.Intent][]string{
		models.IntentStop: {
			"i want to quit getting these", "cancel everything", "i cancel", "terminate", "stop spamming", "ugh stop", "stop already omg",
			"thank you for your help but i would like to stop now", "i cant afford these texts stop", "these texts cost me money please stop",
			"i will report you if you dont stop", "don't bother texting me again", "dont hit me up no more", "dropping out, thanks anyway",
			"not gonna do this program anymore", "i need this cancelled", "no need to keep texting", "dont send me nothing else",
			"blocking you", "silence these for good", "never text here again", "do not call or text",
			"cancela todo", "no sigo más", "no rompan más", "stoppt das", "hab mich umentschieden, ich mach nicht mit", "i'm out",
		},
		models.IntentUnclear: {
			"how do i cancel this", "i quit this thing", "changed my mind, not doing this", "ich beende das hier",
			"no voy a seguir", "decidí no continuar", "ya tuve suficiente", "abandono",
		},
		models.IntentNone: {
			"remove the 7am reminder please", "lösche die erinnerung um 7", "quita el recordatorio de las 7", "enlève le rappel de 7h", "tira o lembrete das 7",
			"wer liest das eigentlich mit", "quién lee estos mensajes", "qui lit ces messages", "quem lê essas mensagens",
			"quit sugar this week", "cancelled my gym session", "stopped by the store",
		},
	} {
		for _, body := range bodies {
			require.Equal(t, want, screening.Screen(screening.Message{Body: body}).Intent, body)
		}
	}
}

// TestEverydayAlarmingWords has replies with words of danger that speak of sport,
// of play, of the kitchen and of tiredness.
func TestEverydayAlarmingWords(t *testing.T) {
	for _, body := range []string{
		"dor no pescoço do escritório", "exercício pra dor no pescoço", "fui no pronto socorro com o pequeno, só um galo", "sem tempo pra morrer kkk",
		"que dia, quero sumir pra praia", "hab die tabletten vergessen, nehme sie jetzt nach",
		"das letzte level hat mich umgebracht", "gerade noch so den bus erwischt", "seil im keller gefunden, jetzt wird gesprungen",
		"ich lebe noch haha, war nur viel los", "voy a matar ese pastel", "el último nivel me mató", "quiero desaparecer a la playa",
		"mi hijo me pegó con la pelota en la cabeza", "failli mourir dans la côte mdr",
		"envie de disparaître à la plage",
	} {
		requireNoRule(t, body, screening.Screen(screening.Message{Body: body}))
	}
	// The same words of a person in danger.
	for _, body := range []string{
		"o nó já está pronto", "corda no pescoço", "quero morrer", "quero sumir desse mundo", "tabletten liegen hier, ich nehme sie jetzt",
		"ich lebe leider noch", "leider lebe noch", "mi novio me pegó en la cabeza", "he hit me in the head again", "j'ai failli me tuer",
		"das seil ist im keller versteckt", "hoffentlich erwischt mich der bus",
	} {
		require.NotEmpty(t, screening.Screen(screening.Message{Body: body}).Danger, body)
	}
}

// Requests behind a reason, of people who asked before, and in the name of a study,
// and everyday replies with their words.
func TestRequestsBehindReasons(t *testing.T) {
	requireIntents(t, map[models.Intent][]string{
		models.IntentStop: {
			"this was my grandmothers number she passed please stop", "wrong number please remove", "too many texts please stop",
			"who gave you my number, delete it", "i don't know what this is please stop", "i already texted stop twice",
			"i opted out last week and you're still texting", "for personal reasons i need to withdraw",
			"sorry, i have to withdraw from this study", "i'm leaving the study", "please mark me as withdrawn", "please confirm that i have been removed",
			"i object to being contacted", "i refuse any more texts", "i'm taking back my consent", "may i be removed from this program",
			"can yall stop", "stop fucking texting me", "please take my mom off this list, she has dementia", "it's not you it's me, but please stop texting lol",
			"despertaron a mi bebé, paren", "quién les dio mi número, bórrenlo", "no es no, dejen de escribir", "pedí la baja la semana pasada y siguen llegando",
			"por qué me siguen escribiendo si pedí la baja", "no deseo seguir participando", "comparto el teléfono, no me manden cosas de salud",
			"otro mensaje y los reporto", "mi médico me dijo que deje este programa", "me gustaría que me borraran", "respeten mi baja",
			"cesen y desistan", "por última vez, paren", "ya les dije que paren", "tengan la amabilidad de no escribirme", "desisto",
		},
		models.IntentNone: {
			"leaving the gym now", "leaving the study room now", "my son wants to drop out of soccer", "i need to withdraw cash then walk home",
			"confirm i was removed from the 7am slot?", "refused the second donut", "get off my phone by 10 is my goal", "how do i stop cravings",
			"mis hijos no paran", "no más galletas en casa", "pedí la baja médica dos días", "no escribas tan temprano", "quita el recordatorio de la comida",
		},
	})
}

// Idiom of sport, kitchen, tiredness and pleasure that rules took for an alert, and
// the same words of a person in danger.
func TestEverydayIdiom(t *testing.T) {
	for _, body := range []string{
		"der innere schweinehund war stärker", "ab morgen ist Schluss mit Chips", "heute ist schluss mit süßigkeiten", "lebe noch, nur stress",
		"mein mann schlägt immer die schlummertaste", "boxsack verprügelt, tat gut", "möchte verschwinden ans meer", "Krampf im Fuß, dann gedehnt",
		"Messer und Brett raus, Salat gibts", "Sachen verschenkt beim Ausmisten", "couldn't breathe from laughing", "i have to drop my kid off",
		"sin aire después de las escaleras pero feliz", "prefiero morir que hacer burpees jaja", "quiero desaparecer en un buen libro",
		"último dia da semana, consegui", "overdose de chocolat hier", "je suis au bout du rouleau après les burpees mdr",
		"pris toutes mes photos", "je ne peux pas vivre sans café", "adieu le pain", "pas de sens de sortir sous la pluie",
		"overdose de chocolate ontem", "sem ar de tanto rir", "sem ar no pneu", "me despedi do refri", "apanhei do abdominal",
		"subi no telhado limpar a calha", "meu treinador quer me matar kkk",
		"bonjour ma puce", "ma mère morte en mars me manque", "le gâteau va brûler", "mon petit frère m'a battu au bras de fer",
		"habe mir den Knöchel verstaucht", "neues Handy mit schnellem Chip", "se me olvidó el inhalador en casa", "ya me puse la inyección",
		"ich opfere meine Mittagspause fürs Training", "die Tür hat der Wind zugeschlagen", "der Türsteher hat mich durchgelassen", "heute drei Kugeln Eis gegessen",
		"das Baby lallt schon süß", "meine Katze läuft Amok", "fixed the exhaust pipe today", "j'ai mis un pull à manches longues", "couru jusqu'au pont ce matin",
		"le ciel est tout gris aujourd'hui", "quelle hauteur pour mon bureau debout", "a que altura ponho a cadeira", "vou sacrificar o doce essa semana",
		"vesti camisa de manga comprida hoje", "quase matei a planta de tanta água", "me acharam mais magro", "mi hija se cortó sola el flequillo",
	} {
		requireNoRule(t, body, screening.Screen(screening.Message{Body: body}))
	}
	for _, body := range []string{
		"morgen ist schluss mit allem", "mein mann schlägt mich immer", "möchte einfach verschwinden", "sachen verschenkt, machs gut",
		"i can't breathe", "sin aire me ahogo", "prefiero morir", "quiero desaparecer", "overdose hier soir", "je suis au bout du rouleau",
		"adieu tout le monde", "overdose ontem", "sem ar, me ajuda", "apanhei do meu marido", "subi no telhado", "quer me matar", "take me out of this life",
		"tengo presión muy fuerte en el pecho", "je veux que ça s'arrête",
		"mein Freund hat wieder zugeschlagen", "he is seizing and wont stop", "papa est tout gris il respire mal", "je suis allé jusqu'au pont hier",
		"ils m'ont mis une puce dans la tête", "ma mère morte me parle la nuit", "papa m'a battu hier, j'ai 13 ans", "tenho um chip na cabeça",
	} {
		assert.NotEmpty(t, screening.Screen(screening.Message{Body: body}).Danger, body)
	}
}

// Requests that are negated or asked about, and words that only sound like one: what
// they were taken for before, and what for now.
func TestDoubtedRequests(t *testing.T) {
	const stop, none, unclear = models.IntentStop, models.IntentNone, models.IntentUnclear
	for _, row := range []struct {
		body        string
		before, now models.Intent
	}{
		{"I don't want to unsubscribe", stop, unclear},
		{"stop sending me recipes", stop, none},
		{"stop calling me Bob", stop, none},
		{"hör auf mir rezepte zu schicken", stop, none},
		{"deja de mandarme recetas", stop, none},
		{"arrête de m'envoyer des recettes", stop, none},
		{"para de me mandar receita", stop, none},
		{"sonntags bitte keine nachrichten", stop, none},
		{"bitte nicht abmelden", stop, unclear},
		{"das fitnessstudio lässt mich nicht raus aus dem vertrag", stop, unclear},
		{"ich hör jetzt auf zu snacken", stop, unclear},
		{"hört auf zu nerven", stop, stop},
		{"hoy no me escribas", stop, none},
		{"schreib mir bitte nicht um 9", stop, none},
		{"sábado eu não quero mensagem", stop, none},
		{"he puesto una vela para escribir", stop, none},
		{"penso em encerrar o programa, já ando sozinha bem", stop, unclear},
		{"desde hoy no quiero mensajes", stop, stop},
		{"no more texts from today", none, stop},
		{"para de escribirme", stop, stop},
		{"no quiero darme de baja", stop, unclear},
		{"je ne veux pas me désabonner", stop, unclear},
		{"how do I unsubscribe", stop, unclear},
		{"what happens if I unsubscribe?", stop, unclear},
		{"can you delete my data", stop, models.IntentErasure},
		{"renuncié al trabajo", stop, none},
		{"Ich kann nicht mehr", stop, unclear},
		{"ich will nicht mehr", stop, unclear},
		{"ich will mit allem aufhören", stop, unclear},
		{"C'est fini", stop, unclear},
		{"quiero terminar con todo", stop, unclear},
		{"ya no quiero seguir con esto", stop, unclear},
		// Plain requests.
		{"can you please stop texting me?", stop, stop},
		{"¿pueden dejar de escribirme?", stop, stop},
		{"I don't want these messages, unsubscribe me", stop, stop},
		{"not interested. remove my number", stop, stop},
	} {
		assert.Equal(t, row.now, screening.Screen(screening.Message{Body: row.body}).Intent, "%s, before %q", row.body, row.before)
	}
}
