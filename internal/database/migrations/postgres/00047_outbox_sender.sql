-- +goose Up
-- The number or messaging service that a text was posted from; empty before that,
-- and in rows from before there was this column.
ALTER TABLE outbox ADD COLUMN sent_from text NOT NULL DEFAULT '';
