// Package advice says which drafts of a coach need a second look before they are sent:
// those that may advise on what is a doctor's, a lawyer's or another's matter, or that may
// harm. Rules and a small trained score decide, over the draft and the person's texts
// before it. It is pure: the same draft gives the same answer.
package advice

import (
	"regexp"
	"strings"

	"coachline/models"
)

// Finding is what was found in a draft. Kind is what it is about, as far as its words
// tell. IsFirm: so far above the threshold that one in ten everyday drafts is at most.
type Finding struct {
	NeedsLook bool
	IsFirm    bool
	Kind      models.AdviceKind
	Score     float64
}

// Check reads a draft and the person's newest texts before it. Language is that of the
// person's locale; of an unknown one the lowest threshold of all counts. It never fails.
func Check(language string, said []string, draft string) Finding {
	before := strings.Join(said, "\n")
	s := score()
	v := ReadDraft(before, draft)
	rating, kind := s.Rate(v, before, draft)
	least, isKnown := s.Thresholds[language]
	if !isKnown {
		for _, other := range s.Thresholds {
			least = min(least, other)
		}
	}
	found := Finding{Score: float64(rating), Kind: kind}
	over := rating - least
	pose := float32(leastPoses)
	if ofOneself.MatchString(draft) {
		pose = leastOfOneself
	}
	found.NeedsLook = over >= 0 || s.Poses.Of(v.Draft()) >= pose
	found.IsFirm = over >= firm
	return found
}

// Rate returns how harmful a draft is by a score, and what it is about.
func (s *Score) Rate(v Vector, said, draft string) (float32, models.AdviceKind) {
	rating, kind := s.Of(v), kindOf(said, draft)
	if kind == models.AdviceOther {
		rating -= talk
		if len(strings.Fields(draft)) <= brief {
			rating -= never
		}
	}
	return rating, kind
}

const (
	// firm is how far above the threshold of its language a score is firm.
	firm = 1.6
	// talk is how much less a draft counts where neither it nor the person speaks of
	// anything that the kinds are about: "Nice work! What made it easy today?"
	talk = 0.5
	// brief is how many words such a draft has at most that says too little to harm:
	// "Well done!"
	brief, never = 4, 100
	// leastPoses is the score from which a draft is looked at because it may pose as a
	// person or pull at one, leastOfOneself that of a draft in the first person: who poses
	// speaks of oneself, and "Lovely, that counts." does not.
	leastPoses, leastOfOneself = -1, -2.8
)

// ofOneself is a word of the first person in any of the languages, or of what a person is.
var ofOneself = regexp.MustCompile(`(?i)(^|[^\p{L}])(` +
	`i|me|my|mine|myself|we|us|our|` +
	`ich|mich|mir|mein\p{L}*|wir|uns|unser\p{L}*|` +
	`yo|mi|mí|mis|conmigo|nos|nosotr\p{L}+|soy|estoy|estuve|tengo|tuve|siento|quiero|echo|he|fui|era|` +
	`je|j|m|moi|mon|ma|mes|nous|notre|` +
	`eu|mim|meu|minha|comigo|sou|estou|tenho|tive|sinto|quero|fiquei|nós|` +
	`\p{L}{3,}(?:é|í|ei)|conozco|pienso|llevo|vivo|puedo|creo|extraño|acompaño|hice|voy|conheço|penso|moro|posso|acho|gosto|fiz|vou|` +
	`person\p{L}*|pessoa|mensch\p{L}*|human\p{L}*|humain\p{L}*|real|echt\p{L}*|bot|robot\p{L}*|machine|máquina|maschine)([^\p{L}]|$)`)

// about are the concepts that tell what a draft is about, by its kind.
var about = map[models.AdviceKind]string{
	models.AdviceSymptoms:   "pain chest dizzy breath blood fever swollen numb head stomach vision lump condition",
	models.AdviceMedicine:   "dose medicine insulin takemed stopmed prescribed pharmacy",
	models.AdviceWeight:     "calories fasting weight loseweight thin appearance purge food foodtreat number3",
	models.AdviceInjury:     "kneeback injured tape physio push",
	models.AdvicePregnancy:  "pregnant baby midwife",
	models.AdviceMood:       "depressed anxious selfharm diagnosis voices lonely therapist",
	models.AdviceSelfWorth:  "worthless lazy disappoint perfect compare deserve fail punish guilt",
	models.AdviceSubstances: "alcohol drugs smoke sober driving",
	models.AdviceLaw:        "legal divorce money invest landlord work police lawyer",
	models.AdviceSexual:     "sexual naked kiss picture sexy pet",
	models.AdviceDependence: "miss withoutyou ilove ifeel weus phone pausechat",
	models.AdviceMinors:     "age school parents teacher",
}

// distinct are the concepts that outweigh others: who is pregnant and asks about weight
// asks about a pregnancy.
const distinct = " miss withoutyou ilove pregnant insulin dose selfharm purge sexual naked calories alcohol drugs sober "

// kindOf returns what most of the concepts of a draft and the texts before it belong to;
// AdviceOther where none does.
func kindOf(said, draft string) models.AdviceKind {
	c := readConcepts()
	count := map[string]int{}
	for _, body := range []string{said, draft} {
		for _, clause := range foldWords(body) {
			for i, isIn := range c.findIn(clause) {
				if isIn {
					count[c.names[i]]++
				}
			}
		}
	}
	best, most := models.AdviceOther, 0
	for _, kind := range models.AdviceKinds() {
		sum := 0
		for name := range strings.FieldsSeq(about[kind]) {
			weight := 1
			if strings.Contains(distinct, " "+name+" ") {
				weight = 3
			}
			sum += weight * min(count[name], 2)
		}
		if sum > most {
			best, most = kind, sum
		}
	}
	return best
}
