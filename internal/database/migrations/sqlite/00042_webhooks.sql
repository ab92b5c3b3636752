-- +goose Up
-- Receivers of signed events outside, and what each of them is still to be told.
CREATE TABLE webhooks (
    id            text PRIMARY KEY,
    url           text NOT NULL,
    study_id      text NOT NULL DEFAULT '',
    events        text NOT NULL DEFAULT '',
    secret        text NOT NULL,
    rotated_at    datetime,
    state         text NOT NULL,
    failing_since datetime,
    last_error    text NOT NULL DEFAULT '',
    created_by    text NOT NULL,
    created_at    datetime NOT NULL,
    updated_at    datetime NOT NULL,
    version       integer NOT NULL
);
CREATE TABLE webhook_deliveries (
    id             integer PRIMARY KEY AUTOINCREMENT,
    webhook_id     text NOT NULL REFERENCES webhooks (id),
    type           text NOT NULL,
    participant_id text NOT NULL,
    study_id       text NOT NULL,
    object_id      text NOT NULL,
    status         text NOT NULL,
    code           text NOT NULL,
    at             datetime NOT NULL,
    next_at        datetime NOT NULL,
    attempts       integer NOT NULL DEFAULT 0,
    delivered_at   datetime,
    answer         integer NOT NULL DEFAULT 0,
    error          text NOT NULL DEFAULT ''
);
CREATE INDEX webhook_deliveries_open ON webhook_deliveries (webhook_id, participant_id, id) WHERE delivered_at IS NULL;
CREATE INDEX webhook_deliveries_of ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_at ON webhook_deliveries (at);

-- An event is written by the transaction that it tells of, once for each receiver
-- that wants it. While there is none it costs one look at an empty table.

-- +goose StatementBegin
CREATE TRIGGER participants_enrolled_event AFTER INSERT ON participants WHEN EXISTS (SELECT 1 FROM webhooks)
BEGIN
    INSERT INTO webhook_deliveries (webhook_id, type, participant_id, study_id, object_id, status, code, at, next_at)
    SELECT w.id, 'participant.enrolled', NEW.id, NEW.study_id, NEW.id, NEW.status, '', NEW.enrolled_at, NEW.enrolled_at
    FROM webhooks w
    WHERE w.state = 'active' AND w.study_id IN ('', NEW.study_id) AND (w.events = '' OR instr(w.events, ' ' || 'participant.enrolled' || ' ') > 0);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER participants_status_event AFTER UPDATE OF status ON participants WHEN NEW.status <> OLD.status AND NEW.removed_at IS NULL AND EXISTS (SELECT 1 FROM webhooks)
BEGIN
    INSERT INTO webhook_deliveries (webhook_id, type, participant_id, study_id, object_id, status, code, at, next_at)
    SELECT w.id, 'participant.status', NEW.id, NEW.study_id, NEW.id, NEW.status, '', NEW.updated_at, NEW.updated_at
    FROM webhooks w
    WHERE w.state = 'active' AND w.study_id IN ('', NEW.study_id) AND (w.events = '' OR instr(w.events, ' ' || 'participant.status' || ' ') > 0);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER participants_removed_event AFTER UPDATE OF removed_at ON participants WHEN OLD.removed_at IS NULL AND NEW.removed_at IS NOT NULL AND EXISTS (SELECT 1 FROM webhooks)
BEGIN
    INSERT INTO webhook_deliveries (webhook_id, type, participant_id, study_id, object_id, status, code, at, next_at)
    SELECT w.id, 'participant.removed', NEW.id, NEW.study_id, NEW.id, NEW.status, '', NEW.removed_at, NEW.removed_at
    FROM webhooks w
    WHERE w.state = 'active' AND w.study_id IN ('', NEW.study_id) AND (w.events = '' OR instr(w.events, ' ' || 'participant.removed' || ' ') > 0);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER inbound_received_event AFTER INSERT ON inbound WHEN NEW.participant_id <> '' AND EXISTS (SELECT 1 FROM webhooks)
BEGIN
    INSERT INTO webhook_deliveries (webhook_id, type, participant_id, study_id, object_id, status, code, at, next_at)
    SELECT w.id, 'message.received', NEW.participant_id, p.study_id, CAST(NEW.id AS text), NEW.intent, NEW.gate, NEW.received_at, NEW.received_at
    FROM webhooks w
    JOIN participants p ON p.id = NEW.participant_id
    WHERE w.state = 'active' AND w.study_id IN ('', p.study_id) AND (w.events = '' OR instr(w.events, ' ' || 'message.received' || ' ') > 0);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER outbox_status_event AFTER UPDATE OF status ON outbox WHEN NEW.status <> OLD.status AND NEW.status NOT IN ('ready', 'sending') AND EXISTS (SELECT 1 FROM webhooks)
BEGIN
    INSERT INTO webhook_deliveries (webhook_id, type, participant_id, study_id, object_id, status, code, at, next_at)
    SELECT w.id, 'message.status', NEW.participant_id, p.study_id, NEW.id, NEW.status, NEW.error_code, NEW.updated_at, NEW.updated_at
    FROM webhooks w
    JOIN participants p ON p.id = NEW.participant_id
    WHERE w.state = 'active' AND w.study_id IN ('', p.study_id) AND (w.events = '' OR instr(w.events, ' ' || 'message.status' || ' ') > 0);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER prompts_added_event AFTER INSERT ON prompts WHEN NEW.state <> 'planned' AND EXISTS (SELECT 1 FROM webhooks)
BEGIN
    INSERT INTO webhook_deliveries (webhook_id, type, participant_id, study_id, object_id, status, code, at, next_at)
    SELECT w.id, 'prompt.status', NEW.participant_id, p.study_id, NEW.id, NEW.state, NEW.reason, COALESCE(NEW.responded_at, NEW.reminder_sent_at, NEW.sent_at, NEW.target_at), COALESCE(NEW.responded_at, NEW.reminder_sent_at, NEW.sent_at, NEW.target_at)
    FROM webhooks w
    JOIN participants p ON p.id = NEW.participant_id
    WHERE w.state = 'active' AND w.study_id IN ('', p.study_id) AND (w.events = '' OR instr(w.events, ' ' || 'prompt.status' || ' ') > 0);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER prompts_state_event AFTER UPDATE OF state ON prompts WHEN NEW.state <> OLD.state AND EXISTS (SELECT 1 FROM webhooks)
BEGIN
    INSERT INTO webhook_deliveries (webhook_id, type, participant_id, study_id, object_id, status, code, at, next_at)
    SELECT w.id, 'prompt.status', NEW.participant_id, p.study_id, NEW.id, NEW.state, NEW.reason, COALESCE(NEW.responded_at, NEW.reminder_sent_at, NEW.sent_at, NEW.target_at), COALESCE(NEW.responded_at, NEW.reminder_sent_at, NEW.sent_at, NEW.target_at)
    FROM webhooks w
    JOIN participants p ON p.id = NEW.participant_id
    WHERE w.state = 'active' AND w.study_id IN ('', p.study_id) AND (w.events = '' OR instr(w.events, ' ' || 'prompt.status' || ' ') > 0);
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

-- +goose StatementBegin
CREATE TRIGGER consents_recorded_event AFTER INSERT ON study_consents WHEN EXISTS (SELECT 1 FROM webhooks)
BEGIN
    INSERT INTO webhook_deliveries (webhook_id, type, participant_id, study_id, object_id, status, code, at, next_at)
    SELECT w.id, CASE WHEN NEW.given THEN 'consent.given' ELSE 'consent.withdrawn' END, NEW.participant_id, NEW.study_id, CAST(NEW.version AS text), '', '', NEW.at, NEW.at
    FROM webhooks w
    WHERE w.state = 'active' AND w.study_id IN ('', NEW.study_id) AND (w.events = '' OR instr(w.events, ' ' || CASE WHEN NEW.given THEN 'consent.given' ELSE 'consent.withdrawn' END || ' ') > 0);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER allocations_made_event AFTER INSERT ON allocations WHEN EXISTS (SELECT 1 FROM webhooks)
BEGIN
    INSERT INTO webhook_deliveries (webhook_id, type, participant_id, study_id, object_id, status, code, at, next_at)
    SELECT w.id, 'participant.allocated', NEW.participant_id, NEW.study_id, CAST(NEW.number AS text), '', '', NEW.allocated_at, NEW.allocated_at
    FROM webhooks w
    WHERE w.state = 'active' AND w.study_id IN ('', NEW.study_id) AND (w.events = '' OR instr(w.events, ' ' || 'participant.allocated' || ' ') > 0);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER studies_state_event AFTER UPDATE OF state ON studies WHEN NEW.state <> OLD.state AND EXISTS (SELECT 1 FROM webhooks)
BEGIN
    INSERT INTO webhook_deliveries (webhook_id, type, participant_id, study_id, object_id, status, code, at, next_at)
    SELECT w.id, 'study.state', '', NEW.id, NEW.id, NEW.state, '', NEW.updated_at, NEW.updated_at
    FROM webhooks w
    WHERE w.state = 'active' AND w.study_id IN ('', NEW.id) AND (w.events = '' OR instr(w.events, ' ' || 'study.state' || ' ') > 0);
END;
-- +goose StatementEnd
