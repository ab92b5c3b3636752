package database

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"coachline/internal/wrap"
	"coachline/models"
)

// resealPage is how many rows are read at a time.
const resealPage = 200

// maxResealPasses bounds how often all tables are read again because processes
// with an older key list wrote in the meantime.
const maxResealPasses = 5

// Resealed counts what Reseal did.
type Resealed struct {
	Rows    int64 `json:"rows"`    // rows read in the last pass
	Values  int64 `json:"values"`  // values sealed anew
	Indexes int64 `json:"indexes"` // phone indexes computed anew
	// Unreadable names columns that could not be opened, "table.column of row";
	// they are left as they are.
	Unreadable []string `json:"unreadable,omitempty"`
	// Released are the ids of keys that no row needs any longer.
	Released []string `json:"released,omitempty"`
}

// Reseal seals every value that is not bound to its place or not sealed with the
// current key anew, and computes phone indexes anew that another index key made.
// Values that others change meanwhile stay as those write them. It may be
// stopped and run again at any time: what is done is skipped. progress, when not
// nil, is told of each page. Without unreadable values the older keys are noted
// as needed by no row.
func (d *Database) Reseal(ctx context.Context, progress func(table string, done Resealed)) (Resealed, error) {
	if progress == nil {
		progress = func(string, Resealed) {}
	}
	var sum Resealed
	for range maxResealPasses {
		pass := resealing{Database: d, progress: progress, sum: Resealed{Values: sum.Values, Indexes: sum.Indexes}}
		for _, table := range sealedTables() {
			if err := pass.resealTable(ctx, table); err != nil {
				return pass.sum, fmt.Errorf("resealing %s: %w", table.Name, err)
			}
		}
		changed := pass.sum.Values > sum.Values || pass.sum.Indexes > sum.Indexes
		sum = pass.sum
		if changed {
			continue
		}
		if len(sum.Unreadable) > 0 {
			return sum, nil
		}
		var err error
		sum.Released, err = d.releaseKeys(ctx)
		return sum, err
	}
	return sum, errors.New("resealing: other processes still write with an older key list; restart them with the new one and run this again")
}

// CountSealed counts the rows that Reseal reads in one pass.
func (d *Database) CountSealed(ctx context.Context) (int64, error) {
	var sum int64
	for _, table := range sealedTables() {
		var rows int64
		if err := d.Reader(ctx).Table(table.Name).Count(&rows).Error; err != nil {
			return 0, fmt.Errorf("counting the rows of %s: %w", table.Name, err)
		}
		sum += rows
	}
	return sum, nil
}

// resealing is one pass over all tables.
type resealing struct {
	*Database
	progress func(string, Resealed)
	sum      Resealed
}

// readColumns lists what is read of a row: key, name, sealed columns, indexes.
func (t sealedTable) readColumns() []string {
	all := slices.Concat(t.Key, t.Row, t.Texts, t.Blobs)
	if index := t.indexColumn(); index != "" {
		all = append(all, index)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// indexColumn holds the blind index of the table's first sealed text; empty
// where there is none.
func (t sealedTable) indexColumn() string {
	switch t.Name {
	case "participants", "former_phones":
		return "phone_index"
	case "inbound":
		return "from_index"
	}
	return ""
}

func (r *resealing) resealTable(ctx context.Context, t sealedTable) error {
	var after []any
	for {
		rows, err := r.readPage(ctx, t, after)
		if err != nil {
			return err
		}
		if err := r.resealRows(ctx, t, rows); err != nil {
			return err
		}
		r.sum.Rows += int64(len(rows))
		r.progress(t.Name, r.sum)
		if len(rows) < resealPage {
			return nil
		}
		after = valuesOf(rows[len(rows)-1], t.Key)
	}
}

// readPage reads the next rows in the order of the primary key.
func (r *resealing) readPage(ctx context.Context, t sealedTable, after []any) ([]map[string]any, error) {
	columns := t.readColumns()
	find := r.Reader(ctx).Table(t.Name).Select(quoteAll(columns)).Order(strings.Join(quoteAll(t.Key), ", ")).Limit(resealPage)
	if after != nil {
		find = find.Where("("+strings.Join(quoteAll(t.Key), ", ")+") > ?", after)
	}
	return readRows(find)
}

// readRows reads the rows of a query as the driver gives them.
func readRows(find *gorm.DB) (rows []map[string]any, err error) {
	found, err := find.Rows()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	columns, err := found.Columns()
	if err != nil {
		return nil, err
	}
	for found.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := found.Scan(into...); err != nil {
			return nil, err
		}
		row := map[string]any{}
		for i, column := range columns {
			row[column] = values[i]
		}
		rows = append(rows, row)
	}
	return rows, found.Err()
}

// unreadable stands for a value that no key opens.
const unreadable = "(cannot be opened with the keys of this installation)"

// ReadTable returns rows of a table as the database has them, in the order of its
// first column, with what is sealed open.
func (d *Database) ReadTable(ctx context.Context, table, where string, args ...any) ([]map[string]any, error) {
	rows, err := readRows(d.Reader(ctx).Table(table).Where(where, args...).Order("1"))
	if err != nil {
		return nil, Classify(err)
	}
	i := slices.IndexFunc(sealedTables(), func(t sealedTable) bool { return t.Name == table })
	if i < 0 {
		return rows, nil
	}
	sealed := sealedTables()[i]
	for _, row := range rows {
		name := valuesOf(row, sealed.Row)
		for _, column := range sealed.Texts {
			at := func() ([]byte, error) { return encodePlace(table, column, name) }
			plain, err := openValue(withSession(ctx, &session{ring: d.ring}), reflect.String, row[column], at)
			row[column] = string(plain)
			if err != nil {
				row[column] = unreadable
			}
		}
	}
	return rows, nil
}

func quoteAll(columns []string) []string {
	out := make([]string, len(columns))
	for i, column := range columns {
		out[i] = `"` + column + `"`
	}
	return out
}

func valuesOf(row map[string]any, columns []string) []any {
	out := make([]any, len(columns))
	for i, column := range columns {
		out[i] = row[column]
	}
	return out
}

// change is a column of a row and what it is to become.
type change struct {
	row      map[string]any
	column   string
	old, now any
}

func (r *resealing) resealRows(ctx context.Context, t sealedTable, rows []map[string]any) error {
	var changes, indexes []change
	for _, row := range rows {
		for _, column := range slices.Concat(t.Texts, t.Blobs) {
			kind := reflect.String
			if slices.Contains(t.Blobs, column) {
				kind = reflect.Slice
			}
			now, err := r.resealValue(t, row, column, kind)
			if err != nil {
				r.sum.Unreadable = append(r.sum.Unreadable, fmt.Sprintf("%s.%s of %v", t.Name, column, valuesOf(row, t.Key)))
				continue
			}
			if now != nil {
				changes = append(changes, change{row, column, row[column], now})
			}
		}
		if index, ok := r.changedIndex(t, row); ok {
			indexes = append(indexes, index)
		}
	}
	if err := r.applyChanges(ctx, t, changes); err != nil {
		return err
	}
	return r.applyIndexes(ctx, t, indexes)
}

// resealValue gives the new value of a column; nil where it may stay.
func (r *resealing) resealValue(t sealedTable, row map[string]any, column string, kind reflect.Kind) (any, error) {
	box, err := sealedBytes(kind, row[column])
	if err != nil || len(box) == 0 || r.ring.IsFresh(box) {
		return nil, err
	}
	at, err := encodePlace(t.Name, column, valuesOf(row, t.Row))
	if err != nil {
		return nil, err
	}
	plain, err := r.ring.Open(box, at)
	if err != nil {
		return nil, err
	}
	if box, err = r.ring.Seal(plain, at); err != nil || kind != reflect.String {
		return box, err
	}
	return base64.StdEncoding.EncodeToString(box), nil
}

// changedIndex returns the blind index of a row where another index key made it.
func (r *resealing) changedIndex(t sealedTable, row map[string]any) (change, bool) {
	column := t.indexColumn()
	if column == "" || row[column] == nil || row[column] == "" {
		return change{}, false
	}
	box, err := sealedBytes(reflect.String, row[t.Texts[0]])
	if err != nil || len(box) == 0 {
		return change{}, false
	}
	at, err := encodePlace(t.Name, t.Texts[0], valuesOf(row, t.Row))
	if err != nil {
		return change{}, false
	}
	plain, err := r.ring.Open(box, at)
	if err != nil {
		return change{}, false // told as unreadable already
	}
	index := r.ring.Index(string(plain))
	return change{row, column, row[column], index}, fmt.Sprint(row[column]) != index
}

// applyChanges writes values whose columns are still as they were read.
func (r *resealing) applyChanges(ctx context.Context, t sealedTable, changes []change) error {
	if len(changes) == 0 {
		return nil
	}
	var done int64
	err := r.Write(ctx, func(tx *gorm.DB) error {
		done = 0
		for _, c := range changes {
			written, err := replaceValue(tx, t, c)
			if err != nil {
				return err
			}
			done += written
		}
		return nil
	})
	if err == nil {
		r.sum.Values += done
	}
	return err
}

// applyIndexes writes each index by itself, and that of the consents about the
// number with it: of two enrolled participants with
// one phone, which a wrong index let in, the second stays as it is.
func (r *resealing) applyIndexes(ctx context.Context, t sealedTable, changes []change) error {
	for _, c := range changes {
		var done int64
		err := r.Write(ctx, func(tx *gorm.DB) error {
			var err error
			if done, err = replaceValue(tx, t, c); err != nil || done == 0 || c.column != "phone_index" {
				return err
			}
			for _, table := range []string{"consents", "suppressions"} {
				if err := tx.Table(table).Where("phone_index = ?", c.old).UpdateColumn("phone_index", c.now).Error; err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			if !errors.Is(err, models.ErrConflict) {
				return err
			}
			r.sum.Unreadable = append(r.sum.Unreadable, fmt.Sprintf("%s.%s of %v: its phone belongs to another enrolled participant; remove one of them",
				t.Name, c.column, valuesOf(c.row, t.Key)))
			continue
		}
		r.sum.Indexes += done
	}
	return nil
}

func replaceValue(tx *gorm.DB, t sealedTable, c change) (int64, error) {
	update := tx.Table(t.Name)
	for _, column := range t.Key {
		update = update.Where(`"`+column+`" = ?`, c.row[column])
	}
	res := update.Where(`"`+c.column+`" = ?`, c.old).UpdateColumn(c.column, c.now)
	return res.RowsAffected, res.Error
}

// releaseKeys notes that no row needs the keys behind the current one.
func (d *Database) releaseKeys(ctx context.Context) ([]string, error) {
	var released []string
	err := d.Write(ctx, func(tx *gorm.DB) error {
		var keys []payloadKey
		err := tx.Where("id <> ? AND used_at IS NOT NULL AND resealed_at IS NULL", d.ring.CurrentKeyID()).Order("id").Find(&keys).Error
		if err != nil {
			return err
		}
		released = nil
		for _, key := range keys {
			released = append(released, key.ID)
		}
		return tx.Model(&payloadKey{}).Where("id IN ?", append([]string{""}, released...)).
			UpdateColumn("resealed_at", Instant(time.Now())).Error
	})
	return released, wrap.Error(err, "releasing older keys")
}
