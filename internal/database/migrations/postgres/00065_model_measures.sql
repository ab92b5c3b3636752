-- +goose Up
-- Where the context of a model is known from, and what was measured of its answers;
-- 0 before the first one.
ALTER TABLE capabilities ADD COLUMN context_source TEXT NOT NULL DEFAULT '';
ALTER TABLE capabilities ADD COLUMN characters_per_token double precision NOT NULL DEFAULT 0;
ALTER TABLE capabilities ADD COLUMN tokens_per_second double precision NOT NULL DEFAULT 0;
