-- +goose Up
-- Why operators should look at participants: one open row of a kind each.
-- participants.attention shows the most urgent kind that is open.
CREATE TABLE attention (
    id             integer PRIMARY KEY AUTOINCREMENT,
    participant_id text NOT NULL REFERENCES participants (id),
    kind           text NOT NULL,
    ref            text NOT NULL,
    code           text NOT NULL,
    raised_at      datetime NOT NULL,
    ended_at       datetime
);
CREATE UNIQUE INDEX attention_open ON attention (participant_id, kind) WHERE ended_at IS NULL;
CREATE INDEX attention_listed ON attention (id) WHERE ended_at IS NULL;

INSERT INTO attention (participant_id, kind, ref, code, raised_at)
    SELECT id, attention, '', '', attention_at FROM participants WHERE attention <> '' AND attention_at IS NOT NULL AND removed_at IS NULL;
-- Workflows show both as search attributes and are told of what was there before.
INSERT INTO notices (participant_id, kind, ref, seq, created_at)
    SELECT id, 'flags', '', 0, COALESCE(attention_at, unreachable_at) FROM participants
    WHERE removed_at IS NULL AND (attention <> '' AND attention_at IS NOT NULL OR unreachable_at IS NOT NULL);
