package database

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"

	"gorm.io/gorm/schema"
)

// sealed is the gorm serializer of columns tagged `serializer:sealed`: base64
// of what the sealer made of the text. An empty text stays empty, so that "not
// known" can be told from the outside; nothing else can.
//
// gorm makes a zero value of the serializer for every field, so the sealer
// travels in the statement's context.
type sealed struct{}

type sealerKey struct{}

func init() { schema.RegisterSerializer("sealed", sealed{}) }

// Sealer protects personal data at rest.
type Sealer interface {
	Seal([]byte) ([]byte, error)
	Open([]byte) ([]byte, error)
}

// WithSealer gives the statements that run under ctx what they seal and open
// columns with; a statement without it fails.
func WithSealer(ctx context.Context, s Sealer) context.Context {
	return context.WithValue(ctx, sealerKey{}, s)
}

func sealerOf(ctx context.Context) (Sealer, error) {
	s, ok := ctx.Value(sealerKey{}).(Sealer)
	if !ok {
		return nil, errors.New("the statement's context holds no sealer")
	}
	return s, nil
}

// Scan opens a column's text into its field.
func (sealed) Scan(ctx context.Context, field *schema.Field, dst reflect.Value, dbValue any) error {
	var text string
	switch v := dbValue.(type) {
	case nil:
	case string:
		text = v
	case []byte:
		text = string(v)
	default:
		return fmt.Errorf("opening %s.%s: unexpected column type %T", field.Schema.Table, field.DBName, dbValue)
	}
	if text != "" {
		plain, err := open(ctx, text)
		if err != nil {
			return fmt.Errorf("opening %s.%s: %w", field.Schema.Table, field.DBName, err)
		}
		text = plain
	}
	field.ReflectValueOf(ctx, dst).SetString(text)
	return nil
}

// Value seals a field's text for its column.
func (sealed) Value(ctx context.Context, field *schema.Field, _ reflect.Value, fieldValue any) (any, error) {
	text, ok := fieldValue.(string)
	if !ok {
		return nil, fmt.Errorf("sealing %s.%s: not a string", field.Schema.Table, field.DBName)
	}
	if text == "" {
		return "", nil
	}
	s, err := sealerOf(ctx)
	if err != nil {
		return nil, fmt.Errorf("sealing %s.%s: %w", field.Schema.Table, field.DBName, err)
	}
	box, err := s.Seal([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("sealing %s.%s: %w", field.Schema.Table, field.DBName, err)
	}
	return base64.StdEncoding.EncodeToString(box), nil
}

func open(ctx context.Context, text string) (string, error) {
	s, err := sealerOf(ctx)
	if err != nil {
		return "", err
	}
	box, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", err
	}
	plain, err := s.Open(box)
	return string(plain), err
}
