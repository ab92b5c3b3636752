-- +goose Up
-- Requests of the API that were carried out under an Idempotency-Key, and what they
-- were answered. Keys and requests are kept as keyed hashes, for a day.
CREATE TABLE request_keys (
    id             text PRIMARY KEY,
    request_index  text NOT NULL,
    request_id     text NOT NULL,
    participant_id text NOT NULL,
    answer         text NOT NULL,
    created_at     datetime NOT NULL
);
CREATE INDEX request_keys_age ON request_keys (created_at);
CREATE INDEX request_keys_participant ON request_keys (participant_id);
