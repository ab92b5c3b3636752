package main

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"coachline/internal/screening"
	"coachline/internal/screening/sheets"
)

// maxWordings is how many texts are made of one line with braces.
const maxWordings = 8

// expandLine gives wordings of a line: braces hold alternatives with bars between
// them, "{i|we} walked", of which each wording takes one. Which wordings are
// taken depends on the line alone.
func expandLine(line string) []string {
	if !strings.Contains(line, "{") {
		return []string{line}
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(line))
	random := rand.New(rand.NewPCG(seed, hash.Sum64()))
	var wordings []string
	for range 3 * maxWordings {
		wording := strings.Join(strings.Fields(chooseWording(line, random)), " ")
		wording = strings.ReplaceAll(wording, " ,", ",")
		if !slices.Contains(wordings, wording) {
			wordings = append(wordings, wording)
		}
		if len(wordings) == maxWordings {
			break
		}
	}
	return wordings
}

// chooseWording puts one alternative in the place of each pair of braces, the innermost
// first.
func chooseWording(line string, random *rand.Rand) string {
	for {
		from := strings.LastIndex(line, "{")
		if from < 0 {
			return line
		}
		length := strings.Index(line[from:], "}")
		if length < 0 {
			return line
		}
		alternatives := strings.Split(line[from+1:from+length], "|")
		line = line[:from] + alternatives[random.IntN(len(alternatives))] + line[from+length+1:]
	}
}

// addVariants gives each sample its own features and those of texts derived
// from it: with typing errors, and with other sentences around it.
func addVariants(samples []sample) {
	random := rand.New(rand.NewPCG(seed, 1))
	everyday := map[string][]string{}
	for _, s := range samples {
		if s.Sheet == sheets.Ordinary && !s.isForRequests && len(strings.Fields(s.Body)) > 2 {
			everyday[s.Language] = append(everyday[s.Language], s.Body)
		}
	}
	for i := range samples {
		s := &samples[i]
		for _, body := range deriveVariants(s, everyday[s.Language], random) {
			s.variants = append(s.variants, screening.ReadFeatures(body))
		}
	}
}

// deriveVariants gives a text and what is made of it. Statements of danger get more
// variants, because any of them must be found.
func deriveVariants(s *sample, around []string, random *rand.Rand) []string {
	before, after := around[random.IntN(len(around))], around[random.IntN(len(around))]
	bodies := []string{s.Body, garbleText(s.Body, random), before + " " + s.Body}
	switch {
	case s.isAlert:
		bodies = append(bodies, s.Body+" "+after, before+" "+s.Body+". "+after, mistypeWords(s.Body, random), mistypeWords(mistypeWords(s.Body, random), random))
	case s.isRequest:
		bodies = append(bodies, s.Body+" "+after, mistypeWords(s.Body, random))
	case s.Sheet == sheets.Negative:
		bodies = append(bodies, s.Body+" "+after)
	}
	return bodies
}

// garbleText makes one kind of error that people make when they type.
func garbleText(body string, random *rand.Rand) string {
	switch random.IntN(6) {
	case 0:
		return joinWords(body, random)
	case 1:
		return writeLeet(body, random)
	case 2:
		return stretchLetters(body, random)
	case 3:
		return strings.Map(dropPunctuation, body)
	default:
		return mistypeWords(body, random)
	}
}

// mistypeWords makes an error in some words of four letters and more.
func mistypeWords(body string, random *rand.Rand) string {
	return inWords(body, random, func(letters []rune) []rune {
		at := 1 + random.IntN(len(letters)-2)
		switch random.IntN(4) {
		case 0:
			letters[at], letters[at+1] = letters[at+1], letters[at]
		case 1:
			letters = slices.Delete(letters, at, at+1)
		case 2:
			letters = slices.Insert(letters, at, letters[at])
		case 3:
			letters[at] = 'a' + rune(random.IntN(26))
		}
		return letters
	})
}

// inWords changes about one in three of the words of four letters and more.
func inWords(body string, random *rand.Rand, change func([]rune) []rune) string {
	words := strings.Fields(body)
	for i, word := range words {
		letters := []rune(word)
		if len(letters) < 4 || random.IntN(3) > 0 {
			continue
		}
		words[i] = string(change(letters))
	}
	return strings.Join(words, " ")
}

// joinWords leaves some spaces out.
func joinWords(body string, random *rand.Rand) string {
	var out strings.Builder
	for i, word := range strings.Fields(body) {
		if i > 0 && random.IntN(5) > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(word)
	}
	return out.String()
}

// digits stand for the letters that they resemble.
var digits = map[rune]rune{'o': '0', 'i': '1', 'e': '3', 'a': '4', 's': '5', 't': '7'}

// writeLeet writes digits for some letters.
func writeLeet(body string, random *rand.Rand) string {
	return inWords(body, random, func(letters []rune) []rune {
		for i, letter := range letters[1:] {
			if digit, ok := digits[letter]; ok && random.IntN(2) == 0 {
				letters[i+1] = digit
			}
		}
		return letters
	})
}

// stretchLetters repeats the last letters of some words.
func stretchLetters(body string, random *rand.Rand) string {
	return inWords(body, random, func(letters []rune) []rune {
		last := letters[len(letters)-1]
		return append(letters, slices.Repeat([]rune{last}, 1+random.IntN(4))...)
	})
}

func dropPunctuation(r rune) rune {
	if strings.ContainsRune(".,;:!?'’¿¡", r) {
		return -1
	}
	return r
}
