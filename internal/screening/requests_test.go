package screening_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/screening"
	"coachline/models"
)

// Requests to end as people write them in German, French and Portuguese, and
// everyday replies with the same words.
func TestRequestsOfOtherLanguages(t *testing.T) {
	for want, bodies := range map[models.Intent][]string{
		models.IntentStop: {
			"nein kein interesse bitte streichen", "wie werde ich diese nachrichten los", "mir wäre lieber ihr schreibt mir nicht mehr",
			"hab keine zeit dafür, meldet mich ab", "wer ist das hört auf zu schreiben", "bin raus tschüss",
			"j'ai plus besoin du coaching arrêtez", "tannez-moi pus avec vos messages", "merci de supprimer mon numéro de votre système",
			"comment je sors d'ici", "STOP au 36111", "ne plus me contacter sur ce numéro", "tu peux me sortir de ce truc",
			"deixem de me chatear com mensagens", "como faço pra não receber mais isso", "cada sms me custa dinheiro então parem",
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
