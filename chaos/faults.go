package main

import (
	"context"
	"fmt"
	"time"

	"coachline/chaos/harness"
	"coachline/internal/sim/twilio"
)

const (
	// slowFor is how long no connection to the carrier is made: a caller's second
	// packet is dropped too, and its third one comes after three seconds.
	slowFor = 1500 * time.Millisecond
	// refusedFor is how long the relay cannot record what it has delivered.
	refusedFor = 3 * time.Second
)

// slowConnects keeps new connections to the carrier in the handshake for a
// while.
func (s *system) slowConnects() {
	s.board.Count(fmt.Sprintf("%s: %s", harness.TargetConnect, harness.FaultSlow))
	s.trace.Note("connections to the carrier are slow")
	go func() {
		release := s.connections.Hold(s.inner)
		defer release()
		twilio.Pause(s.inner, slowFor)
	}()
}

// markTrigger refuses delivery marks while the table of the driver says so.
const markTrigger = `
CREATE TABLE IF NOT EXISTS chaos_refused (until timestamptz NOT NULL);
CREATE OR REPLACE FUNCTION chaos_refuse() RETURNS trigger AS $$
BEGIN
	IF EXISTS (SELECT 1 FROM chaos_refused WHERE until > clock_timestamp()) THEN
		RAISE EXCEPTION 'refused by chaos';
	END IF;
	RETURN NEW;
END $$ LANGUAGE plpgsql;
CREATE OR REPLACE TRIGGER chaos_refuse BEFORE UPDATE OF delivered_at ON notices FOR EACH ROW EXECUTE FUNCTION chaos_refuse();`

// prepareMarks installs the trigger, once the product has made its tables.
func (s *system) prepareMarks(ctx context.Context) error {
	if _, err := s.db.ExecContext(ctx, markTrigger); err != nil {
		return fmt.Errorf("installing the trigger that refuses delivery marks: %w", err)
	}
	return nil
}

// refuseMarks lets the relay's delivery marks fail for a while.
func (s *system) refuseMarks() {
	_, err := s.db.ExecContext(s.inner, `INSERT INTO chaos_refused VALUES (clock_timestamp() + $1 * interval '1 second')`, refusedFor.Seconds())
	if err != nil {
		s.trace.Note("delivery marks are not refused: %v", err) // PostgreSQL may be down.
		return
	}
	s.board.Count(fmt.Sprintf("%s: %s", harness.TargetMarks, harness.FaultRefused))
	s.trace.Note("delivery marks are refused for %s", refusedFor)
}
