-- +goose Up
-- What stays of people who were erased: a pseudonym, when, by whom, how much, and
-- how far it has come. The reason is sealed.
CREATE TABLE erasures (
    participant_id   text PRIMARY KEY REFERENCES participants (id),
    state            text NOT NULL,
    requested_by     text NOT NULL,
    requested_at     timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL,
    finished_at      timestamptz,
    suppressed       boolean NOT NULL,
    executions       bigint NOT NULL,
    carrier_messages bigint NOT NULL,
    carrier_unknown  bigint NOT NULL,
    problem          text NOT NULL,
    counts           text NOT NULL,
    reason           text NOT NULL
);
CREATE INDEX erasures_pending ON erasures (requested_at) WHERE state <> 'done';

-- Numbers of erased people that have opted out, as keyed hashes.
CREATE TABLE suppressions (
    phone_index text PRIMARY KEY,
    method      text NOT NULL,
    recorded_by text NOT NULL,
    at          timestamptz NOT NULL
);
