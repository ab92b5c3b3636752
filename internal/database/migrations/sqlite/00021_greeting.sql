-- +goose Up
-- When the greeting of a new participant goes out, and whether the person has
-- signed up themselves.
ALTER TABLE participants ADD COLUMN greeting_at datetime;
ALTER TABLE participants ADD COLUMN signed_up boolean NOT NULL DEFAULT false;
