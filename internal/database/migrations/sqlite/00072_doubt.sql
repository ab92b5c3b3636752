-- +goose Up
-- Since when the number may have gone to another person.
ALTER TABLE participants ADD COLUMN doubted_at datetime;
