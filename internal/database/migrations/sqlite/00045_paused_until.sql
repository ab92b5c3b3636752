-- +goose Up
-- When the pause of a paused participant ends by itself; null where an operator
-- ends it.
ALTER TABLE participants ADD COLUMN paused_until datetime;
CREATE INDEX participants_paused ON participants (paused_until) WHERE paused_until IS NOT NULL;
