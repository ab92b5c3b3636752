-- +goose Up
-- A weak sign of danger is read once more in the turn of its message. An alert whose
-- second look is due was not raised yet, and one without danger never is: webhooks are
-- told of neither.
ALTER TABLE alarms ADD COLUMN look text NOT NULL DEFAULT '';
ALTER TABLE alarms ADD COLUMN looked_at datetime;
ALTER TABLE alarms ADD COLUMN look_reason text NOT NULL DEFAULT '';
CREATE INDEX alarms_due_looks ON alarms (created_at) WHERE look = 'due';

DROP TRIGGER IF EXISTS alarms_opened_event;

-- +goose StatementBegin
CREATE TRIGGER alarms_opened_event AFTER INSERT ON alarms WHEN NEW.look <> 'due' AND EXISTS (SELECT 1 FROM webhooks)
BEGIN
    INSERT INTO webhook_deliveries (webhook_id, type, participant_id, study_id, object_id, status, code, at, next_at)
    SELECT w.id, 'alert.opened', NEW.participant_id, COALESCE(p.study_id, ''), NEW.id, '', '', NEW.created_at, NEW.created_at
    FROM webhooks w
    LEFT JOIN participants p ON p.id = NEW.participant_id
    WHERE w.state = 'active' AND w.study_id IN ('', COALESCE(p.study_id, '')) AND (w.events = '' OR instr(w.events, ' ' || 'alert.opened' || ' ') > 0);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER alarms_looked_event AFTER UPDATE OF look ON alarms WHEN OLD.look = 'due' AND NEW.look <> 'none' AND EXISTS (SELECT 1 FROM webhooks)
BEGIN
    INSERT INTO webhook_deliveries (webhook_id, type, participant_id, study_id, object_id, status, code, at, next_at)
    SELECT w.id, 'alert.opened', NEW.participant_id, COALESCE(p.study_id, ''), NEW.id, '', '', NEW.looked_at, NEW.looked_at
    FROM webhooks w
    LEFT JOIN participants p ON p.id = NEW.participant_id
    WHERE w.state = 'active' AND w.study_id IN ('', COALESCE(p.study_id, '')) AND (w.events = '' OR instr(w.events, ' ' || 'alert.opened' || ' ') > 0);
END;
-- +goose StatementEnd
