-- +goose Up
-- posterior is what a decision by Thompson sampling rested on, as JSON; empty where
-- probabilities are fixed. decision_outcomes has what came of decisions when they were
-- counted, decision_posteriors how often each option was answered and not until the
-- beginning of a day in UTC.
ALTER TABLE decisions ADD COLUMN posterior text NOT NULL DEFAULT '';
CREATE INDEX decisions_decided ON decisions (study_id, decided_at);
CREATE TABLE decision_posteriors (
    study_id  text NOT NULL,
    day       text NOT NULL,
    option    text NOT NULL,
    successes integer NOT NULL,
    failures  integer NOT NULL,
    PRIMARY KEY (study_id, day, option)
);
CREATE TABLE decision_outcomes (
    decision_id text PRIMARY KEY,
    study_id    text NOT NULL,
    day         text NOT NULL,
    option      text NOT NULL,
    answered    boolean NOT NULL
);
CREATE INDEX decision_outcomes_day ON decision_outcomes (study_id, day);
-- +goose StatementBegin
CREATE TRIGGER decision_posteriors_keep BEFORE DELETE ON decision_posteriors
BEGIN
    SELECT RAISE(ABORT, 'decision_posteriors are append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER decision_posteriors_fixed BEFORE UPDATE ON decision_posteriors
BEGIN
    SELECT RAISE(ABORT, 'decision_posteriors are append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER decision_outcomes_keep BEFORE DELETE ON decision_outcomes
BEGIN
    SELECT RAISE(ABORT, 'decision_outcomes are append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER decision_outcomes_fixed BEFORE UPDATE ON decision_outcomes
BEGIN
    SELECT RAISE(ABORT, 'decision_outcomes are append-only');
END;
-- +goose StatementEnd
