package redact

import "regexp"

// onRead, where a test has set it, gets the length of each text that a pattern
// reads.
var onRead func(bytes int)

// expression is a compiled pattern that says how much it reads. A whole text is
// read where all matches are looked for or none is found; otherwise it is read
// up to the end of the match.
type expression struct{ re *regexp.Regexp }

func compile(pattern string) expression { return expression{regexp.MustCompile(pattern)} }

func read(bytes int) {
	if onRead != nil {
		onRead(bytes)
	}
}

// MatchString is told of as having read all that it was given.
func (e expression) MatchString(s string) bool {
	read(len(s))
	return e.re.MatchString(s)
}

func (e expression) FindString(s string) string {
	read(len(s))
	return e.re.FindString(s)
}

func (e expression) FindStringSubmatchIndex(s string) []int {
	at := e.re.FindStringSubmatchIndex(s)
	if at == nil {
		read(len(s))
	} else {
		read(at[1])
	}
	return at
}

func (e expression) FindAllStringIndex(s string, n int) [][]int {
	read(len(s))
	return e.re.FindAllStringIndex(s, n)
}

func (e expression) FindAllStringSubmatchIndex(s string, n int) [][]int {
	read(len(s))
	return e.re.FindAllStringSubmatchIndex(s, n)
}

func (e expression) Split(s string, n int) []string {
	read(len(s))
	return e.re.Split(s, n)
}

func (e expression) ReplaceAllString(s, with string) string {
	read(len(s))
	return e.re.ReplaceAllString(s, with)
}
