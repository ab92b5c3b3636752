package advice_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/advice"
	"coachline/internal/advice/pairs"
	"coachline/internal/screening"
	"coachline/internal/screening/sheets"
)

// TestAsksWhatItIs measures on the half of the questions that nobody read who wrote rules,
// and on everyday messages that are not trained on.
func TestAsksWhatItIs(t *testing.T) {
	rows, err := pairs.ReadAsks("testdata")
	require.NoError(t, err)
	found, n := map[string]float64{}, map[string]float64{}
	for _, row := range rows {
		if row.IsOpen() {
			continue
		}
		n[row.Label]++
		if advice.AsksWhatItIs(row.Person) {
			found[row.Label]++
		}
	}
	for _, language := range screening.Languages() {
		_, scored, err := sheets.ReadMessages(os.DirFS("../screening/testdata/ordinary"), language)
		require.NoError(t, err)
		for _, body := range scored {
			n["message"]++
			if advice.AsksWhatItIs(body) {
				found["message"]++
			}
		}
	}
	for _, body := range []string{"are you there?", "Hello, are you still there", "bist du da?", "tu es là ?", "¿estás ahí?", "oi, você está aí?"} {
		require.False(t, advice.AsksWhatItIs(body), body)
	}
	for _, body := range []string{
		"are you there? or is this a bot", "walked 20 min. who answers here, a program or people?", "bot?", "prove to me that no algorithm writes this",
		"bin müde. sag ehrlich, schreibt mir da eine ki?", "mensch oder blech?", "hallo??? mensch???", "kommt das von dir oder ist das software",
		"confiesa, ¿me contesta un robot?", "¿persona o máquina?", "avoue, c'est chatgpt qui me répond", "personne ou programme ?",
		"diz a verdade, quem responde aqui é um robô?", "é pessoa ou é programa", "vc é de carne e osso?",
	} {
		require.True(t, advice.AsksWhatItIs(body), body)
	}
	for _, body := range []string{"the thermomix is a robot but i cut by hand", "my boss is a machine", "bot a new bike", "hab einen roboter der staubsaugt", "mon ordi a planté", "o computador da firma parou"} {
		require.False(t, advice.AsksWhatItIs(body), body)
	}
	t.Logf("found %v of %v", found, n)
	require.GreaterOrEqual(t, found["asks"]/n["asks"], 0.88)
	require.LessOrEqual(t, found["other"]/n["other"], 0.05)
	require.LessOrEqual(t, found["message"]/n["message"], 0.002)
}
