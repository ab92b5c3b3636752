package screening

import "strings"

// leet are digits that stand for letters.
var leet = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t")

// pairs are words that people split or run together; words stand between two
// spaces each, so that none is found within another.
var pairs = strings.NewReplacer(
	" my  self ", " myself ", " him  self ", " himself ", " her  self ", " herself ", " any  more ", " anymore ",
	" i  m ", " im ", " i  am ", " im ", " i  ve ", " ive ", " i  have ", " ive ", " i  ll ", " ill ", " i  will ", " ill ",
	" do  not ", " dont ", " don  t ", " dont ", " can  not ", " cant ", " can  t ", " cant ", " won  t ", " wont ", " it  s ", " its ",
	" he  is ", " hes ", " she  is ", " shes ", " is  not ", " isnt ", " k  ll ", " kill ", " over  dose ", " overdose ",
)

// spelling maps what is typed to what is meant; one word may stand for several.
//
//nolint:misspell // what people type
var spelling = map[string]string{
	"wanna": "want to", "wana": "want to", "gonna": "going to", "gona": "going to", "gunna": "going to", "tryna": "trying to",
	"cannot": "cant", "coz": "because", "u": "you", "ur": "your", "rn": "right now", "myslef": "myself", "mysefl": "myself",
	"mself": "myself", "miself": "myself", "meself": "myself", "anymor": "anymore", "dnt": "dont", "wan": "want",
	"kms": "kill myself", "killmyself": "kill myself", "unalive": "kill", "unaliving": "killing", "kil": "kill", "kiil": "kill",
	"killl": "kill", "klil": "kill", "kll": "kill", "kiling": "killing", "killin": "killing",
	"suicde": "suicide", "sucide": "suicide", "suiside": "suicide", "suicied": "suicide", "suside": "suicide", "suacide": "suicide",
	"suicidle": "suicidal", "sucidal": "suicidal", "suicdal": "suicidal", "suisidal": "suicidal", "suicidial": "suicidal",
	"dieing": "dying", "diee": "die", "livin": "living", "alot": "a lot", "abt": "about", "thinkin": "thinking",
	"overdosd": "overdosed", "oded": "overdosed", "oding": "overdosing", "cuttin": "cutting", "hurtin": "hurting",
	"breath": "breathe", "breth": "breathe", "brethe": "breathe", "ambulence": "ambulance", "ambulanse": "ambulance",
	"emergancy": "emergency", "emergncy": "emergency", "anymre": "anymore",
	"kiero": "quiero", "qiero": "quiero", "q": "que", "k": "que", "bida": "vida", "morirme": "morir",
	"suisidarme": "suicidarme", "sucidarme": "suicidarme", "respirrar": "respirar", "ambulansia": "ambulancia",
}
