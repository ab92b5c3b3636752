-- +goose Up
-- How a round came about, and a number that rises with every change of what is
-- remembered of a person.
ALTER TABLE steps ADD COLUMN trace text NOT NULL DEFAULT '';
ALTER TABLE participants ADD COLUMN memory_version bigint NOT NULL DEFAULT 0;
