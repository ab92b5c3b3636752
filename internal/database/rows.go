package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// The statements of every text and its answer are written once and kept, and
// their rows are filled field by field. They run in gorm's sessions and
// transactions and know its models, but its building of each statement anew is a
// third of what the tables cost otherwise.

// Selection reads rows of a model by one condition. Make it once with Select or
// Update.
type Selection[T any] struct {
	set, where, with string
	locked           bool
	text             text
}

// Select reads the rows of a model that a condition (with what follows it in a
// statement, such as ORDER BY) selects. Arguments stand as question marks.
func Select[T any](where string) *Selection[T] { return &Selection[T]{where: where} }

// Update changes the rows of a model that a condition selects and reads them as
// they are then. The arguments of set come first.
func Update[T any](set, where string) *Selection[T] { return &Selection[T]{set: set, where: where} }

// ForUpdate returns the selection that locks its rows until the transaction ends, as
// the function of that name does.
func (s *Selection[T]) ForUpdate() *Selection[T] {
	return &Selection[T]{set: s.set, where: s.where, with: s.with, locked: true}
}

// With returns the selection that reads more than the model's columns, for FindWith and
// TakeWith. Arguments of what it adds to a Select come first.
func (s *Selection[T]) With(columns string) *Selection[T] {
	return &Selection[T]{set: s.set, where: s.where, with: ", " + columns, locked: s.locked}
}

// Take reads the first row; gorm.ErrRecordNotFound when there is none.
func (s *Selection[T]) Take(tx *gorm.DB, args ...any) (T, error) { return s.TakeWith(tx, nil, args...) }

// TakeWith is Take that reads what With has added into dest.
func (s *Selection[T]) TakeWith(tx *gorm.DB, dest []any, args ...any) (T, error) {
	var row T
	found, err := s.FindWith(tx, dest, args...)
	if err == nil && len(found) == 0 {
		err = gorm.ErrRecordNotFound
	}
	if err == nil {
		row = found[0]
	}
	return row, err
}

// Find reads all rows.
func (s *Selection[T]) Find(tx *gorm.DB, args ...any) ([]T, error) {
	return s.FindWith(tx, nil, args...)
}

// FindWith is Find that reads what With has added into dest, the last row's.
func (s *Selection[T]) FindWith(tx *gorm.DB, dest []any, args ...any) (found []T, err error) {
	t, err := tableOf(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	ctx := tx.Statement.Context
	rows, err := tx.Statement.ConnPool.QueryContext(ctx, s.sqlFor(tx, t), args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var row T
		filled := t.fillRow(ctx, reflect.ValueOf(&row).Elem())
		if err := rows.Scan(append(filled.dest, dest...)...); err != nil {
			return nil, err
		}
		if err := filled.openSealed(ctx); err != nil {
			return nil, err
		}
		found = append(found, row)
	}
	return found, rows.Err()
}

func (s *Selection[T]) sqlFor(tx *gorm.DB, t *table) string {
	return s.text.sqlFor(tx, func(postgres bool) string {
		if s.set != "" {
			return "UPDATE " + t.name + " SET " + s.set + " WHERE " + s.where + " RETURNING " + t.columns + s.with
		}
		lock := ""
		if s.locked && postgres {
			lock = " FOR NO KEY UPDATE"
		}
		return "SELECT " + t.columns + s.with + " FROM " + t.name + " WHERE " + s.where + lock
	})
}

// Pairs reads rows of two models that belong together. Make it once with Join.
type Pairs[A, B any] struct {
	on   string
	text text
}

// Join reads the rows of two models that a condition joins, with what follows it in
// a statement.
func Join[A, B any](on string) *Pairs[A, B] { return &Pairs[A, B]{on: on} }

// Find gives each pair to found.
func (p *Pairs[A, B]) Find(tx *gorm.DB, found func(A, B), args ...any) (err error) {
	a, err := tableOf(reflect.TypeFor[A]())
	if err != nil {
		return err
	}
	b, err := tableOf(reflect.TypeFor[B]())
	if err != nil {
		return err
	}
	text := p.text.sqlFor(tx, func(bool) string {
		return "SELECT " + a.columns + "," + b.columns + " FROM " + a.name + " JOIN " + b.name + " ON " + p.on
	})
	ctx := tx.Statement.Context
	rows, err := tx.Statement.ConnPool.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var one A
		var other B
		left, right := a.fillRow(ctx, reflect.ValueOf(&one).Elem()), b.fillRow(ctx, reflect.ValueOf(&other).Elem())
		if err := rows.Scan(append(left.dest, right.dest...)...); err != nil {
			return err
		}
		if err := left.openSealed(ctx); err != nil {
			return err
		}
		if err := right.openSealed(ctx); err != nil {
			return err
		}
		found(one, other)
	}
	return rows.Err()
}

// Group reads one row of each of several models that belong together, and locks
// the first one's until the transaction ends. Make it once with LockJoined.
type Group struct {
	on, with string
	text     text
}

// LockJoined reads the rows that a condition joins, from the JOIN of the second
// model on, and more columns behind theirs, whose arguments come first. A
// transaction that waits for the first row reads the others as of before.
func LockJoined(on, with string) *Group { return &Group{on: on, with: with} }

// Take fills rows, which point to the models, and dest with what is read besides.
func (g *Group) Take(tx *gorm.DB, rows, dest []any, args ...any) (found bool, err error) {
	ctx := tx.Statement.Context
	tables, fills := make([]*table, len(rows)), make([]rowBuffer, len(rows))
	all := make([]any, 0, 128)
	for i, row := range rows {
		value := reflect.ValueOf(row).Elem()
		if tables[i], err = tableOf(value.Type()); err != nil {
			return false, err
		}
		fills[i] = tables[i].fillRow(ctx, value)
		all = append(all, fills[i].dest...)
	}
	words := g.text.sqlFor(tx, func(postgres bool) string { return g.joinSQL(tables, postgres) })
	err = tx.Statement.ConnPool.QueryRowContext(ctx, words, args...).Scan(append(all, dest...)...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	for _, fill := range fills {
		if err == nil {
			err = fill.openSealed(ctx)
		}
	}
	return err == nil, err
}

func (g *Group) joinSQL(tables []*table, postgres bool) string {
	var columns []string
	for _, t := range tables {
		columns = append(columns, t.columns)
	}
	words := "SELECT " + strings.Join(append(columns, g.with), ",") + " FROM " + tables[0].name + " " + g.on
	if postgres {
		words += " FOR NO KEY UPDATE OF " + tables[0].name
	}
	return words
}

// Statement is one that is no selection of a model's rows, with question marks
// for its arguments. Make it once with SQL.
type Statement struct {
	words string
	text  text
}

// SQL makes a statement.
func SQL(words string) *Statement { return &Statement{words: words} }

func (s *Statement) sqlFor(tx *gorm.DB) string {
	return s.text.sqlFor(tx, func(bool) string { return s.words })
}

// Exec runs the statement and counts the rows that it changed.
func (s *Statement) Exec(tx *gorm.DB, args ...any) (int64, error) {
	res, err := tx.Statement.ConnPool.ExecContext(tx.Statement.Context, s.sqlFor(tx), args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Query reads the rows of the statement.
func (s *Statement) Query(tx *gorm.DB, args ...any) (*sql.Rows, error) {
	return tx.Statement.ConnPool.QueryContext(tx.Statement.Context, s.sqlFor(tx), args...)
}

// Row reads the first row of the statement, if there is one, into dest.
func (s *Statement) Row(tx *gorm.DB, args []any, dest ...any) (found bool, err error) {
	err = tx.Statement.ConnPool.QueryRowContext(tx.Statement.Context, s.sqlFor(tx), args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// Insert inserts a row of a model, which gets its id.
func Insert(tx *gorm.DB, row any) error {
	value := reflect.ValueOf(row).Elem()
	t, err := tableOf(value.Type())
	if err != nil {
		return err
	}
	if id := t.givenID(tx.Statement.Context); id != 0 {
		return t.insertGiven(tx, value, id)
	}
	_, err = insertRow(tx, row, false)
	return err
}

// insertGiven inserts a row with the id that its context gives.
func (t *table) insertGiven(tx *gorm.DB, row reflect.Value, id int64) error {
	values, err := t.rowValues(tx, row)
	if err != nil {
		return err
	}
	ctx := tx.Statement.Context
	words := t.given.sqlFor(tx, func(bool) string { return t.insertWords(true) })
	if _, err := tx.Statement.ConnPool.ExecContext(ctx, words, append([]any{id}, values...)...); err != nil {
		return err
	}
	return t.serial.Set(ctx, row, id)
}

// Insertion inserts rows of a model and reads more with it. Make it once with
// InsertWith.
type Insertion struct {
	with        string
	text, given text
}

type rowIDKey struct{}

type rowID struct {
	table string
	id    int64
}

// WithRowID returns a context under which a row that Insert or an Insertion writes
// into a table gets this id, where the database would give one. A rehearsal uses it,
// so that ids do not depend on the order in which people are played.
func WithRowID(ctx context.Context, table string, id int64) context.Context {
	return context.WithValue(ctx, rowIDKey{}, rowID{table: table, id: id})
}

// givenID returns the id that the context gives a row of the table; 0 for none.
func (t *table) givenID(ctx context.Context) int64 {
	given, ok := ctx.Value(rowIDKey{}).(rowID)
	if !ok || t.serial == nil || given.table != t.schema.Table {
		return 0
	}
	return given.id
}

// InsertWith makes an insertion for a model whose ids the database gives.
func InsertWith(columns string) *Insertion { return &Insertion{with: columns} }

// Insert inserts a row, which gets its id, and reads what is added into dest; args
// are those of what is added.
func (i *Insertion) Insert(tx *gorm.DB, row any, dest []any, args ...any) error {
	value := reflect.ValueOf(row).Elem()
	t, err := tableOf(value.Type())
	if err != nil {
		return err
	}
	values, err := t.rowValues(tx, value)
	if err != nil {
		return err
	}
	ctx, kept := tx.Statement.Context, &i.text
	id := t.givenID(ctx)
	if id != 0 {
		kept, values = &i.given, append([]any{id}, values...)
	}
	words := kept.sqlFor(tx, func(bool) string {
		return t.insertWords(id != 0) + " RETURNING " + quote(t.serial.DBName) + ", " + i.with
	})
	err = tx.Statement.ConnPool.QueryRowContext(ctx, words, append(values, args...)...).Scan(append([]any{&id}, dest...)...)
	if err != nil {
		return err
	}
	return t.serial.Set(ctx, value, id)
}

// InsertOnce inserts a row unless its key is taken; added says which.
func InsertOnce(tx *gorm.DB, row any) (added bool, err error) { return insertRow(tx, row, true) }

func insertRow(tx *gorm.DB, row any, once bool) (added bool, err error) {
	value := reflect.ValueOf(row).Elem()
	t, err := tableOf(value.Type())
	if err != nil {
		return false, err
	}
	if t.serial != nil && !t.serial.ReflectValueOf(tx.Statement.Context, value).IsZero() {
		return false, fmt.Errorf("inserting into %s: the database gives the rows their ids", t.name)
	}
	args, err := t.rowValues(tx, value)
	if err != nil {
		return false, err
	}
	ctx, pool := tx.Statement.Context, tx.Statement.ConnPool
	text, returns := t.insertSQL(tx, once)
	if returns {
		var id int64
		err := pool.QueryRowContext(ctx, text, args...).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) && once {
			return false, nil
		}
		return err == nil, errors.Join(err, t.serial.Set(ctx, value, id))
	}
	res, err := pool.ExecContext(ctx, text, args...)
	if err != nil {
		return false, err
	}
	count, err := res.RowsAffected()
	if err != nil || count == 0 || t.serial == nil {
		return count > 0, err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return false, err
	}
	return true, t.serial.Set(ctx, value, id)
}

// table is how a model's rows are read and written.
type table struct {
	schema        *schema.Schema
	name, columns string
	fields        []*schema.Field
	// serial is the field whose value the database gives; nil for none.
	serial *schema.Field
	// plain, once and given are its insertions, the last with an id.
	plain, once, given text
}

var (
	tablesOf sync.Map // of *table by reflect.Type
	schemas  sync.Map // of gorm's
)

func tableOf(model reflect.Type) (*table, error) {
	if known, ok := tablesOf.Load(model); ok {
		return known.(*table), nil
	}
	parsed, err := schema.Parse(reflect.New(model).Interface(), &schemas, Naming{})
	if err != nil {
		return nil, fmt.Errorf("reading the model %s: %w", model, err)
	}
	t := &table{schema: parsed, name: quote(parsed.Table)}
	var columns []string
	for _, field := range parsed.Fields {
		if field.DBName == "" {
			continue
		}
		if field.AutoIncrement || field == parsed.PrioritizedPrimaryField && field.HasDefaultValue {
			t.serial = field
		}
		t.fields = append(t.fields, field)
		columns = append(columns, t.name+"."+quote(field.DBName))
	}
	t.columns = strings.Join(columns, ",")
	known, _ := tablesOf.LoadOrStore(model, t)
	return known.(*table), nil
}

func quote(name string) string { return `"` + name + `"` }

// rowBuffer is a row that is being read.
type rowBuffer struct {
	fields []*schema.Field
	row    reflect.Value
	dest   []any
	held   []any // of the columns that are to be opened or decoded
}

func (t *table) fillRow(ctx context.Context, row reflect.Value) rowBuffer {
	f := rowBuffer{fields: t.fields, row: row, dest: make([]any, len(t.fields))}
	for i, field := range t.fields {
		if field.Serializer == nil {
			f.dest[i] = field.ReflectValueOf(ctx, row).Addr().Interface()
			continue
		}
		if f.held == nil {
			f.held = make([]any, len(t.fields))
		}
		f.dest[i] = &f.held[i]
	}
	return f
}

// openSealed opens what is sealed, once the columns that name the row are
// known.
func (f rowBuffer) openSealed(ctx context.Context) error {
	for i, value := range f.held {
		if value == nil || value == "" {
			continue
		}
		field := f.fields[i]
		if err := field.Serializer.Scan(ctx, field, f.row, value); err != nil {
			return err
		}
	}
	return nil
}

// rowValues returns what an insertion writes. Instants of writing that are not
// set are set to now, as gorm does.
func (t *table) rowValues(tx *gorm.DB, row reflect.Value) ([]any, error) {
	ctx := tx.Statement.Context
	values := make([]any, 0, len(t.fields))
	for _, field := range t.fields {
		if field == t.serial {
			continue
		}
		value := field.ReflectValueOf(ctx, row)
		if (field.AutoCreateTime > 0 || field.AutoUpdateTime > 0) && value.IsZero() {
			if err := field.Set(ctx, row, tx.NowFunc()); err != nil {
				return nil, err
			}
		}
		plain := value.Interface()
		if field.Serializer != nil {
			var err error
			if plain, err = field.Serializer.Value(ctx, field, row, plain); err != nil {
				return nil, err
			}
		}
		values = append(values, plain)
	}
	return values, nil
}

// insertSQL builds the statement that inserts a row; returns reports whether it
// gives the id, which PostgreSQL does not report otherwise.
func (t *table) insertSQL(tx *gorm.DB, once bool) (words string, returns bool) {
	kept := &t.plain
	if once {
		kept = &t.once
	}
	words = kept.sqlFor(tx, func(postgres bool) string {
		words := t.insertWords(false)
		if once {
			words += " ON CONFLICT DO NOTHING"
		}
		if postgres && t.serial != nil {
			words += " RETURNING " + quote(t.serial.DBName)
		}
		return words
	})
	return words, t.serial != nil && IsPostgres(tx)
}

// insertWords returns the statement that inserts a row, its id before the other
// columns or left out.
func (t *table) insertWords(withID bool) string {
	var columns, marks []string
	if withID {
		columns, marks = append(columns, quote(t.serial.DBName)), append(marks, "?")
	}
	for _, field := range t.fields {
		if field != t.serial {
			columns, marks = append(columns, quote(field.DBName)), append(marks, "?")
		}
	}
	return "INSERT INTO " + t.name + " (" + strings.Join(columns, ",") + ") VALUES (" + strings.Join(marks, ",") + ")"
}

// text is a statement as each of the databases wants it, made when it is first
// needed.
type text struct {
	lite, postgres         string
	liteOnce, postgresOnce sync.Once
}

func (t *text) sqlFor(tx *gorm.DB, words func(postgres bool) string) string {
	if IsPostgres(tx) {
		t.postgresOnce.Do(func() { t.postgres = numberArgs(words(true)) })
		return t.postgres
	}
	t.liteOnce.Do(func() { t.lite = words(false) })
	return t.lite
}

// IsPostgres reports whether a statement goes to PostgreSQL; otherwise it is SQLite.
func IsPostgres(tx *gorm.DB) bool { return tx.Name() == string(dialectPostgres) }

// numberArgs puts PostgreSQL's numbers in the place of question marks.
func numberArgs(words string) string {
	var out strings.Builder
	for i, part := range strings.Split(words, "?") {
		if i > 0 {
			out.WriteString("$" + strconv.Itoa(i))
		}
		out.WriteString(part)
	}
	return out.String()
}
