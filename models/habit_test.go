package models

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHabitFields: the table and the list have every field, in its order.
func TestHabitFields(t *testing.T) {
	var texts HabitTexts
	row := reflect.ValueOf(&texts).Elem()
	require.Len(t, habitFields, row.NumField(), "habitFields has every field")
	require.Len(t, texts.list(), row.NumField(), "list has every field")
	for i, field := range habitFields {
		name, _, _ := strings.Cut(row.Type().Field(i).Tag.Get("json"), ",")
		require.Equal(t, field.Name, name)
		require.Same(t, row.Field(i).Addr().Interface(), texts.list()[i], name)
		require.Equal(t, name, reflect.TypeFor[HabitShown]().Field(i).Tag.Get("json"))
		require.NotEmpty(t, field.Label+field.Meaning)
	}
	require.Nil(t, texts.Text("tone"))
}
