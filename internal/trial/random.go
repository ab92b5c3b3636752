// Package trial draws the arms of people and the options of decision points, and
// rebuilds the draws from their records. It is pure: the same seed and the same
// record before it give the same draw, on every machine.
//
// The random numbers of a draw are those of ChaCha8 (math/rand/v2) under a key made
// by HMAC-SHA-256 from the study's seed, what is drawn, and a counter. So each draw
// can be repeated without those before it, and nothing can be learnt from one about
// the next without the seed.
package trial

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// What is drawn from a seed, so that no two purposes share their numbers.
const (
	purposeAllocation = "coachline allocation"
	purposeDecision   = "coachline decision"
	purposeFeature    = "coachline feature"
	purposeChain      = "coachline allocation chain"

	purposeDecisionChain = "coachline decision chain"
	purposeDecisionHead  = "coachline decision head"
)

// keyOf derives a key from a seed. Each part goes in with its length.
func keyOf(seed []byte, parts ...string) [sha256.Size]byte {
	mac := hmac.New(sha256.New, seed)
	for _, part := range parts {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		mac.Write(length[:])
		mac.Write([]byte(part))
	}
	return [sha256.Size]byte(mac.Sum(nil))
}

// newSource returns the random numbers of one draw.
func newSource(seed []byte, counter int64, parts ...string) *rand.ChaCha8 {
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], uint64(counter))
	return rand.NewChaCha8(keyOf(seed, append(parts, string(number[:]))...))
}

// uniform returns the next number, at least 0 and below 1.
func uniform(source *rand.ChaCha8) float64 {
	const bits = 53
	return float64(source.Uint64()>>(64-bits)) / (1 << bits)
}

// IsFeatureOn reports whether a feature is on for a person, for a share of people
// between 0 and 1. A person keeps the answer, and also keeps a feature when the
// share grows.
func IsFeatureOn(seed []byte, feature, participantID string, share float64) bool {
	return uniform(newSource(seed, 0, purposeFeature, feature, participantID)) < share
}
