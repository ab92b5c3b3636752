package sample

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/models"
)

const (
	// atOnce are the people that one transaction stores.
	atOnce = 500
	// maxPeople is what the numbers of the sample have room for.
	maxPeople = 1_000_000
	// defaultDays is for how long people have been enrolled at most.
	defaultDays = 7
	// batch is the rows of one statement. The driver of SQLite looks each of its
	// values up among all of them, so more rows take longer.
	batch = 20
)

// ErrSampled says that the database has sample people already.
var ErrSampled = errors.New("the database has sample people already")

// Store adds sample people to a database, in transactions of 500, and calls progress
// with how many there are. ErrSampled where there are some already. Their rows are
// like those of people, but for the audit and the traces of turns, which they have
// none of.
func Store(ctx context.Context, base *database.Database, cfg Config, progress func(stored int)) error {
	if cfg.People < 1 || cfg.People > maxPeople {
		return fmt.Errorf("%d people: want 1 to %d", cfg.People, maxPeople)
	}
	if cfg.Days == 0 {
		cfg.Days = defaultDays
	}
	m := &rowMaker{cfg: cfg, base: base}
	if err := m.begin(ctx); err != nil {
		return err
	}
	for number := 0; number < cfg.People; {
		m.rows = rows{}
		for ; number < cfg.People && len(m.rows.people) < atOnce; number++ {
			// A person is the same however many there are.
			m.draw = rand.New(rand.NewPCG(cfg.Seed, uint64(number)))
			m.person(number)
		}
		if err := base.Write(ctx, m.store); err != nil {
			return fmt.Errorf("storing sample people: %w", err)
		}
		progress(number)
	}
	return m.end(ctx)
}

// begin looks for an earlier sample, and for the number that the next text gets.
func (m *rowMaker) begin(ctx context.Context) error {
	tx := m.base.Reader(ctx)
	var count int64
	if err := tx.Model(&models.Participant{}).Where("id >= ? AND id < ?", Prefix, Prefix+"~").Limit(1).Count(&count).Error; err != nil {
		return fmt.Errorf("looking for sample people: %w", err)
	}
	if count > 0 {
		return ErrSampled
	}
	if err := tx.Model(&models.Inbound{}).Select("COALESCE(max(id), 0)").Scan(&m.inboundID).Error; err != nil {
		return fmt.Errorf("looking for the newest text: %w", err)
	}
	return nil
}

// store stores the rows that were made.
func (m *rowMaker) store(tx *gorm.DB) error {
	r := m.rows
	for _, err := range []error{
		create(tx, r.people), create(tx, r.profiles), create(tx, r.schedules), create(tx, r.turns), create(tx, r.messages),
		create(tx, r.inbound), create(tx, r.outbox), create(tx, r.prompts), create(tx, r.consents), create(tx, r.attention),
		create(tx, r.alerts), create(tx, r.costs),
	} {
		if err != nil {
			return err
		}
	}
	// The sample has its rows of costs; those of the triggers would be second ones.
	refs := make([]string, len(r.inbound))
	for i, text := range r.inbound {
		refs[i] = strconv.FormatInt(text.ID, 10)
	}
	for chunk := range slices.Chunk(refs, batch) {
		if err := tx.Exec("DELETE FROM cost_queue WHERE source = 'inbound' AND ref IN ?", chunk).Error; err != nil {
			return err
		}
	}
	return nil
}

func create[T any](tx *gorm.DB, rows []T) error {
	if len(rows) == 0 {
		return nil
	}
	return tx.CreateInBatches(rows, batch).Error
}

// end has PostgreSQL number texts after those of the sample, and both databases
// plan by what is there now.
func (m *rowMaker) end(ctx context.Context) error {
	tx := m.base.Reader(ctx)
	if database.IsPostgres(tx) {
		if err := tx.Exec("SELECT setval(pg_get_serial_sequence('inbound', 'id'), ?)", max(m.inboundID, 1)).Error; err != nil {
			return fmt.Errorf("moving the number of the next text: %w", err)
		}
	}
	if err := tx.Exec("ANALYZE").Error; err != nil {
		return fmt.Errorf("analysing the tables: %w", err)
	}
	return nil
}
