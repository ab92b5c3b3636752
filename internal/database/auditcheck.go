package database

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"gorm.io/gorm"

	"coachline/models"
)

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
	if err := d.WriteOne(ctx, func(rows *gorm.DB) error { return rows.Save(&last).Error }); err != nil {
		return chain, fmt.Errorf("keeping how far the audit was checked: %w", err)
	}
	return chain, nil
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
	if err != nil {
		return false, fmt.Errorf("claiming the check of the audit: %w", err)
	}
	return claimed, nil
}

// checkAuditHead looks for the row that an earlier check ended at.
func (d *Database) checkAuditHead(ctx context.Context, chain models.AuditChain, then auditHead) (models.AuditChain, error) {
	if then.seq == 0 {
		return chain, nil
	}
	var rows []models.Audit
	if err := d.Reader(ctx).Select("seq", "hash").Where("seq = ?", then.seq).Find(&rows).Error; err != nil {
		return chain, fmt.Errorf("reading the audit: %w", Classify(err))
	}
	if len(rows) == 0 || rows[0].Hash != then.hash {
		chain.BrokenAt, chain.Problem = then.seq, "the row is not the one that the last check ended at"
	}
	return chain, nil
}
