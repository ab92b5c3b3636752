package trial

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"coachline/models"
)

// hash covers a row and the hash before it. It is keyed by the seed, so that who
// can write rows and not open the seed cannot make it anew.
func (d Design) hash(row models.Allocation, before string) string {
	sum := keyOf(d.Seed, purposeChain, before, row.StudyID, strconv.FormatInt(row.Number, 10), row.ParticipantID, row.Stratum, string(row.Method),
		strconv.Itoa(row.Block), row.Arm, row.Probabilities, strconv.FormatInt(row.Counter, 10), strconv.Itoa(row.Algorithm), row.AllocatedBy,
		strconv.FormatInt(row.AllocatedAt.UnixMicro(), 10))
	return hex.EncodeToString(sum[:])
}

// Fault is the first bad row of a record.
type Fault struct {
	Number  int64
	Problem string
}

// Verifier checks the rows of a record one after the other.
type Verifier struct {
	design Design
	number int64
	head   string
	counts map[Count]int // by stratum and arm, People is 0
	blocks map[string]Block
	people map[string]int64 // the row of each person
}

// NewVerifier returns a verifier that stands before the first row.
func NewVerifier(design Design) *Verifier {
	return &Verifier{design: design, counts: map[Count]int{}, blocks: map[string]Block{}, people: map[string]int64{}}
}

// Past returns what the next draw in a stratum depends on.
func (v *Verifier) Past(stratum string) Past {
	past := Past{Number: v.number, Head: v.head, Block: v.blocks[stratum]}
	if v.design.Randomisation.Method != models.RandomMinimisation {
		return past
	}
	for count, people := range v.counts {
		past.Counts = append(past.Counts, Count{Stratum: count.Stratum, Arm: count.Arm, People: people})
	}
	return past
}

// Check draws the next row again and compares it with the record; nil when it is
// right. After a fault no further row can be checked.
func (v *Verifier) Check(row models.Allocation) *Fault {
	if problem := v.compare(row); problem != "" {
		return &Fault{Number: v.number + 1, Problem: problem}
	}
	v.add(row)
	return nil
}

func (v *Verifier) compare(row models.Allocation) string {
	if row.Number != v.number+1 {
		return fmt.Sprintf("row %d is missing or not in its place; row %d stands there", v.number+1, row.Number)
	}
	if row.Hash != v.design.hash(row, v.head) {
		return "the row or its hash was changed, or the seed is another one"
	}
	if row.Algorithm != AlgorithmVersion {
		return fmt.Sprintf("it was drawn by version %d of the algorithm, which is not known", row.Algorithm)
	}
	if earlier := v.people[row.ParticipantID]; earlier > 0 {
		return fmt.Sprintf("the person was allocated before, in row %d", earlier)
	}
	var levels map[string]string
	if err := json.Unmarshal([]byte(row.Stratum), &levels); err != nil {
		return "the stratum cannot be read"
	}
	who := Person{ParticipantID: row.ParticipantID, Levels: levels, By: row.AllocatedBy, At: row.AllocatedAt}
	drawn, err := v.design.Allocate(v.Past(row.Stratum), who)
	if err != nil {
		return err.Error()
	}
	return differenceOf(row, drawn)
}

// differenceOf says in what a row differs from what the seed gives.
func differenceOf(row, drawn models.Allocation) string {
	switch {
	case row.StudyID != drawn.StudyID:
		return fmt.Sprintf("it is of study %q", row.StudyID)
	case row.Method != drawn.Method:
		return fmt.Sprintf("its method is %q, the study's is %q", row.Method, drawn.Method)
	case row.Stratum != drawn.Stratum:
		return "its stratum is not written as the study's are"
	case row.Counter != drawn.Counter:
		return fmt.Sprintf("its counter is %d and should be %d", row.Counter, drawn.Counter)
	case row.Arm != drawn.Arm || row.Block != drawn.Block:
		return fmt.Sprintf("its arm is %q in block %d, the seed gives %q in block %d", row.Arm, row.Block, drawn.Arm, drawn.Block)
	case !sameProbabilities(row.Probabilities, drawn.Probabilities):
		return fmt.Sprintf("its probabilities are %s and should be %s", row.Probabilities, drawn.Probabilities)
	}
	return ""
}

func sameProbabilities(a, b string) bool {
	var first, second map[string]float64
	if json.Unmarshal([]byte(a), &first) != nil || json.Unmarshal([]byte(b), &second) != nil || len(first) != len(second) {
		return false
	}
	for arm, probability := range first {
		if other, found := second[arm]; !found || math.Abs(probability-other) > tie {
			return false
		}
	}
	return true
}

func (v *Verifier) add(row models.Allocation) {
	v.number, v.head = row.Number, row.Hash
	v.people[row.ParticipantID] = row.Number
	v.counts[Count{Stratum: row.Stratum, Arm: row.Arm}]++
	if row.Block == 0 {
		return
	}
	block := v.blocks[row.Stratum]
	if block.Number != row.Block {
		block = Block{Number: row.Block, Opened: row.Counter, Taken: map[string]int{}}
	}
	block.Taken[row.Arm]++
	v.blocks[row.Stratum] = block
}

// Verify draws every row of a record again; nil when all are right, otherwise the
// first bad row. It cannot know of rows removed from the end.
func Verify(design Design, rows []models.Allocation) *Fault {
	v := NewVerifier(design)
	for _, row := range rows {
		if fault := v.Check(row); fault != nil {
			return fault
		}
	}
	return nil
}
