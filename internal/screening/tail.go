package screening

import "slices"

// endsWell judges what follows a request. A time, a place, a topic or a
// condition makes it a wish about how we write ("stop texting me at night"),
// which the coach can talk about.
func endsWell(rest []string, loose bool) bool {
	if slices.ContainsFunc(rest, func(word string) bool { return limits[word] }) {
		return false
	}
	rest = slices.DeleteFunc(rest, func(word string) bool { return word == "the" })
	if len(rest) == 0 {
		return false
	}
	first, second := rest[0], ""
	if len(rest) > 1 {
		second = rest[1]
	}
	if harmless[first] {
		return true
	}
	if follows, known := depends[first]; known {
		return follows[second]
	}
	return loose && !narrowing[first] && !startsWithDigit(first)
}

func startsWithDigit(word string) bool { return word[0] >= '0' && word[0] <= '9' }

// limits anywhere in the rest say that something else is meant than an end.
var limits = setOf(`until till before after unless if when whenever while during tonight tomorrow today weekend weekends
	monday tuesday wednesday thursday friday saturday sunday mondays saturdays sundays
	hasta antes despues cuando mientras durante si hoy manana temprano tarde noche domingo domingos sabado lunes
	bis vor nach wenn falls wahrend heute morgen abends nachts sonntags samstags wochenende
	jusqu avant apres quand pendant aujourd demain soir nuit dimanche samedi
	ate depois quando enquanto hoje amanha cedo noite sabados`)

// harmless words may follow anything.
var harmless = setOf(`please pls plz kindly now right immediately asap anymore anytime again ever forever thanks thank thx ok okay
	already permanently completely entirely altogether i im ive its it you your we because cause or and bye guys stupid idiot
	idiots creep bot coach dude man bro lol favor ya gracias nunca jamas mas otra porque`)

// depends: these words are harmless before some words only.
var depends = map[string]map[string]bool{
	"from": setOf("you this here now your ur coach coachline"),
	"to":   setOf("me this my us"),
	"on":   setOf("this my"),
	"for":  setOf("good ever real gods"),
	"at":   setOf("all"),
	"in":   setOf("future"),
	"any":  setOf("more longer further"),
	"this": setOf("is isnt number phone instant minute second stuff"),
	"por":  setOf("favor siempre"),
	"de":   setOf("ustedes este esta nuevo una ti"),
	"a":    setOf("este mi"),
	"en":   setOf("absoluto"),
}

// narrowing words begin a time, a manner or a topic.
var narrowing = setOf(`so that every each with about back off as like twice once only just except but over by past around between too
	more than time early late unless without via and then
	tan tanto cada con sobre todos todas los las entre para sin solo como acerca`)
