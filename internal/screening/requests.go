package screening

// MinRequest is the least number of words of a request that only its score finds:
// two words are one word and what stands beside it ("don't stop", "hello there").
const MinRequest = 3

// IsLimited reports whether a rule or an exception speaks against a request in a
// text, so that its score counts for nothing.
func IsLimited(body string) bool {
	s := scanners.Get().(*scanner)
	defer scanners.Put(s)
	s.scanBody(body)
	return s.isLimited
}
