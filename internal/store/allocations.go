package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/trial"
	"coachline/internal/wrap"
	"coachline/models"
)

// lockArms reads how a study draws its arms, and keeps other transactions from
// drawing until this one ends. False for a study without arms.
func lockArms(tx *gorm.DB, studyID string) (trial.Design, bool, error) {
	study, err := readStudy(tx, studyID)
	if err != nil {
		return trial.Design{}, false, err
	}
	design, found, err := designOf(study)
	if err != nil || !found {
		return design, false, err
	}
	// What is read after this is newer than what the transaction before it wrote.
	if err := forUpdate(tx).Where("id = ?", studyID).Take(&study).Error; err != nil {
		return design, false, err
	}
	return designOf(study)
}

// designOf returns how a study draws its arms; false for one without arms.
func designOf(study models.Study) (trial.Design, bool, error) {
	settings, err := study.ReadSettings()
	return trial.Design{StudyID: study.ID, Seed: study.Seed, Arms: settings.Arms, Randomisation: settings.Randomisation}, len(settings.Arms) > 0, err
}

// levelsOf adds to the given strata those that are fields of the participant.
func levelsOf(p models.Participant, strata map[string]string) map[string]string {
	levels := map[string]string{}
	for field, text := range p.Texts() {
		if field.IsStratum {
			levels[field.Name] = *text
		}
	}
	for name, level := range strata {
		levels[name] = level
	}
	return levels
}

// allocateNew draws the arm of a participant who is being enrolled, where the study
// has arms and all strata are known. It comes before any row is written, so that
// transactions take the study's lock first.
func allocateNew(tx *gorm.DB, p *models.Participant, in newMember) error {
	p.Arm = ""
	design, found, err := lockArms(tx, p.StudyID)
	if err != nil {
		return err
	}
	if err := models.CheckStrata(design.Randomisation.Strata, in.strata); err != nil || !found {
		return err
	}
	_, err = addAllocation(tx, design, p, trial.Person{ParticipantID: p.ID, Levels: levelsOf(*p, in.strata), By: in.by.Actor, At: p.CreatedAt})
	if errors.Is(err, trial.ErrStrata) {
		return nil // allocated when the last stratum becomes known
	}
	return err
}

// addAllocation draws and records an arm and sets it in p, whose row the caller
// writes. The audit says that it was done, and not the arm.
func addAllocation(tx *gorm.DB, design trial.Design, p *models.Participant, who trial.Person) (models.Allocation, error) {
	stratum, err := design.StratumOf(who.Levels)
	if err != nil {
		return models.Allocation{}, err
	}
	past, err := readPast(tx, design, stratum)
	if err != nil {
		return models.Allocation{}, err
	}
	who.At = instant(who.At)
	row, err := design.Allocate(past, who)
	if err != nil {
		return row, err
	}
	if err := tx.Create(&row).Error; err != nil {
		return row, err
	}
	p.Arm = row.Arm
	return row, database.AddAudit(tx, models.AuditRow{
		ParticipantID: p.ID, Actor: who.By, Action: "allocate", Object: studyObject(design.StudyID), Detail: fmt.Sprintf("number %d", row.Number), At: who.At,
	})
}

// readPast reads of the record what the next draw in a stratum depends on. The
// study is locked.
func readPast(tx *gorm.DB, design trial.Design, stratum string) (trial.Past, error) {
	var past trial.Past
	var newest []models.Allocation
	if err := tx.Where("study_id = ?", design.StudyID).Order("number DESC").Limit(1).Find(&newest).Error; err != nil {
		return past, err
	}
	if len(newest) > 0 {
		past.Number, past.Head = newest[0].Number, newest[0].Hash
	}
	var err error
	switch design.Randomisation.Method {
	case models.RandomSimple:
	case models.RandomBlocks:
		past.Block, err = newestBlock(tx, design.StudyID, stratum)
	case models.RandomMinimisation:
		err = tx.Model(&models.Allocation{}).Select("stratum, arm, count(*) AS people").Where("study_id = ?", design.StudyID).
			Group("stratum, arm").Scan(&past.Counts).Error
	}
	return past, err
}

// newestBlock reads the newest permuted block of a stratum.
func newestBlock(tx *gorm.DB, studyID, stratum string) (trial.Block, error) {
	var block trial.Block
	var rows []models.Allocation
	newest := tx.Model(&models.Allocation{}).Select("max(block)").Where("study_id = ? AND stratum = ?", studyID, stratum)
	err := tx.Where("study_id = ? AND stratum = ? AND block = (?)", studyID, stratum, newest).Order("number").Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return block, err
	}
	block = trial.Block{Number: rows[0].Block, Opened: rows[0].Counter, Taken: map[string]int{}}
	for _, row := range rows {
		block.Taken[row.Arm]++
	}
	return block, nil
}

// Allocations draws the arms of a study.
type Allocations struct{ db *database.Database }

// Allocate draws the arm of an enrolled person who has none, now that all strata are
// known, and returns the row. ErrNotFound when unknown, removed or in another study,
// ErrConflict for one who has an arm, *FieldError for strata that are unknown or
// missing and for a study without arms.
func (s *Allocations) Allocate(ctx context.Context, in models.AllocationRequest) (models.Allocation, error) {
	var row models.Allocation
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		design, found, err := lockArms(tx, in.StudyID)
		if err != nil {
			return err
		}
		if !found {
			return models.BadField("study", "has no arms")
		}
		if err := models.CheckStrata(design.Randomisation.Strata, in.Strata); err != nil {
			return err
		}
		p, err := lockEnrolled(tx, in.ParticipantID)
		if err != nil {
			return err
		}
		switch {
		case p.StudyID != in.StudyID:
			return models.ErrNotFound
		case p.Arm != "":
			return models.ErrConflict
		}
		row, err = addAllocation(tx, design, &p, trial.Person{ParticipantID: p.ID, Levels: levelsOf(p, in.Strata), By: in.Actor, At: in.Now})
		if errors.Is(err, trial.ErrStrata) {
			return models.BadField("strata", "%s", err.Error())
		}
		if err != nil {
			return err
		}
		if err := saveParticipant(tx, &p, instant(in.Now)); err != nil {
			return err
		}
		// The workflow's rules depend on the arm.
		_, err = insertNotice(tx, models.Notice{ParticipantID: p.ID, Kind: models.NoticeUpdate, CreatedAt: instant(in.Now)})
		return err
	})
	return row, wrap.Error(classify(err), "allocating a participant")
}

// List returns a page of a study's allocations with numbers above after, in
// order. A limit outside 1..200 counts as 200.
func (s *Allocations) List(ctx context.Context, studyID string, after int64, limit int) ([]models.Allocation, error) {
	var rows []models.Allocation
	err := s.db.Reader(ctx).Where("study_id = ? AND number > ?", studyID, after).Order("number").Limit(pageLimit(limit)).Find(&rows).Error
	return rows, wrap.Error(classify(err), "reading allocations")
}

// CheckAllocations draws every allocation of a study again, compares the arms of
// its people with the record, and checks the decision points. ErrNotFound for an unknown study.
func (s *Allocations) CheckAllocations(ctx context.Context, studyID string) (models.AllocationCheck, error) {
	return checkAllocations(ctx, s.db, studyID)
}

// CheckEveryAllocation checks the allocations and decision points of all studies of a
// database and returns how many allocations there are. The error names the study and the first bad row.
func CheckEveryAllocation(ctx context.Context, base *database.Database) (int64, error) {
	var ids []string
	if err := base.Reader(ctx).Model(&models.Study{}).Order("id").Pluck("id", &ids).Error; err != nil {
		return 0, fmt.Errorf("reading studies: %w", classify(err))
	}
	var rows int64
	for _, id := range ids {
		check, err := checkAllocations(ctx, base, id)
		rows += check.Rows
		if err == nil && check.Problem != "" {
			err = fmt.Errorf("study %s, row %d: %s; compare with a backup", id, check.BadRow, check.Problem)
		}
		if d := check.Decisions; err == nil && d != nil && d.Problem != "" {
			err = fmt.Errorf("study %s, decision point %d of participant %s: %s; compare with a backup", id, d.BadRow, d.ParticipantID, d.Problem)
		}
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

func checkAllocations(ctx context.Context, base *database.Database, studyID string) (models.AllocationCheck, error) {
	var out models.AllocationCheck
	err := base.Snapshot(ctx, func(tx *gorm.DB) error {
		out = models.AllocationCheck{}
		study, err := readStudy(tx, studyID)
		if err != nil {
			return err
		}
		design, _, err := designOf(study)
		if err != nil {
			return err
		}
		decisions, err := checkDecisions(tx, study)
		if err != nil {
			return err
		}
		if decisions != (models.DecisionCheck{}) {
			out.Decisions = &decisions
		}
		if err := checkRows(tx, design, &out); err != nil || out.Problem != "" {
			return err
		}
		return checkArms(tx, studyID, &out)
	})
	return out, wrap.Error(classify(err), "checking allocations")
}

func checkRows(tx *gorm.DB, design trial.Design, out *models.AllocationCheck) error {
	verifier := trial.NewVerifier(design)
	for {
		var rows []models.Allocation
		if err := tx.Where("study_id = ? AND number > ?", design.StudyID, out.Rows).Order("number").Limit(maxPage).Find(&rows).Error; err != nil {
			return err
		}
		for _, row := range rows {
			if fault := verifier.Check(row); fault != nil {
				out.BadRow, out.Problem = fault.Number, fault.Problem
				return nil
			}
			out.Rows, out.Head = row.Number, row.Hash
		}
		if len(rows) < maxPage {
			return nil
		}
	}
}

const armsDiffer = "SELECT p.id, coalesce(a.number, 0) AS number FROM participants p LEFT JOIN allocations a ON a.study_id = p.study_id AND a.participant_id = p.id " +
	"WHERE p.study_id = ? AND p.arm <> coalesce(a.arm, '') ORDER BY 2, 1 LIMIT 1"

// checkArms finds a person whose arm is not the one of the record; so rows removed
// from its end are found too.
func checkArms(tx *gorm.DB, studyID string, out *models.AllocationCheck) error {
	var found []struct {
		ID     string
		Number int64
	}
	if err := tx.Raw(armsDiffer, studyID).Scan(&found).Error; err != nil || len(found) == 0 {
		return err
	}
	out.BadRow = found[0].Number
	out.Problem = fmt.Sprintf("the arm of participant %s is not the one of the record", found[0].ID)
	if found[0].Number == 0 {
		out.BadRow = out.Rows + 1
		out.Problem = fmt.Sprintf("participant %s has an arm, and the record has no row for it", found[0].ID)
	}
	return nil
}

// StudySeed returns a study's seed, for a check of its allocations elsewhere, and
// records who read it: with the seed the next arms can be foretold. ErrNotFound.
func (s *Allocations) StudySeed(ctx context.Context, studyID, actor string, now time.Time) ([]byte, error) {
	var seed []byte
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		study, err := readStudy(tx, studyID)
		if err != nil {
			return err
		}
		seed = study.Seed
		return database.AddAudit(tx, models.AuditRow{Actor: actor, Action: "study_seed_read", Object: studyObject(studyID), At: instant(now)})
	})
	return seed, wrap.Error(classify(err), "reading the seed")
}
