package models

import (
	"reflect"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPersonFieldsHaveEverySealedColumn goes over the row by reflection, so that a
// sealed column cannot be left out of what hides, masks and erases.
func TestPersonFieldsHaveEverySealedColumn(t *testing.T) {
	var p Participant
	known := map[*string]PersonField{}
	names := map[string]bool{}
	for field, text := range p.Texts() {
		known[text] = field
		require.False(t, names[field.Name], field.Name)
		names[field.Name] = true
		require.Positive(t, field.Length, field.Name)
	}
	value := reflect.ValueOf(&p).Elem()
	sealed := 0
	for _, field := range reflect.VisibleFields(value.Type()) {
		text, isText := value.FieldByIndex(field.Index).Addr().Interface().(*string)
		if !isText || field.Tag.Get("gorm") != "serializer:sealed" {
			continue
		}
		sealed++
		require.Contains(t, known, text, "%s is sealed and not among PersonFields", field.Name)
		require.True(t, known[text].IsPersonal, "%s is sealed and shown to every caller", field.Name)
		*text = "canary"
		delete(known, text)
	}
	require.GreaterOrEqual(t, sealed, 5)
	for _, field := range known {
		require.False(t, field.IsPersonal, "%s is personal and not sealed", field.Name)
	}
	require.Equal(t, Participant{}, p.WithoutPersonal())
}

// TestPersonTextsAreDescribed compares the struct with its table.
func TestPersonTextsAreDescribed(t *testing.T) {
	var texts PersonTexts[string]
	row := reflect.TypeFor[PersonTexts[string]]()
	require.Len(t, texts.list(), row.NumField(), "list has every field")
	require.Len(t, personTexts, row.NumField(), "personTexts has every field")
	for i, text := range personTexts {
		field := row.Field(i)
		require.Same(t, reflect.ValueOf(&texts).Elem().Field(i).Addr().Interface(), texts.list()[i], field.Name)
		require.Equal(t, text.Name+",omitempty", field.Tag.Get("json"))
		require.Equal(t, strconv.Itoa(text.Length), field.Tag.Get("maxLength"))
		require.NotEmpty(t, text.Label)
		require.Equal(t, text.Name, reflect.TypeFor[PersonShown]().Field(i).Tag.Get("json"))
	}
}

func TestCheckText(t *testing.T) {
	for _, fine := range []string{"", "Zoë O'Neill-García", "أحمد", "\u200fדנה", "👩\u200d🚀 Ann", "a\u00a0b"} {
		require.NoError(t, CheckText("name", fine, false), "%q", fine)
	}
	for _, bad := range []string{"a\x00", "\x1b[2J", "\u202eevil", "a\u202ab\u202c", "\u2066x\u2069", "\u0085", "\x7f", "a\u2028b"} {
		err := CheckText("name", bad, true)
		var field *FieldError
		require.ErrorAs(t, err, &field, "%q", bad)
		require.Equal(t, "name", field.Field)
	}
	require.Error(t, CheckText("name", "a\nb", false))
	require.NoError(t, CheckText("background", "a\r\n\tb", true))
}
