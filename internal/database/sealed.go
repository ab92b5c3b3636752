package database

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"

	"gorm.io/gorm/schema"
)

// sealed is the gorm serializer of columns tagged `serializer:sealed`. A text
// becomes base64 of what the sealer made of it, bytes become just that. Empty
// stays empty, so that "not known" can be told from the outside; nothing else
// can.
//
// gorm makes a zero value of the serializer for every field, so the sealer
// travels in the statement's context.
type sealed struct{}

type sealerKey struct{}

func init() { schema.RegisterSerializer("sealed", sealed{}) }

// withSealer gives the statements that run under ctx what they seal and open
// columns with; a statement without it fails.
func withSealer(ctx context.Context, s Sealer) context.Context {
	return context.WithValue(ctx, sealerKey{}, s)
}

func sealerOf(ctx context.Context) (Sealer, error) {
	s, ok := ctx.Value(sealerKey{}).(Sealer)
	if !ok {
		return nil, errors.New("the statement's context holds no sealer")
	}
	return s, nil
}

// Scan opens a column into its field.
func (sealed) Scan(ctx context.Context, field *schema.Field, dst reflect.Value, dbValue any) error {
	plain, err := open(ctx, field.FieldType.Kind(), dbValue)
	if err != nil {
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
func (sealed) Value(ctx context.Context, field *schema.Field, _ reflect.Value, fieldValue any) (any, error) {
	var out any
	var err error
	switch plain := fieldValue.(type) {
	case string:
		var box []byte
		box, err = seal(ctx, []byte(plain))
		out = base64.StdEncoding.EncodeToString(box)
	case []byte:
		out, err = seal(ctx, plain)
	default:
		err = errors.New("neither a string nor bytes")
	}
	if err != nil {
		return nil, fmt.Errorf("sealing %s.%s: %w", field.Schema.Table, field.DBName, err)
	}
	return out, nil
}

// OpenText opens the column of a sealed text that was read without gorm, under
// the context of a statement of this package's.
func OpenText(ctx context.Context, column string) (string, error) {
	plain, err := open(ctx, reflect.String, column)
	return string(plain), err
}

func seal(ctx context.Context, plain []byte) ([]byte, error) {
	if len(plain) == 0 {
		return []byte{}, nil
	}
	s, err := sealerOf(ctx)
	if err != nil {
		return nil, err
	}
	return s.Seal(plain)
}

// open: texts are base64 in their columns, which drivers give as strings or as
// bytes; bytes are as they are.
func open(ctx context.Context, kind reflect.Kind, dbValue any) ([]byte, error) {
	var box []byte
	switch v := dbValue.(type) {
	case nil:
	case string:
		box = []byte(v)
	case []byte:
		box = v
	default:
		return nil, fmt.Errorf("unexpected column type %T", dbValue)
	}
	if len(box) == 0 {
		return nil, nil
	}
	s, err := sealerOf(ctx)
	if err != nil {
		return nil, err
	}
	if kind == reflect.String {
		if box, err = base64.StdEncoding.AppendDecode(nil, box); err != nil {
			return nil, err
		}
	}
	return s.Open(box)
}
