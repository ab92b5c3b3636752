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
	"strings"
)

const (
	keySize = 32
	// version is the first byte of everything sealed, so that the format can
	// change without guessing.
	version = 1
	// maxKeyID keeps the length of a key id in one byte.
	maxKeyID = 64
)

// Purposes separate the keys derived from one ring key: a stored text can
// never be passed off as a payload, nor an index tell anything about either.
const (
	purposeStore   = "coachline store v1"
	purposePayload = "coachline payload v1"
	purposeIndex   = "coachline index v1"
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
	keys    map[string]derived
	index   []byte
}

type derived struct {
	store   cipher.AEAD
	payload cipher.AEAD
}

// Parse reads "keyid:base64(32 bytes),...". The first key is the current one;
// rotation puts a new key in front and keeps the old ones for reading. Index
// hangs on the last key, so that one must stay. Errors name the entry and
// never show key material.
func Parse(list string) (*Ring, error) {
	ring := &Ring{keys: map[string]derived{}}
	var last []byte
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
		if ring.current == "" {
			ring.current = id
		}
		last = key
	}
	index, err := hkdf.Key(sha256.New, last, nil, purposeIndex, keySize)
	if err != nil {
		return nil, fmt.Errorf("deriving the index key: %w", err)
	}
	ring.index = index
	return ring, nil
}

func parseEntry(entry string) (id string, key []byte, err error) {
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
	store, err := deriveAEAD(key, purposeStore)
	if err != nil {
		return derived{}, err
	}
	payload, err := deriveAEAD(key, purposePayload)
	return derived{store: store, payload: payload}, err
}

func deriveAEAD(key []byte, purpose string) (cipher.AEAD, error) {
	sub, err := hkdf.Key(sha256.New, key, nil, purpose, keySize)
	if err != nil {
		return nil, fmt.Errorf("deriving a key: %w", err)
	}
	block, err := aes.NewCipher(sub)
	if err != nil {
		return nil, fmt.Errorf("building the cipher: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("building the cipher: %w", err)
	}
	return aead, nil
}

// Generate makes one fresh entry for Parse, with the id "k1".
func Generate() (string, error) {
	key := make([]byte, keySize)
	if _, err := rand.Read(key); err != nil {
		return "", fmt.Errorf("drawing a key: %w", err)
	}
	return "k1:" + base64.StdEncoding.EncodeToString(key), nil
}

// Seal encrypts with the current key. The result holds a version, the key's
// id, a random nonce and the ciphertext; sealing twice gives two results.
func (r *Ring) Seal(plain []byte) ([]byte, error) {
	head := header(r.current)
	return r.keys[r.current].store.Seal(head, nil, plain, head), nil
}

// Open decrypts what Seal made with any key of the ring: ErrUnknownKey when
// the ring does not hold the key, ErrTampered when the value is damaged.
func (r *Ring) Open(sealed []byte) ([]byte, error) {
	if len(sealed) < 2 || sealed[0] != version || len(sealed) < 2+int(sealed[1]) {
		return nil, ErrTampered
	}
	headSize := 2 + int(sealed[1])
	head, body := sealed[:headSize], sealed[headSize:]
	key, ok := r.keys[string(head[2:])]
	if !ok {
		return nil, unknownKey(string(head[2:]))
	}
	plain, err := key.store.Open(nil, nil, body, head)
	if err != nil {
		return nil, ErrTampered
	}
	return plain, nil
}

// Index is a hex HMAC-SHA256 of value: equal for equal values for as long as
// the last key of the ring stays the same, and of no use without that key.
func (r *Ring) Index(value string) string {
	mac := hmac.New(sha256.New, r.index)
	mac.Write([]byte(value))
	return hex.EncodeToString(mac.Sum(nil))
}

// header is authenticated with the text, so that neither the version nor the
// key id can be changed.
func header(id string) []byte {
	return append([]byte{version, byte(len(id))}, id...)
}

// unknownKey shows the id only when it looks like one: a damaged value may
// hold anything.
func unknownKey(id string) error {
	if !keyIDForm.MatchString(id) {
		return ErrTampered
	}
	return fmt.Errorf("%w: key id %q", ErrUnknownKey, id)
}
