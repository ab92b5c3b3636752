package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// IndexKey keys the blind index of an installation. It is derived from the ring
// once, when the installation begins, and kept wrapped in the database, so that
// payload keys can be replaced while the index stays as it is.
type IndexKey [keySize]byte

// Index is the hex HMAC-SHA256 of value: equal for equal values under one key,
// and of no use without that key.
func (k IndexKey) Index(value string) string {
	mac := hmac.New(sha256.New, k[:])
	mac.Write([]byte(value))
	return hex.EncodeToString(mac.Sum(nil))
}

// Fingerprint names the key without telling anything of it.
func (k IndexKey) Fingerprint() (string, error) { return fingerprint(k[:]) }

func fingerprint(key []byte) (string, error) {
	sub, err := deriveBytes(key, purposeFingerprint)
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(sub[:8]), nil
}

// KeyIDs lists the ids of the ring's keys in the order of the list.
func (r *Ring) KeyIDs() []string { return slices.Clone(r.ids) }

// CurrentKeyID is the id of the key that seals.
func (r *Ring) CurrentKeyID() string { return r.current }

// Has reports whether the ring holds a key of this id.
func (r *Ring) Has(id string) bool {
	_, ok := r.keys[id]
	return ok
}

// Fingerprint names a key of the ring without telling anything of it; empty for
// an id that the ring does not hold.
func (r *Ring) Fingerprint(id string) string { return r.keys[id].fingerprint }

// DerivedIndexKey is the index key that an installation gets whose first key is
// the key id of this ring.
func (r *Ring) DerivedIndexKey(id string) IndexKey { return r.keys[id].index }

// IndexKey is the key that Index uses.
func (r *Ring) IndexKey() IndexKey { return r.index }

// WithIndexKey is the ring with the index key of an installation.
func (r *Ring) WithIndexKey(key IndexKey) *Ring {
	out := *r
	out.index = key
	return &out
}

// Index is the blind index of value under the ring's index key.
func (r *Ring) Index(value string) string { return r.index.Index(value) }

// WrapIndexKey seals the ring's index key with the key id of the ring.
func (r *Ring) WrapIndexKey(id string) ([]byte, error) {
	key, ok := r.keys[id]
	if !ok {
		return nil, unknownKey(id)
	}
	return key.wrap.Seal(nil, nil, r.index[:], []byte(id)), nil
}

// UnwrapIndexKey opens what WrapIndexKey made with the same key id.
func (r *Ring) UnwrapIndexKey(id string, wrapped []byte) (IndexKey, error) {
	key, ok := r.keys[id]
	if !ok {
		return IndexKey{}, unknownKey(id)
	}
	plain, err := key.wrap.Open(nil, nil, wrapped, []byte(id))
	if err != nil || len(plain) != keySize {
		return IndexKey{}, ErrTampered
	}
	return IndexKey(plain), nil
}
