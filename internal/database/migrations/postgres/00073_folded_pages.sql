-- +goose Up
-- The alert whose page counts this one too; empty where it pages by itself.
ALTER TABLE alarms ADD COLUMN folded_into text NOT NULL DEFAULT '';
CREATE INDEX alarms_folded ON alarms (folded_into) WHERE folded_into <> '';
