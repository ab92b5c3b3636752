package redact

import "regexp"

// onRead, where a test has set it, gets the length of each text that a pattern
// reads.
var onRead func(bytes int)

// expression is a compiled pattern that says how much it reads. A whole text is
// read where all matches are wanted or none is found; otherwise it is read up
// to the end of the match.
type expression struct{ re *regexp.Regexp }

// compilePattern compiles a pattern whose reading is counted.
func compilePattern(pattern string) expression { return expression{regexp.MustCompile(pattern)} }

// reportRead gives the length of a text that a pattern reads to onRead.
func reportRead(bytes int) {
	if onRead != nil {
		onRead(bytes)
	}
}

// MatchString reports a match, and counts all of the text as read.
func (e expression) MatchString(s string) bool {
	reportRead(len(s))
	return e.re.MatchString(s)
}

func (e expression) FindString(s string) string {
	reportRead(len(s))
	return e.re.FindString(s)
}

func (e expression) FindStringSubmatchIndex(s string) []int {
	at := e.re.FindStringSubmatchIndex(s)
	if at == nil {
		reportRead(len(s))
	} else {
		reportRead(at[1])
	}
	return at
}

func (e expression) FindAllStringIndex(s string, n int) [][]int {
	reportRead(len(s))
	return e.re.FindAllStringIndex(s, n)
}

func (e expression) FindAllStringSubmatchIndex(s string, n int) [][]int {
	reportRead(len(s))
	return e.re.FindAllStringSubmatchIndex(s, n)
}

func (e expression) Split(s string, n int) []string {
	reportRead(len(s))
	return e.re.Split(s, n)
}

func (e expression) ReplaceAllString(s, with string) string {
	reportRead(len(s))
	return e.re.ReplaceAllString(s, with)
}
