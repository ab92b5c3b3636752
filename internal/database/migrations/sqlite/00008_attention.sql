-- +goose Up
-- Why and since when a person should look after a participant.
ALTER TABLE participants ADD COLUMN attention text NOT NULL DEFAULT '';
ALTER TABLE participants ADD COLUMN attention_at datetime;
CREATE INDEX participants_attention ON participants (id) WHERE attention <> '';

-- What a text was found to speak of.
ALTER TABLE inbound ADD COLUMN danger text NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN danger text NOT NULL DEFAULT '';

-- A text that may be a crisis: who is paged for it, and whether the safety text
-- answers it. The note is an operator's, sealed.
CREATE TABLE alarms (
    id             text PRIMARY KEY,
    participant_id text NOT NULL REFERENCES participants (id),
    inbound_id     bigint NOT NULL,
    danger         text NOT NULL,
    answer         boolean NOT NULL,
    created_at     datetime NOT NULL,
    told_at        datetime,
    paged_at       datetime,
    cleared_at     datetime,
    note           text NOT NULL
);
CREATE INDEX alarms_of ON alarms (participant_id, created_at);
CREATE INDEX alarms_waiting ON alarms (created_at) WHERE told_at IS NULL;
