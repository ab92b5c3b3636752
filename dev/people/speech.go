package main

// sayIn says a text of the script in a language.
func sayIn(_, text string, _ uint64) string { return text }
