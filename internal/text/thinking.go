package text

import (
	"regexp"
	"strings"
)

const thinkingNames = `think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis`

var (
	// thinkingTag opens or closes a block of thinking, as several model families
	// write it where the server does not take it out. The second groups are filled
	// by a closing tag only.
	thinkingTag = regexp.MustCompile(`(?i)<(/?)(?:` + thinkingNames + `)[ \t]*>|\[(/?)think\]|<\|(?:begin|(end))_of_thought\|>`)
	// innerChannel is a channel that is not for the person, with all that it holds.
	innerChannel = regexp.MustCompile(`(?is)<\|channel\|>[ \t]*(?:analysis|commentary)\b.*?(?:<\|(?:end|return|call)\|>|<\|start\|>|(<\|channel\|>)|\z)`)
	finalChannel = regexp.MustCompile(`(?i)(?:<\|start\|>[ \t]*assistant[ \t]*)?<\|channel\|>[ \t]*final[ \t]*<\|message\|>`)
)

// thinkingPasses bounds how often an answer is read again, because what stood on
// both sides of a block may make a new tag together.
const thinkingPasses = 8

// SplitThinking takes blocks of thinking out of a model's answer. A block without
// an end reaches to the end of the answer; an end without a beginning closes one
// that began with the answer, because some chat templates write the opening tag
// themselves. found reports whether there was any block; without one the answer
// comes back as it is. Tags that are still there after eight passes make all of
// it thinking.
func SplitThinking(answer string) (visible, thinking string, found bool) {
	if !strings.ContainsAny(answer, "<[") {
		return answer, "", false
	}
	var thoughts []string
	if strings.Contains(answer, "<|") {
		if blocks := innerChannel.FindAllString(answer, -1); len(blocks) > 0 {
			thoughts, found = append(thoughts, blocks...), true
			answer = innerChannel.ReplaceAllString(answer, "$1")
		}
		answer = finalChannel.ReplaceAllString(answer, "")
	}
	for range thinkingPasses {
		tags := thinkingTag.FindAllStringSubmatchIndex(answer, -1)
		if len(tags) == 0 {
			return answer, strings.Join(thoughts, ""), found
		}
		outside, inside := splitAt(answer, tags)
		answer, found = strings.TrimSpace(outside), true
		thoughts = append(thoughts, inside)
	}
	return "", strings.Join(append(thoughts, answer), ""), true
}

// WithoutThinking is the visible part of SplitThinking, trimmed.
func WithoutThinking(answer string) string {
	visible, _, _ := SplitThinking(answer)
	return strings.TrimSpace(visible)
}

// splitAt gives what stands outside of the tags and what stands inside.
func splitAt(answer string, tags [][]int) (outside, inside string) {
	var out, in strings.Builder
	from, open := 0, false
	for _, tag := range tags {
		piece := answer[from:tag[0]]
		switch {
		case open:
			in.WriteString(piece)
		case isClosing(tag): // It closes a block that began with the answer.
			in.WriteString(out.String() + piece)
			out.Reset()
		default:
			out.WriteString(piece)
		}
		open = !isClosing(tag)
		from = tag[1]
	}
	if open {
		in.WriteString(answer[from:])
	} else {
		out.WriteString(answer[from:])
	}
	return out.String(), strings.TrimSpace(in.String())
}

// isClosing reports whether a group that only a closing tag fills is filled.
func isClosing(tag []int) bool {
	for group := 2; group < len(tag); group += 2 {
		if tag[group] >= 0 && tag[group+1] > tag[group] {
			return true
		}
	}
	return false
}
