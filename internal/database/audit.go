package database

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"gorm.io/gorm"

	"coachline/internal/wrap"
	"coachline/models"
)

// auditLock is the key of PostgreSQL's advisory lock under which rows join the
// chain; SQLite has one writer anyway.
const auditLock = 0x636f6163686175

// AddAudit has a row written at the end of the transaction tx, which Write has
// begun. It joins the chain there, because the chain's lock is then held for two
// statements and nothing else is locked after it. Where the row names no actor or
// reason it takes those of the context's models.Origin; a row without an actor is
// the system's.
func AddAudit(tx *gorm.DB, row models.AuditRow) error {
	s, err := sessionOf(tx.Statement.Context)
	if err != nil {
		return err
	}
	if _, inside := tx.Statement.ConnPool.(gorm.TxCommitter); !inside {
		return errors.New("adding to the audit outside of a transaction")
	}
	s.audit = append(s.audit, row)
	return nil
}

// writeAudit writes the rows that AddAudit has collected.
func writeAudit(tx *gorm.DB) error {
	s, err := sessionOf(tx.Statement.Context)
	if err != nil || len(s.audit) == 0 {
		return err
	}
	origin := models.OriginOf(tx.Statement.Context)
	if origin.Claim != nil {
		if err := claimKey(tx, origin.Claim); err != nil {
			return err
		}
	}
	head, err := lockAuditHead(tx)
	if err != nil {
		return err
	}
	for _, row := range s.audit {
		if row, err = chainAudit(withOrigin(row, origin), head); err != nil {
			return err
		}
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		head = auditHead{seq: *row.Seq, hash: row.Hash}
	}
	s.audit = nil
	return nil
}

// claimKey writes the row of a request's Idempotency-Key unless an earlier
// transaction of the request has; ErrKeyUsed when another request has.
func claimKey(tx *gorm.DB, claim *models.KeyClaim) error {
	row := claim.Row
	added, err := InsertRequestKey(tx, &row)
	if err != nil || added {
		return err
	}
	var held models.RequestKey
	if err := tx.Select("request_id").Where("id = ?", row.ID).Take(&held).Error; err != nil {
		return err
	}
	if claim.IsTaken = held.RequestID != row.RequestID; claim.IsTaken {
		return models.ErrKeyUsed
	}
	return nil
}

// InsertRequestKey inserts the row of an Idempotency-Key unless the key is taken, and
// removes the keys that are too old; added says whether it was inserted.
func InsertRequestKey(tx *gorm.DB, row *models.RequestKey) (added bool, err error) {
	if err := tx.Where("created_at <= ?", row.CreatedAt.Add(-models.RequestKeyLife)).Delete(&models.RequestKey{}).Error; err != nil {
		return false, err
	}
	return InsertOnce(tx, row)
}

func withOrigin(row models.AuditRow, o models.Origin) models.AuditRow {
	if row.Actor == "" {
		row.Actor = o.Actor
	}
	if row.Actor == "" {
		row.Actor = "system"
	}
	if row.Reason == "" {
		row.Reason = o.Reason
	}
	row.RequestID, row.Address, row.At = o.RequestID, o.Address, Instant(row.At)
	return row
}

// auditHead is the newest row of the chain; the zero value stands before the
// first.
type auditHead struct {
	seq  int64
	hash string
}

// lockAuditHead keeps other transactions from adding to the chain until this one
// ends.
func lockAuditHead(tx *gorm.DB) (auditHead, error) {
	if tx.Name() == "postgres" {
		if err := tx.Exec("SELECT pg_advisory_xact_lock(?)", int64(auditLock)).Error; err != nil {
			return auditHead{}, err
		}
	}
	var newest []models.AuditRow
	err := tx.Select("seq", "hash").Where("seq IS NOT NULL").Order("seq DESC").Limit(1).Find(&newest).Error
	if err != nil || len(newest) == 0 {
		return auditHead{}, err
	}
	return auditHead{seq: *newest[0].Seq, hash: newest[0].Hash}, nil
}

func chainAudit(row models.AuditRow, head auditHead) (models.AuditRow, error) {
	change, err := json.Marshal(models.AuditChange{Salt: rand.Text(), Before: row.Before, After: row.After})
	if err != nil {
		return row, fmt.Errorf("encoding an audit row: %w", err)
	}
	seq := head.seq + 1
	row.ID, row.Seq, row.Change = 0, &seq, string(change)
	row.ContentHash = hashAuditContent(row)
	row.Hash = hashAudit(row, head.hash)
	return row, nil
}

// hashAuditContent covers the sealed texts of a row.
func hashAuditContent(row models.AuditRow) string { return hashParts(row.Reason, row.Change) }

// hashAudit covers everything else of a row, the hash of its texts, and the row
// before it.
func hashAudit(row models.AuditRow, before string) string {
	return hashParts(
		before, strconv.FormatInt(*row.Seq, 10), strconv.FormatInt(row.At.UnixMicro(), 10), row.ParticipantID, row.Actor, row.Action,
		row.Object, row.Detail, row.RequestID, row.Address, row.ContentHash,
	)
}

// hashParts is the SHA-256 over parts with their lengths, in hexadecimal.
func hashParts(parts ...string) string {
	var all []byte
	for _, part := range parts {
		all = appendPart(all, part)
	}
	sum := sha256.Sum256(all)
	return hex.EncodeToString(sum[:])
}

// auditPage is how many rows of the chain are read at once.
const auditPage = 500

// CheckAudit reads the whole chain and says whether it is unbroken: every row in
// its place, its hash right, its texts as they were written, or empty because the
// participant was erased.
func (d *Database) CheckAudit(ctx context.Context) (models.AuditChain, error) {
	return d.checkAuditFrom(ctx, auditHead{})
}

// checkAuditFrom checks the rows that follow one of the chain, which is taken to be
// in order.
func (d *Database) checkAuditFrom(ctx context.Context, from auditHead) (models.AuditChain, error) {
	chain := models.AuditChain{Rows: from.seq, Head: from.hash}
	for {
		var rows []models.AuditRow
		err := d.Reader(AllowUnreadable(ctx)).Where("seq > ?", chain.Rows).Order("seq").Limit(auditPage).Find(&rows).Error
		if err != nil {
			return chain, fmt.Errorf("reading the audit: %w", Classify(err))
		}
		erased, err := d.erasedPeople(ctx, rows)
		if err != nil {
			return chain, fmt.Errorf("reading erasures: %w", Classify(err))
		}
		for _, row := range rows {
			problem := checkAuditRow(row, auditHead{seq: chain.Rows, hash: chain.Head})
			if problem == "" && row.Change == "" && !erased[row.ParticipantID] {
				problem = "reason and change are empty, and no erasure of the participant is recorded"
			}
			if problem != "" {
				chain.BrokenAt, chain.Problem = *row.Seq, problem
				return chain, nil
			}
			chain.Rows, chain.Head = *row.Seq, row.Hash
			if row.Change == "" {
				chain.Erased++
			}
		}
		if len(rows) < auditPage {
			return chain, nil
		}
	}
}

// erasedPeople returns which participants of rows without content were erased.
func (d *Database) erasedPeople(ctx context.Context, rows []models.AuditRow) (map[string]bool, error) {
	var asked []string
	for _, row := range rows {
		if row.Change == "" {
			asked = append(asked, row.ParticipantID)
		}
	}
	erased := map[string]bool{}
	if len(asked) == 0 {
		return erased, nil
	}
	var ids []string
	err := d.Reader(ctx).Model(&models.Erasure{}).Where("participant_id IN ?", asked).Pluck("participant_id", &ids).Error
	for _, id := range ids {
		erased[id] = true
	}
	return erased, err
}

// checkAuditRow says what is wrong with a row that follows head; nothing where it
// fits.
func checkAuditRow(row models.AuditRow, head auditHead) string {
	isErased := row.Reason == "" && row.Change == ""
	switch {
	case *row.Seq != head.seq+1:
		return fmt.Sprintf("row %d is missing", head.seq+1)
	case row.Hash != hashAudit(row, head.hash):
		return "the row or its hash was changed"
	case row.Unreadable != "", !isErased && row.ContentHash != hashAuditContent(row):
		return "reason or change was changed, or cannot be opened with the payload keys"
	}
	return ""
}

const (
	// wholeEvery is after what time the whole chain is checked again.
	wholeEvery = 23 * time.Hour
	// claimTime is how long a process that began to check the whole chain keeps
	// others from it.
	claimTime = time.Hour
	// wholeOverdue is after what time no claim counts any more.
	wholeOverdue = 2 * wholeEvery
)

// auditCheck is the one row of table audit_checks: up to where the chain was found
// in order. Mac covers the other columns but ClaimedAt with a key that is not in
// the database, so that who changes rows of the audit cannot have them left out of
// checks by moving the row; without a valid one the whole chain is checked.
type auditCheck struct {
	ID        int64 `gorm:"primaryKey"`
	Seq       int64
	Hash      string
	WholeAt   time.Time
	Mac       string
	ClaimedAt *time.Time
}

// TableName is the table's name.
func (auditCheck) TableName() string { return "audit_checks" }

func (d *Database) macOf(c auditCheck) string {
	return d.Index(hashParts("audit check", strconv.FormatInt(c.Seq, 10), c.Hash, strconv.FormatInt(c.WholeAt.UnixMicro(), 10)))
}

// CheckNewAudit checks the rows of the audit that are new since the last check of
// any process, and once a day, in one process, the whole chain. The chain must also
// hold the row that was the newest at the last check, so that rows which were cut off,
// and hashes that were all written anew, are found.
func (d *Database) CheckNewAudit(ctx context.Context, now time.Time) (models.AuditChain, error) {
	now = Instant(now)
	last, valid, err := d.lastAuditCheck(ctx)
	if err != nil {
		return models.AuditChain{}, err
	}
	age := now.Sub(last.WholeAt)
	whole := !valid || age < 0 || age >= wholeEvery
	if whole && valid && age < wholeOverdue {
		if whole, err = d.claimAuditCheck(ctx, now); err != nil {
			return models.AuditChain{}, err
		}
	}
	from := auditHead{seq: last.Seq, hash: last.Hash}
	if whole {
		from, last.WholeAt = auditHead{}, now
	}
	chain, err := d.checkAuditFrom(ctx, from)
	if err == nil && valid && chain.BrokenAt == 0 {
		chain, err = d.checkAuditHead(ctx, chain, auditHead{seq: last.Seq, hash: last.Hash})
	}
	chain.Whole = whole
	if err != nil || chain.BrokenAt != 0 {
		return chain, err
	}
	last.ID, last.Seq, last.Hash, last.ClaimedAt = 1, chain.Rows, chain.Head, nil
	last.Mac = d.macOf(last)
	err = d.WriteOne(ctx, func(rows *gorm.DB) error { return rows.Save(&last).Error })
	return chain, wrap.Error(err, "keeping how far the audit was checked")
}

// lastAuditCheck reads up to where the chain was checked; valid is false where that
// cannot be relied on.
func (d *Database) lastAuditCheck(ctx context.Context) (last auditCheck, valid bool, err error) {
	var rows []auditCheck
	if err := d.Reader(ctx).Limit(1).Find(&rows).Error; err != nil {
		return last, false, fmt.Errorf("reading how far the audit was checked: %w", Classify(err))
	}
	if len(rows) == 0 || rows[0].Mac != d.macOf(rows[0]) {
		return last, false, nil
	}
	return rows[0], true, nil
}

// claimAuditCheck reports whether this process is the one to check the whole chain.
func (d *Database) claimAuditCheck(ctx context.Context, now time.Time) (claimed bool, err error) {
	err = d.WriteOne(ctx, func(rows *gorm.DB) error {
		res := rows.Model(&auditCheck{}).Where("claimed_at IS NULL OR claimed_at <= ? OR claimed_at > ?", now.Add(-claimTime), now).
			UpdateColumn("claimed_at", now)
		claimed = res.RowsAffected > 0
		return res.Error
	})
	return claimed, wrap.Error(err, "claiming the check of the audit")
}

// checkAuditHead looks for the row that an earlier check ended at.
func (d *Database) checkAuditHead(ctx context.Context, chain models.AuditChain, then auditHead) (models.AuditChain, error) {
	if then.seq == 0 {
		return chain, nil
	}
	var rows []models.AuditRow
	if err := d.Reader(ctx).Select("seq", "hash").Where("seq = ?", then.seq).Find(&rows).Error; err != nil {
		return chain, fmt.Errorf("reading the audit: %w", Classify(err))
	}
	if len(rows) == 0 || rows[0].Hash != then.hash {
		chain.BrokenAt, chain.Problem = then.seq, "the row is not the one that the last check ended at"
	}
	return chain, nil
}
