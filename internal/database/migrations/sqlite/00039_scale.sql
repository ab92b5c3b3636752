-- +goose Up
-- The length of the recordings that a call of a model wrote down, in milliseconds.
ALTER TABLE costs ADD COLUMN audio_millis integer NOT NULL DEFAULT 0;

-- Budgets of scope study.
ALTER TABLE budgets ADD COLUMN study_id text NOT NULL DEFAULT '';
DROP INDEX budgets_scope;
CREATE UNIQUE INDEX budgets_scope ON budgets (scope, participant_id, study_id, period);

-- Up to where the chain of the audit was found in order, in one row. mac covers
-- seq, hash and whole_at with a key that is not in the database.
CREATE TABLE audit_checks (
    id         integer PRIMARY KEY,
    seq        integer NOT NULL,
    hash       text NOT NULL,
    whole_at   datetime NOT NULL,
    mac        text NOT NULL,
    claimed_at datetime
);

-- For a count of Today, which then reads no row of a person.
CREATE INDEX participants_unreachable ON participants (id) WHERE removed_at IS NULL AND unreachable_at IS NOT NULL;
