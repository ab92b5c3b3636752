package rig

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Sizes are what the databases take on the disk, in bytes.
type Sizes struct {
	// Server is zero where the server keeps its state in memory.
	Server, Product int64
	// Tables are the tables with their indexes, by "database.table"; only
	// PostgreSQL tells.
	Tables map[string]int64
}

// Minus is what was added between two readings.
func (s Sizes) Minus(earlier Sizes) Sizes {
	tables := map[string]int64{}
	for name, size := range s.Tables {
		if grown := size - earlier.Tables[name]; grown != 0 {
			tables[name] = grown
		}
	}
	return Sizes{Server: s.Server - earlier.Server, Product: s.Product - earlier.Product, Tables: tables}
}

// Largest are the names of the n largest tables.
func (s Sizes) Largest(n int) []string {
	var names []string
	for name := range s.Tables {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if s.Tables[a] != s.Tables[b] {
			return int(min(max(s.Tables[b]-s.Tables[a], -1), 1))
		}
		return strings.Compare(a, b)
	})
	return names[:min(n, len(names))]
}

// Sizes reads the databases of the server and the product.
func (r *Rig) Sizes(ctx context.Context) (Sizes, error) {
	if r.postgresPort != 0 {
		return r.postgresSizes(ctx)
	}
	server, err := fileSizes(r.dir, "temporal.db")
	if err != nil {
		return Sizes{}, err
	}
	product, err := fileSizes(r.dir, "coachline.db")
	return Sizes{Server: server, Product: product}, err
}

// fileSizes is a SQLite file and what belongs to it.
func fileSizes(dir, name string) (int64, error) {
	files, err := filepath.Glob(filepath.Join(dir, name+"*"))
	if err != nil {
		return 0, fmt.Errorf("looking for %s: %w", name, err)
	}
	var sum int64
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return 0, fmt.Errorf("reading the size of %s: %w", file, err)
		}
		sum += info.Size()
	}
	return sum, nil
}

// databases are those of the one PostgreSQL.
var databases = []string{databaseCoach, databaseTemporal, databaseVisibility}

func (r *Rig) postgresSizes(ctx context.Context) (Sizes, error) {
	s := Sizes{Tables: map[string]int64{}}
	for _, name := range databases {
		err := r.inDatabase(name, func(db *sql.DB) error { return tableSizes(ctx, db, name, s.Tables) })
		if err != nil {
			return s, fmt.Errorf("reading the sizes of database %s: %w", name, err)
		}
	}
	for name, size := range s.Tables {
		if strings.HasPrefix(name, databaseCoach+".") {
			s.Product += size
		} else {
			s.Server += size
		}
	}
	return s, nil
}

// inDatabase does work on one database of the PostgreSQL.
func (r *Rig) inDatabase(name string, work func(db *sql.DB) error) (err error) {
	db, err := sql.Open("pgx", postgresURL(r.postgresPort, name))
	if err != nil {
		return fmt.Errorf("opening PostgreSQL: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return work(db)
}

func tableSizes(ctx context.Context, db *sql.DB, database string, into map[string]int64) (err error) {
	rows, err := db.QueryContext(ctx, `SELECT c.relname, pg_total_relation_size(c.oid) FROM pg_class c
		JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')`)
	if err != nil {
		return fmt.Errorf("asking for tables: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var table string
		var size int64
		if err := rows.Scan(&table, &size); err != nil {
			return fmt.Errorf("reading a table: %w", err)
		}
		into[database+"."+table] = size
	}
	return rows.Err() //nolint:wrapcheck // the caller says what was read
}

// Rewrite has PostgreSQL write every table anew, without rows that were
// replaced and without the space that it keeps for new ones; false on other
// backends, where nothing is done.
func (r *Rig) Rewrite(ctx context.Context) (bool, error) {
	if r.postgresPort == 0 {
		return false, nil
	}
	for _, name := range databases {
		err := r.inDatabase(name, func(db *sql.DB) error {
			_, err := db.ExecContext(ctx, "VACUUM FULL")
			return err //nolint:wrapcheck // wrapped below
		})
		if err != nil {
			return false, fmt.Errorf("rewriting database %s: %w", name, err)
		}
	}
	return true, nil
}

// Processor is what this process and all that it started have used so far: the
// server, the product, the stand-ins, and PostgreSQL.
func (r *Rig) Processor() (time.Duration, error) {
	own, err := processorOf(os.Getpid())
	if err != nil {
		return 0, err
	}
	below, err := processorBelow(os.Getpid())
	return own + below, err
}

// parentField is that of /proc/PID/stat, counted like the others.
const parentField = 1

// processorBelow is the processor time of all processes below a process, as
// far as they still run.
func processorBelow(pid int) (time.Duration, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, fmt.Errorf("listing processes (this load needs Linux): %w", err)
	}
	children := map[int][]int{}
	for _, entry := range entries {
		child, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		fields, err := processFields(child)
		if err != nil {
			continue // It has ended meanwhile.
		}
		if parent, err := strconv.Atoi(string(fields[parentField])); err == nil {
			children[parent] = append(children[parent], child)
		}
	}
	var sum time.Duration
	for below := children[pid]; len(below) > 0; below = below[1:] {
		if used, err := processorOf(below[0]); err == nil {
			sum += used
		}
		below = append(below, children[below[0]]...)
	}
	return sum, nil
}
