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
    successes bigint NOT NULL,
    failures  bigint NOT NULL,
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
CREATE TRIGGER decision_posteriors_fixed BEFORE UPDATE OR DELETE ON decision_posteriors FOR EACH ROW EXECUTE FUNCTION refuse_row_change();
CREATE TRIGGER decision_outcomes_fixed BEFORE UPDATE OR DELETE ON decision_outcomes FOR EACH ROW EXECUTE FUNCTION refuse_row_change();
