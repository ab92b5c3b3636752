package config

import (
	"fmt"
	"net/url"
	"reflect"
	"strings"
)

// Setting is one line of what the program runs with; Value never shows a
// secret.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Source is default, environment, file (NAME_FILE) or profile (Temporal's
	// configuration file).
	Source string `json:"source"`
	// InForce says what a value that is empty or 0 means, such as off.
	InForce string `json:"in_force,omitempty"`
}

const sourceProfile source = "profile"

// Table lists every setting with its value and where that came from, secrets
// masked, for an operator to read.
func (c Config) Table() []Setting { return append([]Setting(nil), c.settings...) }

func (c Config) table(vars environment) []Setting {
	tree := reflect.ValueOf(c)
	var out []Setting
	for _, v := range variables() {
		value := tree.FieldByIndex(v.index).Interface()
		shown := fmt.Sprint(value)
		if secret, ok := value.(Secret); ok && v.asURL {
			shown = withoutPassword(secret.Reveal())
		}
		out = append(out, Setting{Name: v.name, Value: shown, Source: string(vars.sourceOf(v.name))})
	}
	out = append(out, c.temporalTable(vars)...)
	for i, one := range out {
		out[i].InForce = resolve(one.Name, one.Value)
	}
	return out
}

func (c Config) temporalTable(vars environment) []Setting {
	key := NewSecret(vars.values[temporalAPIKey])
	rows := []Setting{
		{Name: "TEMPORAL_ADDRESS", Value: c.Temporal.Address},
		{Name: "TEMPORAL_NAMESPACE", Value: c.Temporal.Namespace},
		{Name: temporalAPIKey, Value: key.String()},
	}
	plain := map[string]string{"TEMPORAL_ADDRESS": "localhost:7233", "TEMPORAL_NAMESPACE": "default"}
	for i, row := range rows {
		from := vars.sourceOf(row.Name)
		if from == sourceDefault && vars.values[row.Name] == "" && row.Value != plain[row.Name] {
			from = sourceProfile
		}
		rows[i].Source = string(from)
	}
	return rows
}

func (e environment) sourceOf(name string) source {
	value, set := e.values[name]
	if !set || (value == "" && name != quietHours) {
		return sourceDefault
	}
	return e.sources[name]
}

// withoutPassword keeps scheme, user, host and path of a database URL; a
// password may also stand in the query.
func withoutPassword(value string) string {
	if strings.HasPrefix(value, "sqlite:") {
		return value
	}
	u, err := url.Parse(value)
	if err != nil {
		return "set"
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if name := u.User.Username(); name != "" {
		shown.User = url.User(name)
	}
	return shown.String()
}
