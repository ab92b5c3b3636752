// Package recall prepares what a model is told of the past: when facts are
// looked up and how they are shown, digests of long results and notes, summaries
// of older messages, and what the last step of a turn may add to the facts.
// It is pure; texts that reach it are redacted.
package recall

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"coachline/internal/text"
	"coachline/models"
)

const (
	// maxFound is the most facts of one search.
	maxFound = 3
	// maxAnswers and minAsked bound the search for open questions.
	maxAnswers = 5
	minAsked   = 2
	// searchWords is the most words of a text in one search, the longest first,
	// mostKeywords those that a model names.
	searchWords, mostKeywords = 8, 5
)

// Search is what a search needs beside the extract. A nil Vector leaves the
// search by words.
type Search struct {
	ParticipantID string
	Query         string
	Vector        []float32
}

// longestOf returns the longest of the words, which say most, in their order.
func longestOf(words []string) []string {
	kept := slices.Clone(words)
	slices.SortStableFunc(kept, func(a, b string) int { return cmp.Compare(utf8.RuneCountInString(b), utf8.RuneCountInString(a)) })
	kept = kept[:min(len(kept), searchWords)]
	return slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !slices.Contains(kept, word) })
}

// Top asks for the facts nearest to the person's own text; it runs on every
// turn and needs no model.
func Top(s Search) models.FactQuery {
	words := Words(s.Query)
	return models.FactQuery{
		ParticipantID: s.ParticipantID, Vector: s.Vector, Words: longestOf(words),
		Limit: maxFound,
	}
}

// Deep asks for what an extract names, within its time. Without keywords
// the words of the query stand in.
func Deep(s Search, found Extract) models.FactQuery {
	query := Top(s)
	var words []string
	for _, keyword := range found.Keywords {
		for _, word := range Words(keyword) {
			words = appendNew(words, word)
		}
	}
	if len(words) > 0 {
		query.Words = words[:min(len(words), mostKeywords)]
	}
	query.From, query.To = found.From, found.To
	return query
}

// Answers asks for lasting facts that answer an extract's questions. ok
// is false when there is nothing to ask: no questions, or less than two
// content words in them. Show its hits through Lasting.
func Answers(s Search, found Extract) (query models.FactQuery, ok bool) {
	var words []string
	for _, question := range found.Questions {
		for _, word := range Words(question) {
			words = appendNew(words, word)
		}
	}
	if len(words) < minAsked {
		return models.FactQuery{}, false
	}
	return models.FactQuery{
		ParticipantID: s.ParticipantID, Words: longestOf(words), Limit: maxAnswers,
	}, true
}

// Lasting leaves the hits that are no single event.
func Lasting(found []models.FoundFact) []models.FoundFact {
	return slices.DeleteFunc(slices.Clone(found), func(hit models.FoundFact) bool { return hit.Fact.Kind == models.FactEvent })
}

// Bounds say which hits count.
type Bounds struct {
	// ParticipantID: other people's facts are dropped, from any search.
	ParticipantID string
	// Shown are ids that the request holds already.
	Shown []string
	// Most bounds the result by score; 0 is no bound.
	Most int
}

// Merge joins the hits of several searches: each fact once and in its newest
// version, none that was forgotten, newest first.
func Merge(found []models.FoundFact, b Bounds) []models.Fact {
	best := map[string]models.FoundFact{}
	for _, hit := range found {
		if !b.canShow(hit) {
			continue
		}
		known, seen := best[hit.Fact.ID]
		if seen && known.Fact.Version > hit.Fact.Version {
			hit.Fact = known.Fact
		}
		hit.Score = max(hit.Score, known.Score)
		best[hit.Fact.ID] = hit
	}
	hits := make([]models.FoundFact, 0, len(best))
	for _, hit := range best {
		hits = append(hits, hit)
	}
	slices.SortFunc(hits, func(a, b models.FoundFact) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), newestFirst(a.Fact, b.Fact))
	})
	if b.Most > 0 {
		hits = hits[:min(len(hits), b.Most)]
	}
	facts := make([]models.Fact, 0, len(hits))
	for _, hit := range hits {
		facts = append(facts, hit.Fact)
	}
	slices.SortFunc(facts, newestFirst)
	return facts
}

// canShow reports whether a hit may be shown.
func (b Bounds) canShow(hit models.FoundFact) bool {
	if hit.Fact.ParticipantID != b.ParticipantID || hit.Fact.DeletedAt != nil || plainLine(hit.Fact.Text) == "" {
		return false
	}
	return !slices.Contains(b.Shown, hit.Fact.ID) && !math.IsNaN(hit.Score)
}

// newestFirst orders by the last change; ids make it total.
func newestFirst(a, b models.Fact) int {
	return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(len(b.ID), len(a.ID)), cmp.Compare(b.ID, a.ID))
}

// minWord is the least length of a content word, in characters.
const minWord = 3

// stopWords are words that carry no topic, in the languages of the texts. Others
// have none here: more content words make the check recall, which is the safe side.
var stopWords = wordSet(`about above after again against ain all also although always among and another any anybody anyone anything anyway are aren around
	because been before being below between both but can cannot could couldn did didn does doesn doing don done down during each either else
	enough even ever every everyone everything few for from further get gets getting got had hadn has hasn have haven having her here hers
	herself him himself his how however into isn its itself just let like likely lot lots made make makes many may maybe might mightn more
	most much must mustn myself near need needs neither never nobody nor not nothing now off often once one ones only onto other others
	ought our ours ourselves out over own perhaps please quite rather really said same say says shall shan she should shouldn since some
	somebody someone something still such take than thank thanks that the their theirs them themselves then there these they thing things
	think this those though through thus too under until upon use very want wants was wasn way well were weren what whatever when where
	whether which while who whom whose why will with within without won would wouldn yes yet you your yours yourself yourselves gonna der
	die das und oder aber ich mich mir mein meine meinen meinem meiner meins dir dich dein deine deinen ihr ihre ihren ihm ihn sie wir uns
	unser unsere euch ist bin bist sind waren wird werden wurde hat habe haben hatte hatten kann kannst können konnte soll sollte muss
	musste darf wollte mag möchte mach mache machen macht gemacht wann wer wie warum wieso welche welcher welches wen wem denn doch mal noch
	nur schon auch nicht kein keine keinen nie immer wieder mit ohne für von vom zum zur bei beim aus auf ein eine einen einem einer eines
	den dem des dass wenn weil als nach vor über unter durch gegen seit bis hier dort dann jetzt heute morgen gestern etwas alles nichts
	mehr sehr ganz gar eigentlich eben halt bitte danke gibt geht ging gehen sein seine sich man sag sage nochmal hab hast hieß wollt wollen
	wollten könnt konnten alle allen jede jeden jedes oft viel viele heut grad davon raus rein gesagt que qué quien quién cuando cuándo
	donde dónde cual cuál cuales como cómo cuanto cuanta cuantos por para con sin sobre entre hasta desde los las una uno unos unas del este
	esta esto estos estas ese esa eso esos aquel aquella mis tus sus nos conmigo contigo soy eres somos fue fueron era eran ser estar estoy
	estás está están estaba hay haber tengo tiene tienes tener tuve tenía hago hace hacer hizo puedo puede poder debo debe quiero quiere voy
	vas iba pero más menos muy mucho mucha muchos poco también tampoco aún todavía siempre nunca algo alguien nada nadie todo toda todos
	todas otro otra otros porque pues bueno entonces ahora hoy ayer mañana aquí allí así vez dije dijo decir gracias favor les une aux mon
	mes ton tes ses notre votre vos leur leurs cet cette ces cela qui quoi quel quelle quels quelles dont quand comment pourquoi combien est
	suis sommes êtes sont était étais étaient être été avoir avons avez ont avait avais fait faire fais font peux peut pouvoir dois doit
	veux veut vais vont aller pas plus moins très trop peu beaucoup aussi encore toujours jamais rien personne tout tous toute toutes autre
	autres avec sans pour par sur sous dans chez vers depuis pendant avant après mais donc car parce puis alors maintenant demain ici déjà
	moi toi lui elle eux nous vous ils elles dit dire merci plaît truc chose quem quando onde qual quais quanto quantos porquê com sem até
	uma umas nas pelo pela isto esse essa isso aquele aquela meu minha meus minhas teu tua seu sua seus suas nosso nossa sou são foi foram
	eram estou estão estava tem tenho tinha ter tive faço faz fazer fez posso pode devo deve quero quer vou vai vão mas muito muita muitos
	pouco também ainda sempre alguém ninguém tudo outro outra então agora hoje ontem amanhã aqui ali assim disse dizer obrigado mim comigo
	você vocês ele ela elas coisa`)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}

// Words lists the distinct content words of a text in their order: lower-cased
// runs of letters, marks and digits of at least three characters, without a
// stop list and without pure digits. The gate and the search by
// keywords share it. A script without spaces gives one long word a phrase, so
// that the check recalls.
func Words(text string) []string {
	var out []string
	seen := map[string]bool{}
	for _, word := range wordRuns(text) {
		if utf8.RuneCountInString(word) < minWord || stopWords[word] || seen[word] || hasOnlyDigits(word) {
			continue
		}
		seen[word] = true
		out = append(out, word)
	}
	return out
}

// wordRuns returns the lower-cased runs of letters, marks and digits.
func wordRuns(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	})
}

// hasOnlyDigits reports whether a word is made of digits alone.
func hasOnlyDigits(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsDigit(r) })
}

// normalText returns the lower-cased words of a text, so that case, signs and
// spaces do not tell two texts apart.
func normalText(text string) string { return strings.Join(wordRuns(text), " ") }

// plainLine keeps a text from being more than a line: it can neither open a
// section of the system message nor pass for another entry.
func plainLine(line string) string { return strings.TrimLeft(text.OneLine(line), "# ") }

// hasPhrase reports whether the words of part follow each other in whole.
func hasPhrase(whole, part string) bool {
	return part != "" && strings.Contains(" "+whole+" ", " "+part+" ")
}

// countShared returns how many words of one list are in the other.
func countShared(words, in []string) int {
	n := 0
	for _, word := range words {
		if slices.Contains(in, word) {
			n++
		}
	}
	return n
}
