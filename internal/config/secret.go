package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
)

// shownLength is the length above which the last four characters of a secret
// are shown: enough to tell two keys apart, too few to be of use.
const shownLength = 12

// Secret is a value that no printer, logger or encoder shows. The zero value
// is an unset secret.
type Secret struct{ value string }

// NewSecret wraps a value that did not come from the environment.
func NewSecret(value string) Secret { return Secret{value: value} }

// Reveal is the value itself; empty when unset.
func (s Secret) Reveal() string { return s.value }

// IsSet reports whether there is a value.
func (s Secret) IsSet() bool { return s.value != "" }

// String is "" when unset, else "set" with at most the last four characters.
func (s Secret) String() string {
	switch {
	case s.value == "":
		return ""
	case len(s.value) > shownLength:
		return "set (..." + s.value[len(s.value)-4:] + ")"
	default:
		return "set"
	}
}

// GoString keeps %#v from printing the value.
func (s Secret) GoString() string { return fmt.Sprintf("config.Secret(%q)", s.String()) }

// MarshalJSON encodes what String shows.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// LogValue logs what String shows.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// UnmarshalText takes the value as it stands.
func (s *Secret) UnmarshalText(text []byte) error {
	s.value = string(text)
	return nil
}

// Secrets is a comma list of secret values.
type Secrets struct{ values []Secret }

// NewSecrets wraps values that did not come from the environment.
func NewSecrets(values ...string) Secrets {
	var out Secrets
	for _, value := range values {
		out.values = append(out.values, NewSecret(value))
	}
	return out
}

// Reveal lists the values; nil when unset.
func (s Secrets) Reveal() []string {
	var out []string
	for _, secret := range s.values {
		out = append(out, secret.Reveal())
	}
	return out
}

// Len returns how many there are.
func (s Secrets) Len() int { return len(s.values) }

// String shows each value as Secret does, separated by commas.
func (s Secrets) String() string {
	shown := make([]string, 0, len(s.values))
	for _, secret := range s.values {
		shown = append(shown, secret.String())
	}
	return strings.Join(shown, ", ")
}

// GoString keeps %#v from printing the values.
func (s Secrets) GoString() string { return fmt.Sprintf("config.Secrets(%q)", s.String()) }

// MarshalJSON encodes what String shows.
func (s Secrets) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// LogValue logs what String shows.
func (s Secrets) LogValue() slog.Value { return slog.StringValue(s.String()) }

// UnmarshalText splits a comma list; blanks around values and empty values
// are dropped.
func (s *Secrets) UnmarshalText(text []byte) error {
	s.values = nil
	for value := range strings.SplitSeq(string(text), ",") {
		if value = strings.TrimSpace(value); value != "" {
			s.values = append(s.values, NewSecret(value))
		}
	}
	return nil
}
