-- +goose Up
-- Proof that a text told its reader that a program writes.
CREATE TABLE disclosures (
	outbox_id text PRIMARY KEY,
	participant_id text NOT NULL,
	kind text NOT NULL,
	locale text NOT NULL,
	words text NOT NULL,
	at timestamptz NOT NULL
);
CREATE INDEX disclosures_participant ON disclosures (participant_id, at);
