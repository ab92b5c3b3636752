-- +goose Up
-- A number that is not enrolled has alarms without a participant; webhooks of all
-- studies are told of them too.
DROP TRIGGER IF EXISTS alarms_opened_event;
DROP TRIGGER IF EXISTS alarms_acknowledged_event;

-- +goose StatementBegin
CREATE TRIGGER alarms_opened_event AFTER INSERT ON alarms WHEN EXISTS (SELECT 1 FROM webhooks)
BEGIN
    INSERT INTO webhook_deliveries (webhook_id, type, participant_id, study_id, object_id, status, code, at, next_at)
    SELECT w.id, 'alert.opened', NEW.participant_id, COALESCE(p.study_id, ''), NEW.id, '', '', NEW.created_at, NEW.created_at
    FROM webhooks w
    LEFT JOIN participants p ON p.id = NEW.participant_id
    WHERE w.state = 'active' AND w.study_id IN ('', COALESCE(p.study_id, '')) AND (w.events = '' OR instr(w.events, ' ' || 'alert.opened' || ' ') > 0);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER alarms_acknowledged_event AFTER UPDATE OF acknowledged_at ON alarms WHEN OLD.acknowledged_at IS NULL AND NEW.acknowledged_at IS NOT NULL AND EXISTS (SELECT 1 FROM webhooks)
BEGIN
    INSERT INTO webhook_deliveries (webhook_id, type, participant_id, study_id, object_id, status, code, at, next_at)
    SELECT w.id, 'alert.acknowledged', NEW.participant_id, COALESCE(p.study_id, ''), NEW.id, '', '', NEW.acknowledged_at, NEW.acknowledged_at
    FROM webhooks w
    LEFT JOIN participants p ON p.id = NEW.participant_id
    WHERE w.state = 'active' AND w.study_id IN ('', COALESCE(p.study_id, '')) AND (w.events = '' OR instr(w.events, ' ' || 'alert.acknowledged' || ' ') > 0);
END;
-- +goose StatementEnd
