-- +goose Up
-- A number that is not enrolled may be in a crisis too; its alarms have no participant.
-- SQLite cannot drop a foreign key, so the table is written anew.
CREATE TABLE alarms_anew (
    id              text PRIMARY KEY,
    participant_id  text NOT NULL,
    inbound_id      integer NOT NULL,
    danger          text NOT NULL,
    answer          boolean NOT NULL,
    created_at      datetime NOT NULL,
    told_at         datetime,
    paged_at        datetime,
    cleared_at      datetime,
    note            text NOT NULL,
    tier            text NOT NULL DEFAULT 'A',
    rule            text NOT NULL DEFAULT '',
    kind            text NOT NULL DEFAULT '',
    score           real NOT NULL DEFAULT 0,
    escalated       boolean NOT NULL DEFAULT false,
    pages           boolean NOT NULL DEFAULT true,
    mark            text NOT NULL DEFAULT '',
    marked_by       text NOT NULL DEFAULT '',
    marked_at       datetime,
    acknowledged_at datetime,
    acknowledged_by text NOT NULL DEFAULT '',
    escalated_at    datetime
);
INSERT INTO alarms_anew SELECT id, participant_id, inbound_id, danger, answer, created_at, told_at, paged_at, cleared_at, note, tier, rule, kind, score,
    escalated, pages, mark, marked_by, marked_at, acknowledged_at, acknowledged_by, escalated_at FROM alarms;
DROP TABLE alarms;
ALTER TABLE alarms_anew RENAME TO alarms;
CREATE INDEX alarms_of ON alarms (participant_id, created_at);
CREATE INDEX alarms_waiting ON alarms (created_at) WHERE told_at IS NULL;
CREATE INDEX alarms_unacknowledged ON alarms (created_at) WHERE pages AND acknowledged_at IS NULL AND escalated_at IS NULL AND cleared_at IS NULL;

-- +goose StatementBegin
CREATE TRIGGER alarms_insert_change AFTER INSERT ON alarms WHEN EXISTS (SELECT 1 FROM change_viewers)
BEGIN
    INSERT INTO changes (participant_id) VALUES (NEW.participant_id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER alarms_update_change AFTER UPDATE ON alarms WHEN EXISTS (SELECT 1 FROM change_viewers)
BEGIN
    INSERT INTO changes (participant_id) VALUES (NEW.participant_id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER alarms_opened_event AFTER INSERT ON alarms WHEN EXISTS (SELECT 1 FROM webhooks)
BEGIN
    INSERT INTO webhook_deliveries (webhook_id, type, participant_id, study_id, object_id, status, code, at, next_at)
    SELECT w.id, 'alert.opened', NEW.participant_id, p.study_id, NEW.id, '', '', NEW.created_at, NEW.created_at
    FROM webhooks w
    JOIN participants p ON p.id = NEW.participant_id
    WHERE w.state = 'active' AND w.study_id IN ('', p.study_id) AND (w.events = '' OR instr(w.events, ' ' || 'alert.opened' || ' ') > 0);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER alarms_acknowledged_event AFTER UPDATE OF acknowledged_at ON alarms WHEN OLD.acknowledged_at IS NULL AND NEW.acknowledged_at IS NOT NULL AND EXISTS (SELECT 1 FROM webhooks)
BEGIN
    INSERT INTO webhook_deliveries (webhook_id, type, participant_id, study_id, object_id, status, code, at, next_at)
    SELECT w.id, 'alert.acknowledged', NEW.participant_id, p.study_id, NEW.id, '', '', NEW.acknowledged_at, NEW.acknowledged_at
    FROM webhooks w
    JOIN participants p ON p.id = NEW.participant_id
    WHERE w.state = 'active' AND w.study_id IN ('', p.study_id) AND (w.events = '' OR instr(w.events, ' ' || 'alert.acknowledged' || ' ') > 0);
END;
-- +goose StatementEnd
