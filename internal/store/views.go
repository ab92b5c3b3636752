package store

import (
	"context"
	"strconv"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
)

// Views keeps filters of people under a name.
type Views struct{ db *database.Database }

// AddView stores a view with its audit row and returns it with its id. ErrConflict
// when the owner has one of the name, *FieldError when they have too many.
func (s *Views) AddView(ctx context.Context, v models.PeopleView) (models.PeopleView, error) {
	v.CreatedAt = instant(v.CreatedAt)
	var out models.PeopleView
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		out = v
		var kept int64
		if err := tx.Model(&models.PeopleView{}).Where("owner = ?", v.Owner).Count(&kept).Error; err != nil {
			return err
		}
		if kept >= models.MostViews {
			return models.BadField("name", "you have %d views; delete one first", kept)
		}
		if err := tx.Create(&out).Error; err != nil {
			return err
		}
		return database.AddAudit(tx, models.AuditRow{
			Actor: v.Owner, Action: "view_add", Object: viewObject(out.ID), At: v.CreatedAt, After: viewFields(out),
		})
	})
	return out, wrap.Error(err, "saving the view")
}

func viewObject(id int64) string { return "view/" + strconv.FormatInt(id, 10) }

func viewFields(v models.PeopleView) map[string]string {
	return map[string]string{"name": v.Name, "query": v.Query, "shared": strconv.FormatBool(v.Shared)}
}

// List returns the views that an operator is shown, by name: their own and those
// that are shared.
func (s *Views) List(ctx context.Context, actor string) ([]models.PeopleView, error) {
	var rows []models.PeopleView
	err := s.db.Reader(ctx).Where("owner = ? OR shared", actor).Order("name, id").Find(&rows).Error
	return rows, wrap.Error(classify(err), "reading views")
}

// DeleteView removes a view with an audit row. ErrNotFound for an unknown id, and
// for a view of another operator unless any may be removed.
func (s *Views) DeleteView(ctx context.Context, r models.ViewRemoval) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		var row models.PeopleView
		find := forUpdate(tx).Where("id = ?", r.ID)
		if !r.Any {
			find = find.Where("owner = ?", r.Actor)
		}
		if err := find.Take(&row).Error; err != nil {
			return err
		}
		if err := tx.Delete(&row).Error; err != nil {
			return err
		}
		return database.AddAudit(tx, models.AuditRow{
			Actor: r.Actor, Action: "view_delete", Object: viewObject(row.ID), At: instant(r.Now), Before: viewFields(row),
		})
	})
	return wrap.Error(err, "deleting the view")
}
