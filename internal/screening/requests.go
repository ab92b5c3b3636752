package screening

import (
	"slices"
	"strings"

	"coachline/internal/text"
)

// MinRequest is the least number of words of a text whose score counts: two words are
// one word and what stands beside it ("don't stop", "hello there").
const MinRequest = 3

// scoreRequest says how far the score of a text lies above that of one which may ask to
// end the messages. A text of fewer words than count has one far below, that says nothing.
func (s *scanner) scoreRequest() float32 {
	if s.features.Len() < MinRequest {
		return tooShort
	}
	thresholds := s.languageThresholds()
	return model().Stop.Best(&s.features).Score - thresholds.Asked
}

const (
	tooShort = -100
	// isOther is the score of a text below which what a rule takes for a request is asked
	// about: the words of one stand in another sense ("me salgo del trabajo a las 5").
	isOther = -6
	// surely is the score from which the form ends beside words that are asked about.
	surely = 1.8
	// namedReach is the score from which a text of at most briefly words is asked about that
	// names what shall end.
	namedReach, briefly = -0.6, 15
	// formEnds is the score from which the form of a request ends in such a text, 0 in a
	// longer one; formReach that from which it is asked about.
	formEnds, formReach = -0.1, -1.2
)

// asksToEnd reports whether the score of a text says that it may ask to end the
// messages, so that the person is asked. It ends nothing, and says nothing where an
// exception of a rule spoke against a request or all of the text is known for none.
func (s *scanner) asksToEnd() bool { return s.asked >= 0 && !s.isLimited }

// IsLimited reports whether a rule, an exception or what makes a request none speaks
// against one in a text, so that its score ends nothing.
func IsLimited(body string) bool {
	s := scanners.Get().(*scanner)
	defer scanners.Put(s)
	s.scanBody(body)
	return s.isLimited || !isPlain(body)
}

// doubts are the words of a language that make a request none, or a question.
type doubts struct {
	// negations count up to negationReach words before a request, with nothing but
	// between words after them; questions and polite where they begin its clause. What
	// is asked politely is a request ("can you stop texting me?"), unless a speaker
	// follows ("can I stop"). Orders are forms of verbs that begin a clause of their own:
	// what stands before them is a reason ("das geht nicht löscht meine nummer").
	negations, between, questions, polite, speakers, orders map[string]bool
	// isNegatedBehind: what negates an order stands behind it, as in "löscht mich nicht",
	// and not before it, as in "não me tira".
	isNegatedBehind bool
}

const negationReach = 4

// identities are the English questions that are a reason before an order: its verbs have
// one form with infinitives, so that what stands before them does not tell.
var identities = map[string]bool{"what is this": true, "whats this": true, "what is it": true, "who is this": true, "whos this": true, "who are you": true, "who are u": true}

// greetings may stand before what is asked politely.
var greetings = text.WordSet("hi hey hello hallo hola buenas oi ola bonjour bonsoir salut coach ok okay so and but please sorry und also bitte y pero e mas et mais alors")

// reasonWords is how many words a question has at least before an order behind it, where
// it is another one ("wer ist das löscht meine nummer").
const reasonWords = 3

var doubtsOf = map[string]doubts{
	"de": {
		text.WordSet("nicht nie niemals kein keine keinen"), text.WordSet("will mochte wollte mich mir mehr einfach jetzt gleich zu vom von der die das"),
		text.WordSet("wie was warum wieso weshalb wann wer wo soll sollte muss gibt"), text.WordSet("kannst konnt konnten konnen konntest konntet bitte"), text.WordSet("ich wir man"),
		text.WordSet("losch loscht entfern entfernt streich streicht nimm nehmt meld meldet trag tragt lass lasst hor hort schick schickt schreib schreibt stopp stoppt beend beendet stell stellt bitte"), true,
	},
	"en": {
		text.WordSet("not dont doesnt didnt never wont cant cannot wouldnt"), text.WordSet("want wanna wish like going planning asking to really please you me us ever from the my"),
		text.WordSet("how what why when where whats is are do does did should whether"), text.WordSet("can could would will please"), text.WordSet("i we one my the it this that"), nil, false,
	},
	"es": {
		text.WordSet("no nao nunca jamas"), text.WordSet("quiero quise deseo quisiera pedi pienso voy me nos a que todavia"),
		text.WordSet("como cuando donde quien cual debo deberia hay"), text.WordSet("puedes podrias pueden podrian puede podria me por"), text.WordSet("yo"),
		text.WordSet("deja dejen dejame dejenme borra borren borrame borrenme quita quiten quitame quitenme saca saquen sacame saquenme elimina eliminen cancela cancelen paren por"), false,
	},
	"fr": {
		text.WordSet("pas jamais"), text.WordSet("veux voudrais souhaite voulais me te de du encore demande a"),
		text.WordSet("comment pourquoi quand quoi combien est"), text.WordSet("peux pouvez pourriez pourrais tu vous merci"), text.WordSet("je on"),
		text.WordSet("supprime supprimez efface effacez retire retirez enleve enlevez arrete arretez desabonnez desinscrivez desinscris laisse laissez cessez stoppez annulez merci"), true,
	},
	"pt": {
		text.WordSet("nao no nunca jamais"), text.WordSet("quero queria desejo vou pedi me nos a ainda"),
		text.WordSet("como quando onde quem qual devo deveria tem existe"), text.WordSet("pode podem poderia poderiam voce voces da por"), text.WordSet("eu"),
		text.WordSet("para parem apaga apague apaguem tira tire tirem remove remova removam exclui exclua excluam cancela cancele cancelem deixa deixem por"), false,
	},
}

// isDoubtedAt reports whether words of a version that ask to end are negated or asked
// about.
func (s *scanner) isDoubtedAt(language, start, end int) bool {
	v, of := &s.versions[language], doubtsOf[languages[language]]
	isOrder := of.orders[string(v.textAt(start))]
	reachesBack := !isOrder || !of.isNegatedBehind
	if reachesBack && v.isNegatedBefore(start, of) || v.isNegatedAfter(end, languages[language]) {
		return true
	}
	first := v.clauseStart(start)
	if v.words[first].isBreak {
		return false
	}
	isReason := isOrder && start-first >= reasonWords
	isReason = isReason || languages[language] == "en" && identities[v.wordsBetween(first, start)]
	if of.questions[string(v.textAt(first))] && (!isReason || s.isAskedAfter(v, end-1)) {
		return true
	}
	return !v.isPoliteFrom(first, start, of) && s.isAskedAfter(v, end-1)
}

// isPoliteFrom reports whether a clause begins as one that asks for something politely,
// with or without a greeting.
func (v *version) isPoliteFrom(first, start int, of doubts) bool {
	for first < start && greetings[string(v.textAt(first))] {
		first++
	}
	isPolite := of.polite[string(v.textAt(first))]
	if isPolite && first+1 < len(v.words) && !v.words[first+1].isBreak {
		isPolite = !of.speakers[string(v.textAt(first+1))]
	}
	return isPolite
}

// isNegatedInEnglish reports whether a word that English has too is negated there, where
// English rules judge it ("don't stop these messages").
func (s *scanner) isNegatedInEnglish(language, start int) bool {
	english := &s.versions[slices.Index(languages, "en")]
	at := english.wordOf(int(s.versions[language].words[start].from))
	return languages[language] != "en" && at >= 0 && english.isNegatedBefore(at, doubtsOf["en"])
}

// wordsBetween returns the words from one position to another.
func (v *version) wordsBetween(from, to int) string {
	var all []string
	for i := from; i < to; i++ {
		all = append(all, string(v.textAt(i)))
	}
	return strings.Join(all, " ")
}

// wordOf returns the word that begins with a token, or -1.
func (v *version) wordOf(token int) int {
	return slices.IndexFunc(v.words, func(w wordAt) bool { return !w.isBreak && int(w.from) == token })
}

// clauseStart returns the first word of the clause of a word.
func (v *version) clauseStart(i int) int {
	for i > 0 && v.isJoinedToNext(i-1) {
		i--
	}
	return i
}

// isJoinedToNext reports whether a word and the next one are in one clause.
func (v *version) isJoinedToNext(i int) bool {
	return !v.words[i].isBreak && !v.words[i+1].isBreak && v.words[i+1].before == gapNone
}

// isNegatedBefore reports whether a negation stands before a position, with nothing
// but words between it that it reaches over.
func (v *version) isNegatedBefore(start int, of doubts) bool {
	for i := start - 1; i >= 0 && start-i <= negationReach && v.isJoinedToNext(i); i-- {
		if of.negations[string(v.textAt(i))] {
			return true
		}
		if !of.between[string(v.textAt(i))] {
			break
		}
	}
	return false
}

// isNegatedAfter reports whether a negation stands behind the words before a position, as
// it does in French ("me désinscrivez pas").
func (v *version) isNegatedAfter(end int, language string) bool {
	return language == "fr" && end < len(v.words) && v.isJoinedToNext(end-1) && doubtsOf["fr"].negations[string(v.textAt(end))]
}

// isAskedAfter reports whether the sentence of a word ends with a question mark.
func (s *scanner) isAskedAfter(v *version, last int) bool {
	for last+1 < len(v.words) && !v.words[last+1].isBreak {
		last++
	}
	return !v.words[last].isBreak && s.tokens.spans[v.words[last].to-1].isAsked
}
