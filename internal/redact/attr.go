package redact

import (
	"encoding/json"
	"fmt"
	"log/slog"
)

// Attr scrubs the values of a log line: it is the ReplaceAttr of
// slog.HandlerOptions, so that an error which quotes a provider's answer does
// not write a key or a number. Texts, errors and values of other types are
// scrubbed as a handler would write them; one that holds nothing to mask keeps
// its type. Names of attributes stay, and groups are not read.
func Attr(_ []string, a slog.Attr) slog.Attr {
	switch a.Value.Kind() {
	case slog.KindString:
		return scrubAttr(a, a.Value.String())
	case slog.KindAny:
		return scrubAttr(a, writtenForms(a.Value.Any())...)
	case slog.KindBool, slog.KindDuration, slog.KindFloat64, slog.KindInt64, slog.KindTime, slog.KindUint64, slog.KindGroup, slog.KindLogValuer:
	}
	return a
}

// scrubAttr replaces the value by the first form that masking changes.
func scrubAttr(a slog.Attr, forms ...string) slog.Attr {
	for _, form := range forms {
		if masked := Scrub(form); masked != form {
			return slog.String(a.Key, masked)
		}
	}
	return a
}

// writtenForms returns how the text handler and the JSON handler may write a
// value.
func writtenForms(v any) []string {
	switch v := v.(type) {
	case error:
		return []string{fmt.Sprint(v)}
	case []byte:
		return []string{string(v)}
	case json.RawMessage:
		return []string{string(v)}
	}
	forms := []string{fmt.Sprintf("%+v", v)}
	// What cannot be encoded is not written either: the handler writes the
	// encoder's error.
	if raw, err := json.Marshal(v); err == nil {
		forms = append(forms, string(raw))
	}
	return forms
}
