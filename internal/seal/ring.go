// Package seal encrypts what must not be read at rest: stored texts and
// Temporal payloads. It also makes blind indexes, by which a sealed value can
// be looked up.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"coachline/internal/wrap"
)

const (
	keySize = 32
	// The first byte of a sealed value is its version: version 1 authenticates
	// the key id only, version 2 also the place that the value belongs to.
	versionUnbound = 1
	versionBound   = 2
	// maxKeyID keeps the length of a key id in one byte.
	maxKeyID = 64
)

// Purposes separate the keys derived from one ring key: a stored text can
// never be passed off as a payload, nor an index tell anything about either.
const (
	purposeStore   = "coachline store v1"
	purposePayload = "coachline payload v1"
	purposeIndex   = "coachline index v1"
	// purposeWrap seals the index key, purposeFingerprint names a key without
	// telling anything of it.
	purposeWrap        = "coachline index key wrap v1"
	purposeFingerprint = "coachline key fingerprint v1"
)

var (
	// ErrUnknownKey is for a value sealed under a key id that the ring does not hold.
	ErrUnknownKey = errors.New("sealed with a key that is not in the ring")
	// ErrTampered is for a value that this package did not seal, or that was cut
	// short or changed since.
	ErrTampered = errors.New("sealed value is damaged")
)

var keyIDForm = regexp.MustCompile(`^[0-9A-Za-z._-]+$`)

// Ring seals with its current key and opens with any of its keys. It is safe
// for concurrent use.
type Ring struct {
	current string
	ids     []string
	keys    map[string]derived
	index   IndexKey
}

type derived struct {
	store       cipher.AEAD
	payload     cipher.AEAD
	wrap        cipher.AEAD
	index       IndexKey
	fingerprint string
}

// Parse reads "keyid:base64(32 bytes),...". The first key is the current one;
// rotation puts a new key in front and keeps the old ones for reading. Until
// WithIndexKey gives the ring the index key of an installation, Index uses the
// one derived from the last key of the list. Errors name the entry and never
// show key material.
func Parse(list string) (*Ring, error) {
	ring := &Ring{keys: map[string]derived{}}
	for i, entry := range strings.Split(list, ",") {
		id, key, err := parseEntry(strings.TrimSpace(entry))
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", i+1, err)
		}
		if _, taken := ring.keys[id]; taken {
			return nil, fmt.Errorf("key %d: id %q is used twice", i+1, id)
		}
		if ring.keys[id], err = derive(key); err != nil {
			return nil, fmt.Errorf("key %d: %w", i+1, err)
		}
		ring.ids = append(ring.ids, id)
	}
	ring.current = ring.ids[0]
	ring.index = ring.keys[ring.ids[len(ring.ids)-1]].index
	return ring, nil
}

func parseEntry(entry string) (id string, key []byte, err error) {
	if entry == "" {
		return "", nil, errors.New("it is empty: want keyid:base64")
	}
	id, encoded, ok := strings.Cut(entry, ":")
	if !ok {
		return "", nil, errors.New("want keyid:base64")
	}
	if !keyIDForm.MatchString(id) || len(id) > maxKeyID {
		return "", nil, fmt.Errorf("the id must be 1 to %d letters, digits, dots, dashes or underscores", maxKeyID)
	}
	key, err = base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", nil, fmt.Errorf("id %q: not base64", id)
	}
	if len(key) != keySize {
		return "", nil, fmt.Errorf("id %q: want %d bytes, got %d", id, keySize, len(key))
	}
	return id, key, nil
}

func derive(key []byte) (derived, error) {
	var out derived
	var err error
	if out.store, err = deriveAEAD(key, purposeStore); err != nil {
		return derived{}, err
	}
	if out.payload, err = deriveAEAD(key, purposePayload); err != nil {
		return derived{}, err
	}
	if out.wrap, err = deriveAEAD(key, purposeWrap); err != nil {
		return derived{}, err
	}
	index, err := deriveBytes(key, purposeIndex)
	if err != nil {
		return derived{}, err
	}
	out.index = IndexKey(index)
	out.fingerprint, err = fingerprint(key)
	return out, err
}

func deriveBytes(key []byte, purpose string) ([]byte, error) {
	sub, err := hkdf.Key(sha256.New, key, nil, purpose, keySize)
	return sub, wrap.Error(err, "deriving a key")
}

func deriveAEAD(key []byte, purpose string) (cipher.AEAD, error) {
	sub, err := deriveBytes(key, purpose)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(sub)
	if err != nil {
		return nil, fmt.Errorf("building the cipher: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return aead, wrap.Error(err, "building the cipher")
}

// Generate makes one fresh entry for Parse, with the id "k1".
func Generate() (string, error) {
	key := make([]byte, keySize)
	if _, err := rand.Read(key); err != nil {
		return "", fmt.Errorf("drawing a key: %w", err)
	}
	return "k1:" + base64.StdEncoding.EncodeToString(key), nil
}

// Seal encrypts with the current key for one place, which Open must name again:
// the same bytes open nowhere else. The result holds a version, the key's id, a
// random nonce and the ciphertext; sealing twice gives two results.
func (r *Ring) Seal(plain, place []byte) ([]byte, error) {
	head := header(versionBound, r.current)
	return r.keys[r.current].store.Seal(head, nil, plain, bind(head, place)), nil
}

// Open decrypts what Seal made for the same place with any key of the ring, and
// values from before values were bound to a place. ErrUnknownKey when the ring
// does not hold the key, ErrTampered when the value is damaged or belongs to
// another place.
func (r *Ring) Open(sealed, place []byte) ([]byte, error) {
	if len(sealed) < 2 || len(sealed) < 2+int(sealed[1]) {
		return nil, ErrTampered
	}
	headSize := 2 + int(sealed[1])
	head, body := sealed[:headSize], sealed[headSize:]
	bound := head
	switch head[0] {
	case versionUnbound:
	case versionBound:
		bound = bind(head, place)
	default:
		return nil, ErrTampered
	}
	key, ok := r.keys[string(head[2:])]
	if !ok {
		return nil, unknownKey(string(head[2:]))
	}
	plain, err := key.store.Open(nil, nil, body, bound)
	if err != nil {
		return nil, ErrTampered
	}
	return plain, nil
}

// IsFresh reports whether a sealed value is bound to a place and sealed with the
// current key. It reads the value's header only.
func (r *Ring) IsFresh(sealed []byte) bool {
	head := header(versionBound, r.current)
	return len(sealed) > len(head) && string(sealed[:len(head)]) == string(head)
}

// KeyOf is the id of the key that a value is sealed with; empty when the value
// is not of this package's form.
func KeyOf(sealed []byte) string {
	if len(sealed) < 2 || len(sealed) < 2+int(sealed[1]) || !keyIDForm.Match(sealed[2:2+int(sealed[1])]) {
		return ""
	}
	return string(sealed[2 : 2+int(sealed[1])])
}

// header is authenticated with the value, so that neither the version nor the
// key id can be changed.
func header(version byte, id string) []byte {
	return append([]byte{version, byte(len(id))}, id...)
}

// bind joins header and place; the header states its own length.
func bind(head, place []byte) []byte {
	return append(head[:len(head):len(head)], place...)
}

// unknownKey shows the id only when it looks like one: a damaged value may
// hold anything.
func unknownKey(id string) error {
	if !keyIDForm.MatchString(id) {
		return ErrTampered
	}
	return fmt.Errorf("%w: key id %q", ErrUnknownKey, id)
}

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
