package database

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"gorm.io/gorm/schema"

	"coachline/internal/seal"
	"coachline/internal/wrap"
	"coachline/models"
)

// sealedSerializer is the gorm serializer of columns tagged `serializer:sealed`. A text
// becomes base64 of what the ring made of it, bytes become just that. Empty
// stays empty, so that "not known" can be told from the outside; nothing else
// can. A value is bound to its place (see sealedTable), so the fields that name
// the row must be set when it is written, and read before it.
//
// gorm makes a zero value of the serializer for every field, so the ring
// travels in the statement's context.
type sealedSerializer struct{}

type (
	sessionKey    struct{}
	unreadableKey struct{}
)

func init() { schema.RegisterSerializer("sealed", sealedSerializer{}) }

// session is what the statements of one transaction share.
type session struct {
	ring *seal.Ring
	// audit holds the rows that are written at the end of the transaction.
	audit []models.AuditRow
}

// withSession gives the statements that run under ctx what they seal and open
// columns with; a statement without it fails.
func withSession(ctx context.Context, s *session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

func sessionOf(ctx context.Context) (*session, error) {
	s, ok := ctx.Value(sessionKey{}).(*session)
	if !ok {
		return nil, errors.New("the statement's context holds no key ring")
	}
	return s, nil
}

// ringAndPlace returns the key ring of a context, and what a value is bound to.
func ringAndPlace(ctx context.Context, at func() ([]byte, error)) (*seal.Ring, []byte, error) {
	s, err := sessionOf(ctx)
	if err != nil {
		return nil, nil, err
	}
	bound, err := at()
	return s.ring, bound, err
}

// AllowUnreadable is for lists: under ctx a sealed column that cannot be opened
// leaves its field empty and adds the column's name to the row's field
// Unreadable, a text outside the schema. Models without that field still
// fail. Rows that were read so must not be written back.
func AllowUnreadable(ctx context.Context) context.Context {
	return context.WithValue(ctx, unreadableKey{}, true)
}

// markUnreadable notes on a row that a column could not be opened, where the
// statement's context and the row's model have that.
func markUnreadable(ctx context.Context, field *schema.Field, dst reflect.Value) bool {
	if allowed, _ := ctx.Value(unreadableKey{}).(bool); !allowed {
		return false
	}
	marks := reflect.Indirect(dst).FieldByName("Unreadable")
	if !marks.IsValid() || marks.Kind() != reflect.String || !marks.CanSet() {
		return false
	}
	marks.SetString(strings.TrimPrefix(marks.String()+","+field.DBName, ","))
	return true
}

// Scan opens a column into its field.
func (sealedSerializer) Scan(ctx context.Context, field *schema.Field, dst reflect.Value, dbValue any) error {
	at := func() ([]byte, error) { return placeOf(ctx, field, dst) }
	plain, err := openValue(ctx, field.FieldType.Kind(), dbValue, at)
	if err != nil && !markUnreadable(ctx, field, dst) {
		return fmt.Errorf("opening %s.%s: %w", field.Schema.Table, field.DBName, err)
	}
	value := field.ReflectValueOf(ctx, dst)
	if value.Kind() == reflect.String {
		value.SetString(string(plain))
	} else {
		value.SetBytes(plain)
	}
	return nil
}

// Value seals a field for its column.
func (sealedSerializer) Value(ctx context.Context, field *schema.Field, dst reflect.Value, fieldValue any) (any, error) {
	at := func() ([]byte, error) { return placeOf(ctx, field, dst) }
	var out any
	var err error
	switch plain := fieldValue.(type) {
	case string:
		var box []byte
		box, err = sealAt(ctx, []byte(plain), at)
		out = base64.StdEncoding.EncodeToString(box)
	case []byte:
		out, err = sealAt(ctx, plain, at)
	default:
		err = errors.New("neither a string nor bytes")
	}
	return out, wrap.Errorf(err, "sealing %s.%s", field.Schema.Table, field.DBName)
}

// Cell names a column of one row; Row are the values of the columns that name
// rows of the table.
type Cell struct {
	Table, Column string
	Row           []any
}

// OpenText opens the column of a sealed text that was read without gorm, under
// the context of a statement of this package's.
func OpenText(ctx context.Context, cell Cell, value string) (string, error) {
	plain, err := openValue(ctx, reflect.String, value, func() ([]byte, error) { return encodePlace(cell.Table, cell.Column, cell.Row) })
	if err != nil {
		return "", fmt.Errorf("opening %s.%s: %w", cell.Table, cell.Column, err)
	}
	return string(plain), nil
}

func sealAt(ctx context.Context, plain []byte, at func() ([]byte, error)) ([]byte, error) {
	if len(plain) == 0 {
		return []byte{}, nil
	}
	ring, bound, err := ringAndPlace(ctx, at)
	if err != nil {
		return nil, err
	}
	return ring.Seal(plain, bound)
}

// openValue opens the value of a column. Texts are base64, which drivers give
// as strings or as bytes; bytes are as they are.
func openValue(ctx context.Context, kind reflect.Kind, dbValue any, at func() ([]byte, error)) ([]byte, error) {
	box, err := sealedBytes(kind, dbValue)
	if err != nil || len(box) == 0 {
		return nil, err
	}
	ring, bound, err := ringAndPlace(ctx, at)
	if err != nil {
		return nil, err
	}
	return ring.Open(box, bound)
}

// sealedBytes returns the sealed bytes of a column's value; none for an empty
// one.
func sealedBytes(kind reflect.Kind, dbValue any) ([]byte, error) {
	isText := kind == reflect.String
	switch v := dbValue.(type) {
	case nil:
		return nil, nil
	case string:
		if isText {
			return base64.StdEncoding.DecodeString(v)
		}
		return []byte(v), nil
	case []byte:
		if isText && len(v) > 0 {
			return base64.StdEncoding.AppendDecode(nil, v)
		}
		return v, nil
	}
	return nil, fmt.Errorf("unexpected column type %T", dbValue)
}
