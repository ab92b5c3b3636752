package screening

import (
	"slices"
	"strings"

	"coachline/internal/text"
)

// play are words of texts, of games and of what people watch, in all languages: what a
// rule finds beside one may be another's words, so that a model reads it once more.
//
//nolint:misspell // other languages
var play = text.WordSet(`movie movies film films filme novel song songs lyrics lyric chorus poem book books podcast episode season series tv netflix
	game games gaming level minecraft fortnite match team character quote quoted headline article
	kino roman lied lieder songtext refrain gedicht buch bucher folge staffel serie serien krimi tatort spiel spiele zocken figur zitat zitiere schlagzeile artikel theater
	pelicula peliculas novela cancion canciones letra estribillo poema libro libros capitulo temporada serie juego juegos partida partido personaje cita titular articulo obra
	roman chanson chansons paroles refrain poeme livre livres episode saison serie jeu jeux partie niveau personnage citation titre article piece
	filme filmes romance musica musicas letra refrao poema livro livros capitulo temporada serie novela jogos fase personagem citacao manchete artigo peca`) //nolint:misspell // other languages

// isPlay reports whether a text has such a word, or a passage in quotation marks.
func isPlay(body string) bool {
	if slices.ContainsFunc(splitWords(body), func(word string) bool { return play[word] }) {
		return true
	}
	return strings.Count(body, `"`) > 1 || strings.ContainsAny(body, "“”„«»")
}
