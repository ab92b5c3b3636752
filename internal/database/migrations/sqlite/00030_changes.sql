-- +goose Up
-- Pages that follow what happens. While a row of change_viewers exists, a commit
-- that changed something of a participant leaves a row of changes, which the
-- viewers read and remove; while nobody looks it costs one look at an empty table.
CREATE TABLE change_viewers (
    id         text PRIMARY KEY,
    expires_at datetime NOT NULL
);
CREATE TABLE changes (
    id             integer PRIMARY KEY AUTOINCREMENT,
    participant_id text NOT NULL
);

-- +goose StatementBegin
CREATE TRIGGER messages_insert_change AFTER INSERT ON messages WHEN EXISTS (SELECT 1 FROM change_viewers)
BEGIN
    INSERT INTO changes (participant_id) VALUES (NEW.participant_id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER inbound_insert_change AFTER INSERT ON inbound WHEN NEW.participant_id <> '' AND EXISTS (SELECT 1 FROM change_viewers)
BEGIN
    INSERT INTO changes (participant_id) VALUES (NEW.participant_id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER outbox_update_change AFTER UPDATE OF status ON outbox WHEN EXISTS (SELECT 1 FROM change_viewers)
BEGIN
    INSERT INTO changes (participant_id) VALUES (NEW.participant_id);
END;
-- +goose StatementEnd

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
CREATE TRIGGER schedules_insert_change AFTER INSERT ON schedules WHEN EXISTS (SELECT 1 FROM change_viewers)
BEGIN
    INSERT INTO changes (participant_id) VALUES (NEW.participant_id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER schedules_update_change AFTER UPDATE ON schedules WHEN EXISTS (SELECT 1 FROM change_viewers)
BEGIN
    INSERT INTO changes (participant_id) VALUES (NEW.participant_id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER audit_insert_change AFTER INSERT ON audit WHEN NEW.participant_id <> '' AND EXISTS (SELECT 1 FROM change_viewers)
BEGIN
    INSERT INTO changes (participant_id) VALUES (NEW.participant_id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER participants_insert_change AFTER INSERT ON participants WHEN EXISTS (SELECT 1 FROM change_viewers)
BEGIN
    INSERT INTO changes (participant_id) VALUES (NEW.id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER participants_update_change AFTER UPDATE OF version ON participants WHEN EXISTS (SELECT 1 FROM change_viewers)
BEGIN
    INSERT INTO changes (participant_id) VALUES (NEW.id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER holds_insert_change AFTER INSERT ON holds WHEN EXISTS (SELECT 1 FROM change_viewers)
BEGIN
    INSERT INTO changes (participant_id) VALUES ('*');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER holds_update_change AFTER UPDATE ON holds WHEN EXISTS (SELECT 1 FROM change_viewers)
BEGIN
    INSERT INTO changes (participant_id) VALUES ('*');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER brakes_insert_change AFTER INSERT ON brakes WHEN EXISTS (SELECT 1 FROM change_viewers)
BEGIN
    INSERT INTO changes (participant_id) VALUES ('*');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER brakes_update_change AFTER UPDATE ON brakes WHEN EXISTS (SELECT 1 FROM change_viewers)
BEGIN
    INSERT INTO changes (participant_id) VALUES ('*');
END;
-- +goose StatementEnd
