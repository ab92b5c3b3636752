-- +goose Up
ALTER TABLE inbound ADD COLUMN gate text NOT NULL DEFAULT '';
ALTER TABLE inbound ADD COLUMN from_index text NOT NULL DEFAULT '';
ALTER TABLE inbound ADD COLUMN repeat_index text NOT NULL DEFAULT '';

-- What a text is judged by is counted from these alone.
CREATE INDEX inbound_sender ON inbound (from_index, gate, received_at);
CREATE INDEX inbound_repeats ON inbound (repeat_index, received_at) WHERE repeat_index <> '';
CREATE INDEX inbound_keywords ON inbound (from_index, id) WHERE intent <> '';
CREATE INDEX inbound_gated ON inbound (participant_id, received_at) WHERE gate <> '';
CREATE INDEX outbox_accepted ON outbox (participant_id, accepted_at) WHERE accepted_at IS NOT NULL;

-- Texts to people who are not enrolled, so it refers to nothing.
CREATE TABLE hints (
    id           text PRIMARY KEY,
    inbound_id   bigint NOT NULL,
    status       text NOT NULL,
    error_code   text NOT NULL,
    created_at   timestamptz NOT NULL,
    told_at      timestamptz,
    provider_sid text NOT NULL,
    updated_at   timestamptz NOT NULL
);
CREATE INDEX hints_waiting ON hints (created_at) WHERE told_at IS NULL;
