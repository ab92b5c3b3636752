package text

import (
	"regexp"
	"strings"
)

// Reaction is what a phone sends in place of a tapback: a like, a laugh, an emoji at a
// message, or its removal.
type Reaction struct {
	// Quoted is the beginning of the message that it is about, as FoldQuotes returns it; empty
	// where that is a picture.
	Quoted string
}

const (
	reactionEmoji  = `[^\pL\pN"\s]{1,16}`
	reactionTarget = `(?:"(?P<quoted>.+)"|(?:an?|eine?n?|una?|une|uma?) (?:image|photo|picture|movie|video|vídeo|vidéo|audio message|attachment|sticker|link|bild|foto|film|filme|audionachricht|anhang|imagen|película|audio|mensaje de audio|archivo adjunto|message audio|pièce jointe|imagem|mensagem de áudio|anexo))`
)

// reactionForms are the forms in which phones write reactions, by language: E is an
// emoji, N the name of a reaction and T the message, as FoldQuotes returns them.
var reactionForms = compileReactionForms(
	`(?:E|E (?:to|zu|auf|a|à|para|pour)) T`,
	// en
	`(?:liked|loved|disliked|laughed at|emphasi[sz]ed|questioned|reacted (?:with )?E to|removed (?:an? N|E) from) T`,
	// de
	`(?:gefiel|gefällt(?: nicht)?|liebte?|mag|lacht(?:e)? über|betonte?|hinterfragte?|reagierte mit E auf|entfernte (?:eine?n? N|E) (?:aus|von)) T`,
	`hat mit E auf T reagiert`,
	`hat T (?:eine?n? N hinzugefügt|mit N markiert)`,
	`hat (?:N|die reaktion E) von T (?:entfernt|zurückgenommen)`,
	// es
	`(?:(?:no |ya no )?le (?:gustó|gusta|encantó|encanta)|le (?:dio|da) risa|exclamó por|enfatizó|destacó|dudó sobre|cuestionó|se rió de|marcó como favorito|reaccionó con E a|(?:quitó|eliminó) (?:una? N|E) (?:de|a)) T`,
	// fr
	`(?:a attribué la mention N à|(?:a|n'a pas) (?:aimé|adoré)|a ri (?:de|à)|a souligné|a mis en évidence|a questionné|a réagi (?:avec )?E à|a (?:retiré|supprimé) (?:une? N|la mention N|la réaction E|E) (?:de|à|pour)) T`, //nolint:misspell // other languages
	// pt
	`(?:(?:não )?gost(?:ou|a) de|curtiu|amou|adorou|riu(?:-se)? de|enfatizou|destacou|questionou|reagiu com E a|(?:removeu|retirou) (?:(?:uma?|a|o) N|E) de) T`,
)

func compileReactionForms(forms ...string) []*regexp.Regexp {
	spell := strings.NewReplacer("E", reactionEmoji, "N", `(?:[\pL' ]{3,30}|"[^"]{3,30}")`, "T", reactionTarget)
	compiled := make([]*regexp.Regexp, len(forms))
	for i, form := range forms {
		compiled[i] = regexp.MustCompile("^" + spell.Replace(form) + "$")
	}
	return compiled
}

var reactionQuotes = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "‟", `"`, "«", `"`, "»", `"`, "’", "'")

// FoldQuotes is Fold with plain quotation marks, so that a message can be found by a
// quotation.
func FoldQuotes(s string) string { return Fold(reactionQuotes.Replace(s)) }

// ReadReaction reports whether a text has the form of a tapback, in one of five
// languages, and which message it quotes. A person may write the same by hand: whether
// the message exists is for the caller to see.
func ReadReaction(body string) (Reaction, bool) {
	folded := FoldQuotes(body)
	for _, form := range reactionForms {
		found := form.FindStringSubmatch(folded)
		if found == nil {
			continue
		}
		quoted := strings.Trim(found[form.SubexpIndex("quoted")], " ")
		return Reaction{Quoted: strings.TrimRight(quoted, ".… ")}, true
	}
	return Reaction{}, false
}
