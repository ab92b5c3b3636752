-- +goose Up
-- Which safety text is for an alert; older ones had but one.
ALTER TABLE alarms ADD COLUMN safety text NOT NULL DEFAULT 'oneself';
