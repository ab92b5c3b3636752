-- +goose Up
-- How many segments the carrier counts in a text; NULL where it takes none, and in
-- rows from before there was such a count.
ALTER TABLE outbox ADD COLUMN segments integer;
CREATE INDEX outbox_created ON outbox (created_at);
CREATE INDEX prompts_target ON prompts (target_at);
