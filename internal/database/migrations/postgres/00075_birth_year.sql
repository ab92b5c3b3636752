-- +goose Up
-- The year in which a person was born, sealed; a study for adults takes no minors.
ALTER TABLE participants ADD COLUMN birth_year TEXT NOT NULL DEFAULT '';
