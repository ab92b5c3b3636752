package starter

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/auth"
	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

// herCanary stands in every personal field of the participant of canaries.
const herCanary = "Wobbegong"

// canaries puts a word of its own into every sealed text of conv_1, by reflection.
func canaries(t *testing.T, rows *store.Store) (words []string) {
	t.Helper()
	p, err := rows.People.Participant(t.Context(), "conv_1")
	require.NoError(t, err)
	value := reflect.ValueOf(&p).Elem()
	patch := models.ParticipantPatch{}
	for _, field := range reflect.VisibleFields(value.Type()) {
		if field.Tag.Get("gorm") != "serializer:sealed" {
			continue
		}
		word := herCanary + field.Name
		if field.Name == "Phone" {
			word = herNumber
		}
		words = append(words, word)
		change := reflect.ValueOf(&patch).Elem().FieldByName(field.Name)
		require.True(t, change.IsValid(), "%s cannot be changed", field.Name)
		change.Set(reflect.ValueOf(&word))
	}
	_, err = rows.People.UpdateParticipant(t.Context(), models.ParticipantUpdate{ID: "conv_1", Patch: patch, Actor: "eve", Now: testNow})
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(words), 5)
	return words
}

// TestPersonalFieldsAreHidden reads every route as a caller with every permission
// but the one for personal data.
func TestPersonalFieldsAreHidden(t *testing.T) {
	var rows *store.Store
	h := startWithAccess(t, func(cfg *Config) { rows = cfg.Store })
	words := canaries(t, rows)
	_, err := rows.Attention.RaiseAttention(t.Context(), models.AttentionEntry{ParticipantID: "conv_1", Kind: wire.AttentionCrisis, RaisedAt: testNow})
	require.NoError(t, err)
	others := slices.DeleteFunc(auth.Permissions(), func(p auth.Permission) bool { return p == auth.PersonalRead })
	_, secret := h.token(others...)

	one := call{method: "GET", path: participantsPath + "/conv_1"}
	for _, word := range words {
		require.Contains(t, h.do(one).raw, word, "the operator sees it")
	}
	read := 0
	for path, item := range h.document().paths {
		if _, canRead := item.(map[string]any)["get"]; !canRead || strings.Contains(strings.ReplaceAll(path, "{id}", ""), "{") {
			continue
		}
		path = strings.ReplaceAll(path, "{id}", "conv_1")
		answer := h.do(withToken(call{method: "GET", path: path}, secret))
		if answer.status == http.StatusOK {
			read++
		}
		for _, word := range words {
			require.NotContains(t, answer.raw, word, path)
		}
	}
	require.Greater(t, read, 20)
	for _, c := range []call{{method: "PUT", path: one.path, body: `{"tester":true}`}, {method: "PATCH", path: one.path, body: `{"tester":null}`}} {
		answer := h.do(withToken(c, secret))
		require.Equal(t, http.StatusOK, answer.status, answer.raw)
		for _, word := range words {
			require.NotContains(t, answer.raw, word, c.method)
		}
	}
}

// TestPersonalFieldsAreAudited changes and clears every text about a person that a
// patch may clear; the audit has what it was, and the row has it no more.
func TestPersonalFieldsAreAudited(t *testing.T) {
	var rows *store.Store
	h := startWithAccess(t, func(cfg *Config) { rows = cfg.Store })
	for _, word := range canaries(t, rows) {
		if word != herNumber { // she had it before
			require.Contains(t, h.do(call{method: "GET", path: auditPath + "?participant_id=conv_1"}).raw, word, "the audit says what was set")
		}
	}
	cleared := map[string]any{}
	for _, field := range models.PersonFields() {
		if field.IsClearable {
			cleared[field.Name] = nil
		}
	}
	body, err := json.Marshal(cleared)
	require.NoError(t, err)
	answer := h.do(call{method: "PATCH", path: participantsPath + "/conv_1", body: string(body), header: map[string]string{"Content-Type": mergePatchType}})
	require.Equal(t, http.StatusOK, answer.status, answer.raw)
	require.NotContains(t, answer.raw, herCanary)
	require.NotContains(t, h.do(call{method: "GET", path: participantsPath + "/conv_1"}).raw, herCanary)
}

// TestHiddenCharactersAreRefused in every text about a person and in other names, each
// with the name of its field.
func TestHiddenCharactersAreRefused(t *testing.T) {
	h := startWithAccess(t, nil)
	one := participantsPath + "/conv_1"
	user := `{"login":"eve","name":%s,"role":"coach","password":"correct horse battery"}`
	for _, bad := range []string{"a\x00b", "\x1b[2Ja", "a\u202eb", "a\u2066b"} {
		raw, err := json.Marshal(bad)
		require.NoError(t, err)
		for _, field := range models.PersonFields() {
			if field.Name == "phone_number" {
				continue // what is no digit is left out of a number
			}
			value := `{"` + field.Name + `":` + string(raw) + `}`
			h.refused(call{method: "PUT", path: one, body: value}, http.StatusBadRequest, field.Name+": ")
			h.refused(call{method: "PATCH", path: one, body: value, header: map[string]string{"Content-Type": mergePatchType}}, http.StatusBadRequest, field.Name+": ")
			h.refused(call{method: "POST", path: participantsPath, body: `{"phone_number":"+15558675399",` + value[1:]}, http.StatusBadRequest, field.Name+": ")
		}
		for path, body := range map[string]string{
			usersPath: user, studiesPath: `{"id":"walk","name":%s}`, viewsPath: `{"name":%s,"query":"status=active"}`,
		} {
			h.refused(call{method: "POST", path: path, body: strings.ReplaceAll(body, "%s", string(raw))}, http.StatusBadRequest, "name: ")
		}
	}
	h.refused(call{method: "PUT", path: one, body: `{"name":"a\nb"}`}, http.StatusBadRequest, "name: holds a line end")
	require.Equal(t, http.StatusOK, h.do(call{method: "PUT", path: one, body: `{"background":"a\nb","name":"👩\u200d🚀 Zoë"}`}).status)
}
