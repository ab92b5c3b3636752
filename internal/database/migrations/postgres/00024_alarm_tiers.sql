-- +goose Up
-- How a message that may be a crisis was recognised, and how grave it is. What was
-- raised before is of the graver tier, and paged a person.
ALTER TABLE inbound ADD COLUMN danger_tier text NOT NULL DEFAULT '';
ALTER TABLE inbound ADD COLUMN danger_rule text NOT NULL DEFAULT '';
ALTER TABLE inbound ADD COLUMN danger_kind text NOT NULL DEFAULT '';
ALTER TABLE inbound ADD COLUMN danger_score double precision NOT NULL DEFAULT 0;
UPDATE inbound SET danger_tier = 'A' WHERE danger <> '';

ALTER TABLE alarms ADD COLUMN tier text NOT NULL DEFAULT 'A';
ALTER TABLE alarms ADD COLUMN rule text NOT NULL DEFAULT '';
ALTER TABLE alarms ADD COLUMN kind text NOT NULL DEFAULT '';
ALTER TABLE alarms ADD COLUMN score double precision NOT NULL DEFAULT 0;
ALTER TABLE alarms ADD COLUMN escalated boolean NOT NULL DEFAULT false;
ALTER TABLE alarms ADD COLUMN pages boolean NOT NULL DEFAULT true;
