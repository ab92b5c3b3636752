package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"

	"coachline/models"
)

// Bounds of a password, in characters.
const (
	MinPassword = 12
	MaxPassword = 128
)

// passwordCost is the second recommendation of RFC 9106 for argon2id, with less
// memory so that several logins at once fit beside the server: 46 MiB, one pass,
// as OWASP's password storage page lists it.
var passwordCost = &argon2id.Params{Memory: 46 * 1024, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// HashPassword returns the argon2id hash of a password. It takes about 50 ms. A
// password outside 12 to 128 characters is a *models.FieldError.
func HashPassword(password string) (string, error) {
	switch n := utf8.RuneCountInString(password); {
	case !utf8.ValidString(password):
		return "", models.BadField("password", "is not valid UTF-8")
	case n < MinPassword:
		return "", models.BadField("password", "must have at least %d characters", MinPassword)
	case n > MaxPassword:
		return "", models.BadField("password", "must have at most %d characters", MaxPassword)
	}
	hash, err := argon2id.CreateHash(password, passwordCost)
	if err != nil {
		return "", fmt.Errorf("hashing the password: %w", err)
	}
	return hash, nil
}

// emptyHash is compared with where there is no hash, so that an unknown login
// takes as long to refuse as a wrong password.
const emptyHash = "$argon2id$v=19$m=47104,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// CheckPassword reports whether a password has a hash. An empty hash has none.
func CheckPassword(password, hash string) bool {
	if hash == "" || utf8.RuneCountInString(password) > MaxPassword {
		_, _ = argon2id.ComparePasswordAndHash("", emptyHash)
		return false
	}
	match, err := argon2id.ComparePasswordAndHash(password, hash)
	return err == nil && match
}

// tokenPrefix marks API tokens, so that one that leaked is recognised.
const tokenPrefix = "clt_"

// NewToken returns a fresh API token of 130 random bits.
func NewToken() string { return tokenPrefix + strings.ToLower(rand.Text()) }

// HashSecret is the SHA-256 of a token in hexadecimal, which is what is stored.
// Tokens are random, so a plain hash cannot be guessed.
func HashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// NewID returns a random id with a prefix, such as usr_....
func NewID(prefix string) string { return prefix + "_" + strings.ToLower(rand.Text()[:20]) }
