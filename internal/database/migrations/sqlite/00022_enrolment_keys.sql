-- +goose Up
-- Which enrolment an Idempotency-Key has made. Keys and requests are kept as keyed
-- hashes, for a day.
CREATE TABLE enrolment_keys (
    key_index      text PRIMARY KEY,
    body_index     text NOT NULL,
    participant_id text NOT NULL REFERENCES participants (id),
    created_at     datetime NOT NULL
);
CREATE INDEX enrolment_keys_age ON enrolment_keys (created_at);
