package advice

import (
	_ "embed"
	"encoding/binary"
)

// sensesFile says which words of five languages mean alike: for each of 2,000 groups of
// words the middle and the widest group that it is part of, then, by the hash of a word in
// small letters without accents, a check and the group plus one (train/senses.py).
//
//go:embed senses.bin
var sensesFile []byte

const (
	senseGroups = 2000
	senseSlots  = 1 << 17
)

func sense(at uint32) uint32 { return uint32(binary.LittleEndian.Uint16(sensesFile[2*at:])) }

// sensesOf returns the group of a word, or of the longest beginning of it of four bytes and
// more that has one, then the middle and the widest group of that; ok is false where none
// has.
func sensesOf(word string) (groups [3]uint32, ok bool) {
	for end := len(word); end > 0 && (end >= 4 || end == len(word)); end-- {
		h := hashNames(word[:end])
		for slot := h % senseSlots; ; slot = (slot + 1) % senseSlots {
			at := 2*senseGroups + 2*slot
			group := sense(at + 1)
			if group == 0 {
				break
			}
			if sense(at) == h>>16 {
				group--
				return [3]uint32{group, sense(group), sense(senseGroups + group)}, true
			}
		}
	}
	return groups, false
}

// hashSenses returns the groups that some words belong to, each once.
func hashSenses(words []string, salt uint32) []uint32 {
	seen := map[uint32]bool{}
	var out []uint32
	for _, word := range words {
		groups, ok := sensesOf(word)
		for level, group := range groups {
			if h := mix((group*3+uint32(level))*2654435761 ^ salt); ok && !seen[h] {
				seen[h] = true
				out = append(out, h)
			}
		}
	}
	return out
}
