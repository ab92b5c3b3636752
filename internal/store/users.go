package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
)

// Users keeps the people who operate the programme.
type Users struct{ db *database.Database }

// CreateUser adds a user with an audit row. ErrConflict when the login or the
// subject is taken.
func (s *Users) CreateUser(ctx context.Context, u models.User) (models.User, error) {
	u.CreatedAt, u.UpdatedAt = instant(u.CreatedAt), instant(u.CreatedAt)
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Create(&u).Error; err != nil {
			return err
		}
		return database.AddAudit(tx, models.AuditRow{
			Actor: u.CreatedBy, Action: "user_create", Object: userObject(u.ID), At: u.CreatedAt, After: userFields(u),
		})
	})
	return u, wrap.Error(err, "creating the user")
}

func userObject(id string) string { return "user:" + id }

func userFields(u models.User) map[string]string {
	fields := map[string]string{"login": u.Login, "name": u.Name, "role": u.Role, "subject": u.Subject, "disabled": "no"}
	if u.DisabledAt != nil {
		fields["disabled"] = "yes"
	}
	return fields
}

// User returns a user. ErrNotFound for an unknown id.
func (s *Users) User(ctx context.Context, id string) (models.User, error) {
	return s.findUser(ctx, "id = ?", id)
}

// UserByLogin returns the user who signs in under a name, in any case.
// ErrNotFound when there is none.
func (s *Users) UserByLogin(ctx context.Context, login string) (models.User, error) {
	return s.findUser(ctx, "login = ?", strings.ToLower(login))
}

// UserBySubject returns the user with an identity at the OpenID Connect provider.
// ErrNotFound when there is none.
func (s *Users) UserBySubject(ctx context.Context, subject string) (models.User, error) {
	return s.findUser(ctx, "subject <> '' AND subject = ?", subject)
}

func (s *Users) findUser(ctx context.Context, where string, args ...any) (models.User, error) {
	var u models.User
	err := s.db.Reader(ctx).Where(where, args...).Take(&u).Error
	return u, wrap.Error(classify(err), "reading a user")
}

// HasUser reports whether there is any user, also one who is disabled.
func (s *Users) HasUser(ctx context.Context) (bool, error) {
	var n int64
	err := s.db.Reader(ctx).Model(&models.User{}).Limit(1).Count(&n).Error
	return n > 0, wrap.Error(err, "looking for users")
}

// List returns all users, by login.
func (s *Users) List(ctx context.Context) ([]models.User, error) {
	var rows []models.User
	err := s.db.Reader(ctx).Order("login").Find(&rows).Error
	return rows, wrap.Error(classify(err), "reading users")
}

// errLastAdmin refuses a change that would leave no user who can manage users.
var errLastAdmin = models.BadField("role", "is the last enabled user with role admin; make another one first")

// UpdateUser applies a patch, with an audit row of what was before and after, and
// returns the user. A new role, a new password or a disabling ends the user's
// sessions. ErrNotFound for an unknown id; *FieldError when no admin would be
// left.
func (s *Users) UpdateUser(ctx context.Context, u models.UserUpdate) (models.User, error) {
	now := instant(u.Now)
	var out models.User
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		out = models.User{}
		if err := forUpdate(tx).Where("id = ?", u.ID).Take(&out).Error; err != nil {
			return err
		}
		if u.Check != nil {
			if err := u.Check(out); err != nil {
				return err
			}
		}
		old := out
		out = applyUserPatch(out, u.Patch, now)
		if isAdmin(old) && !isAdmin(out) {
			if err := requireOtherAdmin(tx, old.ID); err != nil {
				return err
			}
		}
		if err := tx.Select("*").UpdateColumns(&out).Error; err != nil {
			return err
		}
		if old.Role != out.Role || old.PasswordHash != out.PasswordHash || out.DisabledAt != nil {
			if err := tx.Where("user_id = ?", u.ID).Delete(&models.Session{}).Error; err != nil {
				return err
			}
		}
		entry := models.AuditRow{Actor: u.Actor, Action: "user_update", Object: userObject(u.ID), At: now, Before: userFields(old), After: userFields(out)}
		if old.PasswordHash != out.PasswordHash {
			entry.Detail = "password"
		}
		return database.AddAudit(tx, entry)
	})
	return out, wrap.Error(err, "changing the user")
}

func applyUserPatch(u models.User, p models.UserChange, now time.Time) models.User {
	for _, field := range []struct{ to, from *string }{
		{&u.Name, p.Name}, {&u.Role, p.Role}, {&u.PasswordHash, p.PasswordHash}, {&u.Subject, p.Subject},
	} {
		if field.from != nil {
			*field.to = *field.from
		}
	}
	switch {
	case p.Disabled == nil:
	case *p.Disabled && u.DisabledAt == nil:
		u.DisabledAt = &now
	case !*p.Disabled:
		u.DisabledAt = nil
	}
	u.UpdatedAt = now
	return u
}

func isAdmin(u models.User) bool { return u.Role == models.RoleAdmin && u.DisabledAt == nil }

// requireOtherAdmin locks the other admins, so that two cannot disable each other
// at once.
func requireOtherAdmin(tx *gorm.DB, id string) error {
	var others []models.User
	err := forUpdate(tx).Select("id").Where("role = ? AND disabled_at IS NULL AND id <> ?", models.RoleAdmin, id).Order("id").Find(&others).Error
	if err == nil && len(others) == 0 {
		err = errLastAdmin
	}
	return err
}

// NoteLogin records that a user signed in, with an audit row.
func (s *Users) NoteLogin(ctx context.Context, userID string, at time.Time) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Model(&models.User{}).Where("id = ?", userID).UpdateColumn("last_login_at", instant(at)).Error; err != nil {
			return err
		}
		return database.AddAudit(tx, models.AuditRow{Action: "login", Object: userObject(userID), At: at})
	})
	return wrap.Error(err, "recording the login")
}

// Sessions keeps the browsers that are signed in.
type Sessions struct{ db *database.Database }

// SaveSession writes a new session.
func (s *Sessions) SaveSession(ctx context.Context, row models.Session) error {
	row.CreatedAt, row.LastSeenAt, row.ExpiresAt = instant(row.CreatedAt), instant(row.LastSeenAt), instant(row.ExpiresAt)
	err := s.db.Write(ctx, func(tx *gorm.DB) error { return tx.Create(&row).Error })
	return wrap.Error(err, "saving the session")
}

// KeepSession changes a session that is in use. One that has ended meanwhile
// stays ended.
func (s *Sessions) KeepSession(ctx context.Context, row models.Session) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Model(&models.Session{}).Where("token_hash = ?", row.TokenHash).UpdateColumns(map[string]any{
			"user_id": row.UserID, "data": row.Data, "last_seen_at": instant(row.LastSeenAt), "expires_at": instant(row.ExpiresAt),
		}).Error
	})
	return wrap.Error(err, "keeping the session")
}

// FindSession returns the session of a token's hash that has not expired at an
// instant. ErrNotFound when there is none.
func (s *Sessions) FindSession(ctx context.Context, tokenHash string, at time.Time) (models.Session, error) {
	var row models.Session
	err := s.db.Reader(ctx).Where("token_hash = ? AND expires_at > ?", tokenHash, instant(at)).Take(&row).Error
	return row, wrap.Error(classify(err), "reading the session")
}

// DeleteSession ends the session of a token's hash. Safe to repeat.
func (s *Sessions) DeleteSession(ctx context.Context, tokenHash string) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Where("token_hash = ?", tokenHash).Delete(&models.Session{}).Error
	})
	return wrap.Error(err, "ending the session")
}

// List returns the sessions that have not expired at an instant, newest
// first.
func (s *Sessions) List(ctx context.Context, at time.Time) ([]models.Session, error) {
	var rows []models.Session
	err := s.db.Reader(ctx).Where("user_id <> '' AND expires_at > ?", instant(at)).Order("last_seen_at DESC").Limit(maxPage).Find(&rows).Error
	return rows, wrap.Error(classify(err), "reading sessions")
}

// HasSession reports whether a session has not ended at an instant.
func (s *Sessions) HasSession(ctx context.Context, id string, at time.Time) (bool, error) {
	var count int64
	err := s.db.Reader(ctx).Model(&models.Session{}).Where("id = ? AND expires_at > ?", id, instant(at)).Count(&count).Error
	if err != nil {
		return false, fmt.Errorf("reading a session: %w", classify(err))
	}
	return count > 0, nil
}

// RevokeSession ends a session by its id, with an audit row. ErrNotFound for an
// unknown id.
func (s *Sessions) RevokeSession(ctx context.Context, id, actor string, now time.Time) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		res := tx.Where("id = ?", id).Delete(&models.Session{})
		if res.Error == nil && res.RowsAffected == 0 {
			return models.ErrNotFound
		}
		return errors.Join(res.Error, database.AddAudit(tx, models.AuditRow{Actor: actor, Action: "session_revoke", Object: "session:" + id, At: now}))
	})
	return wrap.Error(err, "ending the session")
}

// DeleteExpiredSessions removes sessions that had expired at an instant.
func (s *Sessions) DeleteExpiredSessions(ctx context.Context, at time.Time) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Where("expires_at <= ?", instant(at)).Delete(&models.Session{}).Error
	})
	return wrap.Error(err, "removing expired sessions")
}

// Tokens keeps the tokens of scripts.
type Tokens struct{ db *database.Database }

// CreateToken adds an API token with an audit row.
func (s *Tokens) CreateToken(ctx context.Context, t models.Token) (models.Token, error) {
	t.CreatedAt, t.ExpiresAt = instant(t.CreatedAt), instant(t.ExpiresAt)
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Create(&t).Error; err != nil {
			return err
		}
		return database.AddAudit(tx, models.AuditRow{
			Actor: t.CreatedBy, Action: "token_create", Object: tokenObject(t.ID), At: t.CreatedAt,
			After: map[string]string{"name": t.Name, "scopes": t.Scopes, "expires_at": t.ExpiresAt.Format(time.RFC3339)},
		})
	})
	return t, wrap.Error(err, "creating the token")
}

func tokenObject(id string) string { return "token:" + id }

// List returns all API tokens, newest first.
func (s *Tokens) List(ctx context.Context) ([]models.Token, error) {
	var rows []models.Token
	err := s.db.Reader(ctx).Order("created_at DESC, id").Find(&rows).Error
	return rows, wrap.Error(classify(err), "reading tokens")
}

// tokenUseStep is how exactly the last use of a token is kept.
const tokenUseStep = time.Minute

// UseToken returns the token with a hash and notes that it was used. ErrNotFound
// for an unknown, revoked or expired one.
func (s *Tokens) UseToken(ctx context.Context, hash string, now time.Time) (models.Token, error) {
	now = instant(now)
	var t models.Token
	err := s.db.Reader(ctx).Where("token_hash = ?", hash).Take(&t).Error
	if err == nil && !t.IsValid(now) {
		err = models.ErrNotFound
	}
	if err != nil {
		return models.Token{}, fmt.Errorf("reading a token: %w", classify(err))
	}
	if t.LastUsedAt != nil && now.Sub(*t.LastUsedAt) < tokenUseStep {
		return t, nil
	}
	t.LastUsedAt = &now
	err = s.db.WriteOne(ctx, func(rows *gorm.DB) error { return rows.Select("last_used_at").UpdateColumns(&t).Error })
	return t, wrap.Error(err, "noting the use of a token")
}

// RevokeToken ends a token, with an audit row, and returns it. ErrNotFound for an
// unknown one; a repeat changes nothing.
func (s *Tokens) RevokeToken(ctx context.Context, id, actor string, now time.Time) (models.Token, error) {
	now = instant(now)
	var t models.Token
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		t = models.Token{}
		if err := forUpdate(tx).Where("id = ?", id).Take(&t).Error; err != nil || t.RevokedAt != nil {
			return err
		}
		t.RevokedAt = &now
		if err := tx.Select("revoked_at").UpdateColumns(&t).Error; err != nil {
			return err
		}
		return database.AddAudit(tx, models.AuditRow{Actor: actor, Action: "token_revoke", Object: tokenObject(id), Detail: t.Name, At: now})
	})
	return t, wrap.Error(err, "revoking the token")
}
