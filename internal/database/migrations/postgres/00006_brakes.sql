-- +goose Up
-- A sender that the carrier wants stopped: its texts wait until the instant.
-- Deleting the row releases it.
CREATE TABLE brakes (
    sender     text PRIMARY KEY,
    class      text NOT NULL,
    code       text NOT NULL,
    outbox_id  text NOT NULL,
    reported   boolean NOT NULL,
    set_at     timestamptz NOT NULL,
    refused_at timestamptz NOT NULL,
    until_at   timestamptz NOT NULL
);

-- Since when and why a person's number cannot be reached.
ALTER TABLE participants ADD COLUMN unreachable_at timestamptz;
ALTER TABLE participants ADD COLUMN unreachable_code text NOT NULL DEFAULT '';

-- How often a text was put off for a second try.
ALTER TABLE outbox ADD COLUMN late_tries integer NOT NULL DEFAULT 0;
