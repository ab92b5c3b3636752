-- +goose Up
-- The length of the recordings that a call of a model wrote down, in milliseconds.
ALTER TABLE costs ADD COLUMN audio_millis integer NOT NULL DEFAULT 0;

-- Budgets of scope study.
ALTER TABLE budgets ADD COLUMN study_id text NOT NULL DEFAULT '';
DROP INDEX budgets_scope;
CREATE UNIQUE INDEX budgets_scope ON budgets (scope, participant_id, study_id, period);
