-- +goose Up
-- Whether more is likely to follow a text: open, ended, or empty.
ALTER TABLE notices ADD COLUMN shape TEXT NOT NULL DEFAULT '';
