-- +goose Up
-- Who was allocated to which arm, and how. number counts the rows of a study
-- without a gap; hash covers the row and the hash before it.
CREATE TABLE allocations (
    study_id       text NOT NULL,
    number         bigint NOT NULL,
    participant_id text NOT NULL,
    stratum        text NOT NULL,
    method         text NOT NULL,
    block          integer NOT NULL,
    arm            text NOT NULL,
    probabilities  text NOT NULL,
    counter        bigint NOT NULL,
    algorithm      integer NOT NULL,
    allocated_by   text NOT NULL,
    allocated_at   timestamptz NOT NULL,
    hash           text NOT NULL,
    PRIMARY KEY (study_id, number)
);
CREATE UNIQUE INDEX allocations_participant ON allocations (study_id, participant_id);
CREATE INDEX allocations_stratum ON allocations (study_id, stratum, block, arm);

-- Decision points, also those at which the person was not available. id is the
-- prompt's, number counts the rows of a person from 1.
CREATE TABLE decisions (
    id             text PRIMARY KEY,
    study_id       text NOT NULL,
    participant_id text NOT NULL,
    number         bigint NOT NULL,
    schedule_id    text NOT NULL,
    local_date     text NOT NULL,
    day_in_study   integer NOT NULL,
    decided_at     timestamptz NOT NULL,
    available      boolean NOT NULL,
    reason         text NOT NULL,
    policy         text NOT NULL,
    options        text NOT NULL,
    option         text NOT NULL,
    send           boolean NOT NULL,
    instruction    text NOT NULL,
    intervention   boolean NOT NULL,
    rand_prob      double precision NOT NULL,
    draw           double precision NOT NULL,
    counter        bigint NOT NULL,
    algorithm      integer NOT NULL,
    build          text NOT NULL,
    outcome_hours  integer NOT NULL
);
CREATE UNIQUE INDEX decisions_participant ON decisions (participant_id, number);
CREATE INDEX decisions_study ON decisions (study_id, id);

CREATE TRIGGER allocations_fixed BEFORE UPDATE OR DELETE ON allocations FOR EACH ROW EXECUTE FUNCTION refuse_row_change();
CREATE TRIGGER decisions_fixed BEFORE UPDATE OR DELETE ON decisions FOR EACH ROW EXECUTE FUNCTION refuse_row_change();
