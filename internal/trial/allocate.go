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
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"coachline/models"
)

// AlgorithmVersion is written with each draw. A change of what is drawn from the
// same seed and record needs a new version, and the old one has to stay.
const AlgorithmVersion = 1

const (
	// minimisationShare is the probability of the arms that leave the least
	// imbalance; Pocock and Simon's p.
	minimisationShare = 0.8
	// blockFactors are how many times the smallest block that holds the weights a
	// block is long: blocks of 2, 4 and 6 for two equal arms.
	blockFactors = 3
	// tie is how close two imbalances are that count as equal.
	tie = 1e-9
)

// ErrStrata is returned for a person of whom a stratum is not known yet, or has a
// value that is none of its levels.
var ErrStrata = errors.New("the strata are not all known")

// Design is what draws the arms of a study.
type Design struct {
	StudyID       string
	Seed          []byte
	Arms          []models.StudyArm
	Randomisation models.Randomisation
}

// Person is who is allocated. Levels holds the value of each stratum by its name.
type Person struct {
	ParticipantID string
	Levels        map[string]string
	By            string
	At            time.Time
}

// Past is what the record says that a draw depends on.
type Past struct {
	// Number is how many rows there are, Head the hash of the newest.
	Number int64
	Head   string
	// Counts are the people of each stratum and arm; minimisation needs all of
	// them, the other methods none.
	Counts []Count
	// Block is the newest block of the person's stratum, for permuted blocks.
	Block Block
}

// Count is how many people of a stratum are in an arm.
type Count struct {
	Stratum, Arm string
	People       int
}

// Block is a permuted block of a stratum; the zero value stands before the first.
type Block struct {
	Number int
	// Opened is the counter of the block's first row, which drew its length.
	Opened int64
	// Taken is how many places of each arm are used.
	Taken map[string]int
}

// StratumOf returns the person's levels as the record holds them: a JSON object
// with the names in order. ErrStrata when one is missing or unknown.
func (d Design) StratumOf(levels map[string]string) (string, error) {
	known := make(map[string]string, len(d.Randomisation.Strata))
	for _, stratum := range d.Randomisation.Strata {
		level := levels[stratum.Name]
		if !slices.Contains(stratum.Levels, level) {
			return "", fmt.Errorf("%w: %s must be one of %q", ErrStrata, stratum.Name, stratum.Levels)
		}
		known[stratum.Name] = level
	}
	text, err := json.Marshal(known)
	return string(text), err
}

// Allocate draws the arm of the next person and returns the row to be recorded.
// ErrStrata when not all strata of the person are known.
func (d Design) Allocate(past Past, who Person) (models.Allocation, error) {
	stratum, err := d.StratumOf(who.Levels)
	if err != nil {
		return models.Allocation{}, err
	}
	row := models.Allocation{
		StudyID: d.StudyID, Number: past.Number + 1, ParticipantID: who.ParticipantID, Stratum: stratum, Method: d.Randomisation.Method,
		Counter: past.Number + 1, Algorithm: AlgorithmVersion, AllocatedBy: who.By, AllocatedAt: who.At.UTC(),
	}
	drawn, err := d.draw(past, who.Levels, row.Counter)
	if err != nil {
		return models.Allocation{}, err
	}
	row.Arm, row.Block = drawn.arm, drawn.block
	if row.Probabilities, err = d.encode(drawn.probabilities); err != nil {
		return models.Allocation{}, err
	}
	row.Hash = d.hash(row, past.Head)
	return row, nil
}

// drawResult is the outcome of one draw; probabilities are in the order of the arms.
type drawResult struct {
	arm           string
	block         int
	probabilities []float64
}

func (d Design) draw(past Past, levels map[string]string, counter int64) (drawResult, error) {
	source := newSource(d.Seed, counter, purposeAllocation, d.StudyID)
	out := drawResult{}
	switch d.Randomisation.Method {
	case models.RandomSimple:
		out.probabilities = d.shares()
	case models.RandomBlocks:
		out.block, out.probabilities = d.blockPlaces(past.Block, counter, source)
	case models.RandomMinimisation:
		var err error
		if out.probabilities, err = d.minimise(past.Counts, levels); err != nil {
			return out, err
		}
	default:
		return out, fmt.Errorf("drawing an arm: unknown method %q", d.Randomisation.Method)
	}
	out.arm = d.Arms[pick(out.probabilities, uniform(source))].Name
	return out, nil
}

// pick returns the index whose share of the interval from 0 to 1 holds at.
func pick(probabilities []float64, at float64) int {
	last, sum := 0, 0.0
	for i, probability := range probabilities {
		if probability <= 0 {
			continue
		}
		last, sum = i, sum+probability
		if at < sum {
			break
		}
	}
	return last
}

// shares returns the arms' weights as shares of 1.
func (d Design) shares() []float64 {
	sum := 0
	for _, arm := range d.Arms {
		sum += arm.Weight
	}
	out := make([]float64, len(d.Arms))
	for i, arm := range d.Arms {
		out[i] = float64(arm.Weight) / float64(sum)
	}
	return out
}

// blockPlaces returns the number of the block that the next person is in and the
// share of its free places that each arm has. A full block is followed by a new
// one, whose length is the first number of the draw.
func (d Design) blockPlaces(block Block, counter int64, source *rand.ChaCha8) (int, []float64) {
	factor := 0
	if block.Number > 0 {
		factor = blockFactor(newSource(d.Seed, block.Opened, purposeAllocation, d.StudyID))
	}
	places, free := d.freePlaces(block, factor)
	if free == 0 {
		block = Block{Number: block.Number + 1, Opened: counter}
		factor = blockFactor(source)
		places, free = d.freePlaces(block, factor)
	}
	out := make([]float64, len(places))
	for i, place := range places {
		out[i] = float64(place) / float64(free)
	}
	return block.Number, out
}

func blockFactor(source *rand.ChaCha8) int { return 1 + int(uniform(source)*blockFactors) }

// freePlaces returns the free places of each arm in a block, and their sum.
func (d Design) freePlaces(block Block, factor int) (places []int, free int) {
	divisor := 0
	for _, arm := range d.Arms {
		divisor = greatestDivisor(divisor, arm.Weight)
	}
	places = make([]int, len(d.Arms))
	for i, arm := range d.Arms {
		places[i] = max(0, arm.Weight/divisor*factor-block.Taken[arm.Name])
		free += places[i]
	}
	return places, free
}

func greatestDivisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// minimise returns the probabilities of Pocock and Simon's minimisation: the arms
// that leave the least imbalance share 0.8, the others the rest, each by weight. The
// imbalance is the sum over the strata of the range of people divided by weight,
// among people of the same level.
func (d Design) minimise(counts []Count, levels map[string]string) ([]float64, error) {
	margins, err := d.countMargins(counts, levels)
	if err != nil {
		return nil, err
	}
	imbalances := make([]float64, len(d.Arms))
	for arm := range d.Arms {
		for _, margin := range margins {
			imbalances[arm] += d.rangeWith(margin, arm)
		}
	}
	return preferLeast(d.shares(), imbalances), nil
}

// countMargins counts, for each stratum, the people of each arm who have the
// person's level of it.
func (d Design) countMargins(counts []Count, levels map[string]string) ([][]int, error) {
	margins := make([][]int, len(d.Randomisation.Strata))
	for i := range margins {
		margins[i] = make([]int, len(d.Arms))
	}
	for _, count := range counts {
		var others map[string]string
		if err := json.Unmarshal([]byte(count.Stratum), &others); err != nil {
			return nil, fmt.Errorf("reading a stratum of the record: %w", err)
		}
		arm := slices.IndexFunc(d.Arms, func(arm models.StudyArm) bool { return arm.Name == count.Arm })
		if arm < 0 {
			return nil, fmt.Errorf("the record has an arm %q that the study has not", count.Arm)
		}
		for i, stratum := range d.Randomisation.Strata {
			if others[stratum.Name] == levels[stratum.Name] {
				margins[i][arm] += count.People
			}
		}
	}
	return margins, nil
}

// rangeWith returns the range of people by weight if one more were in arm.
func (d Design) rangeWith(people []int, arm int) float64 {
	least, most := math.Inf(1), math.Inf(-1)
	for i, n := range people {
		if i == arm {
			n++
		}
		value := float64(n) / float64(d.Arms[i].Weight)
		least, most = min(least, value), max(most, value)
	}
	return most - least
}

// preferLeast gives the arms with the least imbalance the greater probability.
func preferLeast(shares, imbalances []float64) []float64 {
	least := slices.Min(imbalances)
	preferred := 0.0
	for i, share := range shares {
		if imbalances[i]-least < tie {
			preferred += share
		}
	}
	if 1-preferred < tie {
		return shares
	}
	chosen := minimisationShare
	if preferred > chosen { // they would be preferred less than by weight alone
		chosen = preferred + (1-preferred)/2
	}
	out := make([]float64, len(shares))
	for i, share := range shares {
		if imbalances[i]-least < tie {
			out[i] = chosen * share / preferred
			continue
		}
		out[i] = (1 - chosen) * share / (1 - preferred)
	}
	return out
}

func (d Design) encode(probabilities []float64) (string, error) {
	named := make(map[string]float64, len(d.Arms))
	for i, arm := range d.Arms {
		named[arm.Name] = probabilities[i]
	}
	text, err := json.Marshal(named)
	return string(text), err
}

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
