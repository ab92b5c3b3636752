package screening

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"coachline/models"
)

// readWords bounds what is read of one sentence, in words; texts are at most
// 1,600 characters long.
const readWords = 300

// screenDanger says what danger a message speaks of; models.DangerNone for nearly
// all messages. Of several dangers the first of self-harm, harm by others and
// emergency is named.
//
// The rule, where a message leaves a choice: a page too many is better than one
// too few, but pages for every figure of speech are soon read by no operator.
//   - Wishes, plans, acts and means count, whatever follows ("... lol", "... if
//     I must eat another salad").
//   - What is denied does not count ("I'm not suicidal"): it is what people
//     answer to the safety text. The next sentence may count all the same.
//   - What is quoted from a film, a song or a book does not count.
//   - Figures of speech do not count ("this job is killing me"), nor does what
//     is told as long past; the coach can talk about both.
//   - Another person in danger now counts like the participant.
func screenDanger(clauses [][]string) models.Danger {
	sentences := make([][]string, len(clauses))
	texts := make([]string, len(clauses))
	for i, words := range clauses {
		sentences[i] = canon(words[:min(len(words), readWords)])
		texts[i] = strings.Join(sentences[i], " ")
	}
	for _, kind := range []models.Danger{models.DangerSelfHarm, models.DangerHarm, models.DangerEmergency} {
		for i, text := range texts {
			if spoken(text, signs[kind]) && !quoted(sentences, i) {
				return kind
			}
		}
	}
	if broken(clauses) {
		return models.DangerSelfHarm
	}
	return models.DangerNone
}

// broken: a short text is also read as one sentence ("I. Want. To. Die").
func broken(clauses [][]string) bool {
	if len(clauses) < 2 {
		return false
	}
	words := slices.Concat(clauses...)
	if len(words) > brokenWords {
		return false
	}
	whole := [][]string{canon(words)}
	return spoken(strings.Join(whole[0], " "), signs[models.DangerSelfHarm]) && !quoted(whole, 0)
}

const brokenWords = 8

func spoken(text string, known []sign) bool {
	return slices.ContainsFunc(known, func(s sign) bool { return s.in(text) })
}

// sign is wording that speaks of a danger. Where the wording denies by itself
// ("don't want to live"), what stands before it is not looked at. except is
// what makes a figure of speech of it, anywhere in the sentence.
type sign struct {
	pattern *regexp.Regexp
	except  *regexp.Regexp
	denies  bool
}

func (s sign) in(text string) bool {
	if !s.pattern.MatchString(text) || s.except != nil && s.except.MatchString(text) {
		return false
	}
	for _, at := range s.pattern.FindAllStringIndex(text, -1) {
		if s.denies || !denied(strings.Fields(text[:at[0]])) {
			return true
		}
	}
	return false
}

// denied: the words before a sign take it back.
func denied(before []string) bool {
	for i := len(before) - 1; i >= 0; i-- {
		if negations[before[i]] {
			// "No, I want to" is an answer, "no thoughts of" a denial.
			return before[i] != "no" || i == len(before)-1 || !persons[before[i+1]]
		}
		if !light[before[i]] {
			return false
		}
	}
	return false
}

var (
	negations = setOf("not never no dont didnt doesnt wont wouldnt isnt arent wasnt aint without nobody havent hasnt nunca jamas ni")
	persons   = setOf("i im ive id yo me he she they")
	// light words may stand between a negation and what it denies.
	light = setOf(`i im ive id really actually even ever that going to want wanted be been am is was feel feeling feels having have had has
		trying tried planning thinking thought of about any saying say said mean just seriously currently at all gonna do does would
		yo me que estoy quiero voy a pienso tengo he sido nada`)
)

// fiction: a sentence, or the one before it, that says whose words these are.
func quoted(sentences [][]string, i int) bool {
	near := slices.Clone(sentences[i])
	if i > 0 {
		near = append(near, sentences[i-1]...)
	}
	works := slices.ContainsFunc(near, func(word string) bool { return fiction[word] })
	return works && slices.ContainsFunc(near, func(word string) bool { return telling[word] })
}

var (
	fiction = setOf(`movie movies film films song songs lyric lyrics book novel show episode series character scene quote line poem
		podcast documentary play game pelicula cancion libro novela serie personaje poema letra`)
	telling = setOf(`says said say goes went called named titled sings sang screams screamed yells yelled where quote quoted line lyric
		lyrics scene dice dijo llama llamada canta`)
)

// canon puts a word that is often mistyped, written short or split in two into
// its usual form, and joins letters that were spelled one by one.
func canon(words []string) []string {
	words = strings.Fields(pairs.Replace(" " + strings.Join(joined(words), "  ") + " "))
	for i, word := range words {
		if strings.ContainsAny(word, "013457") && strings.ContainsFunc(word, unicode.IsLetter) {
			word = leet.Replace(word)
			words[i] = word
		}
		if plain, ok := spelling[word]; ok {
			words[i] = plain
		}
	}
	return strings.Fields(strings.Join(words, " "))
}

// joined makes one word of three or more single letters in a row.
func joined(words []string) []string {
	var out []string
	for i := 0; i < len(words); {
		end := i
		for end < len(words) && len(words[end]) == 1 {
			end++
		}
		if end-i >= 3 {
			out = append(out, strings.Join(words[i:end], ""))
			i = end
			continue
		}
		out = append(out, words[i])
		i++
	}
	return out
}
