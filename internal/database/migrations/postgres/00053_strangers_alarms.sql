-- +goose Up
-- A number that is not enrolled may be in a crisis too; its alarms have no participant.
ALTER TABLE alarms DROP CONSTRAINT IF EXISTS alarms_participant_id_fkey;
