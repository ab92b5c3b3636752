-- +goose Up
-- When the carrier said last that the number is still the person's.
ALTER TABLE participants ADD COLUMN number_checked_at timestamptz;
