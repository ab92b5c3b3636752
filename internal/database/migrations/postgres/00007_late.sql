-- +goose Up
-- The text that a row is the one later try of, and when that is due.
ALTER TABLE outbox ADD COLUMN late_of text NOT NULL DEFAULT '';
ALTER TABLE outbox ADD COLUMN due_at timestamptz;
