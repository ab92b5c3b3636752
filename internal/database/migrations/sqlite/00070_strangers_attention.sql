-- +goose Up
-- Numbers that are not enrolled have one attention of a kind, without a participant.
-- SQLite cannot drop a foreign key, so the table is written anew.
CREATE TABLE attention_anew (
    id             integer PRIMARY KEY AUTOINCREMENT,
    participant_id text NOT NULL,
    kind           text NOT NULL,
    ref            text NOT NULL,
    code           text NOT NULL,
    raised_at      datetime NOT NULL,
    ended_at       datetime
);
INSERT INTO attention_anew SELECT id, participant_id, kind, ref, code, raised_at, ended_at FROM attention;
DROP TABLE attention;
ALTER TABLE attention_anew RENAME TO attention;
CREATE UNIQUE INDEX attention_open ON attention (participant_id, kind) WHERE ended_at IS NULL;
CREATE INDEX attention_listed ON attention (id) WHERE ended_at IS NULL;

-- +goose StatementBegin
CREATE TRIGGER attention_insert_change AFTER INSERT ON attention WHEN EXISTS (SELECT 1 FROM change_viewers)
BEGIN
    INSERT INTO changes (participant_id) VALUES (NEW.participant_id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER attention_update_change AFTER UPDATE ON attention WHEN EXISTS (SELECT 1 FROM change_viewers)
BEGIN
    INSERT INTO changes (participant_id) VALUES (NEW.participant_id);
END;
-- +goose StatementEnd
