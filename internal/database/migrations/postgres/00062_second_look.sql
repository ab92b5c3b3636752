-- +goose Up
-- A weak sign of danger is read once more in the turn of its message. An alert whose
-- second look is due was not raised yet, and one without danger never is: webhooks are
-- told of neither.
ALTER TABLE alarms ADD COLUMN look text NOT NULL DEFAULT '';
ALTER TABLE alarms ADD COLUMN looked_at timestamptz;
ALTER TABLE alarms ADD COLUMN look_reason text NOT NULL DEFAULT '';
CREATE INDEX alarms_due_looks ON alarms (created_at) WHERE look = 'due';

DROP TRIGGER alarms_opened_event ON alarms;
CREATE TRIGGER alarms_opened_event AFTER INSERT ON alarms FOR EACH ROW WHEN (NEW.look <> 'due') EXECUTE FUNCTION tell_alarms_opened();

-- +goose StatementBegin
CREATE FUNCTION tell_alarms_looked() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_event('alert.opened', NEW.participant_id, '', NEW.id, '', '', NEW.looked_at);
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER alarms_looked_event AFTER UPDATE OF look ON alarms FOR EACH ROW WHEN (OLD.look = 'due' AND NEW.look <> 'none') EXECUTE FUNCTION tell_alarms_looked();
