-- +goose Up
-- What the person reported of a prompt, as the coach saved it: done, partly, not_done.
ALTER TABLE prompts ADD COLUMN outcome TEXT NOT NULL DEFAULT '';
