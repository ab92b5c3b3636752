package main

import "testing"

// A study of its own greets with its programme's name, answers, and says its last
// text when it is closed.
func TestStudyFromEnrolmentToCloseOut(t *testing.T) {
	t.Parallel()
	s := &subject{name: "Wilhelmina", person: &person{t: t, number: "+12025550177"}}
	s.r = launchIn(t, calm, "--ephemeral")
	s.isInAStudy()
}
