package database

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"gorm.io/gorm"

	"coachline/internal/seal"
)

// ErrKeys says that the payload keys cannot be used with this database. The
// error around it names the key and the remedy.
var ErrKeys = errors.New("COACH_PAYLOAD_KEYS does not fit this database")

// payloadKey is a row of table payload_keys: a key that this database knows. It
// holds no key in the clear: a fingerprint, and the index key of the
// installation wrapped with this key.
type payloadKey struct {
	ID               string `gorm:"primaryKey"`
	Fingerprint      string
	IndexKey         string // base64
	IndexFingerprint string
	AddedAt          time.Time
	// UsedAt is when a process first sealed with the key; nil: never.
	UsedAt *time.Time
	// ResealedAt is when every row had been sealed with a newer key.
	ResealedAt *time.Time
}

// isNeeded reports whether rows may be sealed with the key.
func (k payloadKey) isNeeded() bool { return k.UsedAt != nil && k.ResealedAt == nil }

// Index returns the blind index of value under the installation's index key.
func (d *Database) Index(value string) string { return d.ring.Index(value) }

// PrepareKeys checks the key ring against the keys that the database knows,
// records new keys of the ring and takes over the installation's index key. The
// first call on a database decides the index key: the one by which the phones in
// it are found, or, where there are none, the one derived from the last key of
// the ring. ErrKeys when the ring cannot read what is stored.
func (d *Database) PrepareKeys(ctx context.Context) error {
	var ring *seal.Ring
	err := d.Write(ctx, func(tx *gorm.DB) error {
		if tx.Name() == "postgres" {
			if err := tx.Exec("LOCK TABLE payload_keys IN SHARE ROW EXCLUSIVE MODE").Error; err != nil {
				return err
			}
		}
		index, known, err := d.checkedIndexKey(tx)
		if err != nil {
			return err
		}
		ring = d.ring.WithIndexKey(index)
		return recordKeys(tx, ring, known)
	})
	if err != nil {
		return fmt.Errorf("checking the payload keys: %w", err)
	}
	d.ring = ring
	return nil
}

// CheckKeys reports whether PrepareKeys would take the ring, and describes the
// keys that the database knows. It writes nothing.
func (d *Database) CheckKeys(ctx context.Context) (string, error) {
	index, known, err := d.checkedIndexKey(d.Reader(ctx))
	if err != nil {
		return "", fmt.Errorf("checking the payload keys: %w", err)
	}
	fingerprint, err := index.Fingerprint()
	if err != nil {
		return "", err
	}
	parts := []string{"seals with " + d.ring.CurrentKeyID()}
	for _, key := range known {
		switch {
		case key.ID == d.ring.CurrentKeyID():
		case key.isNeeded():
			parts = append(parts, "reads rows of "+key.ID)
		case key.ResealedAt != nil:
			parts = append(parts, key.ID+" is needed by no row since "+key.ResealedAt.Format(time.DateOnly))
		}
	}
	return strings.Join(append(parts, "index key "+fingerprint), ", "), nil
}

// checkedIndexKey gives the index key of the installation and the keys that the
// database knows.
func (d *Database) checkedIndexKey(tx *gorm.DB) (seal.IndexKey, []payloadKey, error) {
	var known []payloadKey
	if err := tx.Order("added_at, id").Find(&known).Error; err != nil {
		return seal.IndexKey{}, nil, err
	}
	if len(known) == 0 {
		index, err := findIndexKey(tx, d.ring)
		return index, nil, err
	}
	index, err := indexKeyOf(d.ring, known)
	return index, known, err
}

// indexKeyOf checks the ring against the known keys and unwraps the index key.
func indexKeyOf(ring *seal.Ring, known []payloadKey) (seal.IndexKey, error) {
	var missing []string
	var wrapped *payloadKey
	for i, key := range known {
		switch {
		case !ring.Has(key.ID) && key.isNeeded():
			missing = append(missing, fmt.Sprintf("%s (fingerprint %s)", key.ID, key.Fingerprint))
		case !ring.Has(key.ID):
		case ring.Fingerprint(key.ID) != key.Fingerprint:
			return seal.IndexKey{}, fmt.Errorf(
				"%w: key %s is another one than before (fingerprint %s, it was %s): restore the old key under this id and give the new one an id of its own, in front",
				ErrKeys, key.ID, ring.Fingerprint(key.ID), key.Fingerprint)
		case wrapped == nil:
			wrapped = &known[i]
		}
	}
	if len(missing) > 0 {
		return seal.IndexKey{}, fmt.Errorf(
			"%w: rows are sealed with %s, which the list lacks: add it behind the new key; it can go after `coachline reseal`",
			ErrKeys, strings.Join(missing, ", "))
	}
	if wrapped == nil {
		return seal.IndexKey{}, fmt.Errorf("%w: none of its keys is known here: add the key that was in use before, behind the new one", ErrKeys)
	}
	box, err := base64.StdEncoding.DecodeString(wrapped.IndexKey)
	if err != nil {
		return seal.IndexKey{}, damagedIndexKey(wrapped.ID)
	}
	index, err := ring.UnwrapIndexKey(wrapped.ID, box)
	if err != nil {
		return seal.IndexKey{}, damagedIndexKey(wrapped.ID)
	}
	fingerprint, err := index.Fingerprint()
	if err != nil {
		return seal.IndexKey{}, err
	}
	for _, key := range known {
		if key.IndexFingerprint != fingerprint {
			return seal.IndexKey{}, damagedIndexKey(key.ID)
		}
	}
	return index, nil
}

func damagedIndexKey(id string) error {
	return fmt.Errorf("%w: the index key in row %s of table payload_keys is damaged: restore the row from a backup", ErrKeys, id)
}

// phonesLooked bounds how many participants are read to find the index key of an
// installation that has none recorded.
const phonesLooked = 100

// findIndexKey finds the index key of a database that has none recorded: the one
// derived from that key of the ring by which the oldest readable participant is
// found. Without participants it is that of the last key in the list.
func findIndexKey(tx *gorm.DB, ring *seal.Ring) (seal.IndexKey, error) {
	var phones []struct{ ID, Phone, PhoneIndex string }
	err := tx.Table("participants").Select("id", "phone", "phone_index").Order("created_at, id").Limit(phonesLooked).Scan(&phones).Error
	if err != nil {
		return seal.IndexKey{}, err
	}
	for _, row := range phones {
		box, err := sealedBytes(reflect.String, row.Phone)
		if err != nil || len(box) == 0 {
			continue // damaged rows are for lists to show
		}
		at, err := encodePlace("participants", "phone", []any{row.ID})
		if err != nil {
			return seal.IndexKey{}, err
		}
		phone, err := ring.Open(box, at)
		if errors.Is(err, seal.ErrUnknownKey) {
			return seal.IndexKey{}, fmt.Errorf("%w: rows are sealed with key %s, which the list lacks: add it behind the new key", ErrKeys, seal.KeyOf(box))
		}
		if err != nil {
			continue
		}
		for _, id := range ring.KeyIDs() {
			if key := ring.DerivedIndexKey(id); key.Index(string(phone)) == row.PhoneIndex {
				return key, nil
			}
		}
		return seal.IndexKey{}, fmt.Errorf(
			"%w: phone numbers are indexed with a key that the list lacks: add the key that was last in the list when this database was new", ErrKeys)
	}
	if len(phones) > 0 {
		return seal.IndexKey{}, fmt.Errorf("%w: no participant's phone number can be opened with it: restore the keys that were in use before", ErrKeys)
	}
	return ring.IndexKey(), nil
}

// recordKeys adds the ring's keys that the database does not know, and notes
// that rows are sealed with the current one from now on.
func recordKeys(tx *gorm.DB, ring *seal.Ring, known []payloadKey) error {
	now := Instant(time.Now())
	index, err := ring.IndexKey().Fingerprint()
	if err != nil {
		return err
	}
	byID := map[string]payloadKey{}
	for _, key := range known {
		byID[key.ID] = key
	}
	for _, id := range ring.KeyIDs() {
		if _, found := byID[id]; found {
			continue
		}
		box, err := ring.WrapIndexKey(id)
		if err != nil {
			return err
		}
		row := payloadKey{
			ID: id, Fingerprint: ring.Fingerprint(id), IndexKey: base64.StdEncoding.EncodeToString(box), IndexFingerprint: index, AddedAt: now,
		}
		if len(known) == 0 {
			row.UsedAt = &now // an older build may have sealed with any of them
		}
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
	}
	current := byID[ring.CurrentKeyID()]
	if current.isNeeded() {
		return nil
	}
	return tx.Model(&payloadKey{}).Where("id = ?", ring.CurrentKeyID()).
		UpdateColumns(map[string]any{"used_at": now, "resealed_at": nil}).Error
}
