-- +goose Up
-- Turns whose texts are still to be remembered. claimed_until is when the next
-- batch may take one; in the past where no batch has it.
CREATE TABLE memory_queue (
    turn_id        text PRIMARY KEY REFERENCES turns (id),
    participant_id text NOT NULL REFERENCES participants (id),
    queued_at      timestamptz NOT NULL,
    claimed_until  timestamptz NOT NULL
);
CREATE INDEX memory_queue_next ON memory_queue (claimed_until, queued_at);
