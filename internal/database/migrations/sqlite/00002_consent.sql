-- +goose Up
ALTER TABLE inbound ADD COLUMN intent text NOT NULL DEFAULT '';
ALTER TABLE inbound ADD COLUMN intent_method text NOT NULL DEFAULT '';

-- Texts that consent rules answered have no number.
DROP INDEX inbound_seq;
CREATE UNIQUE INDEX inbound_seq ON inbound (participant_id, seq) WHERE seq > 0;

-- Kept whatever becomes of the participant, so it refers to nothing.
CREATE TABLE consents (
    id             integer PRIMARY KEY AUTOINCREMENT,
    participant_id text NOT NULL,
    action         text NOT NULL,
    method         text NOT NULL,
    text           text NOT NULL,
    recorded_by    text NOT NULL,
    inbound_id     integer NOT NULL,
    turn_id        text NOT NULL,
    at             datetime NOT NULL
);
CREATE INDEX consents_participant ON consents (participant_id, id);

-- Until now only the carrier's refusal opted anybody out.
INSERT INTO consents (participant_id, action, method, text, recorded_by, inbound_id, turn_id, at)
SELECT id, 'opt_out', 'carrier_error', '', 'carrier', 0, '', updated_at FROM participants WHERE status = 'opted_out';
