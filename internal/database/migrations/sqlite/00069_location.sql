-- +goose Up
-- Where a person lives, sealed; the model may name what is near.
ALTER TABLE participants ADD COLUMN location TEXT NOT NULL DEFAULT '';
