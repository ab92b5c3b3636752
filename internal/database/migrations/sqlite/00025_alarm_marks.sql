-- +goose Up
-- What operators say of an alarm: right or wrong, who and when.
ALTER TABLE alarms ADD COLUMN mark text NOT NULL DEFAULT '';
ALTER TABLE alarms ADD COLUMN marked_by text NOT NULL DEFAULT '';
ALTER TABLE alarms ADD COLUMN marked_at datetime;
