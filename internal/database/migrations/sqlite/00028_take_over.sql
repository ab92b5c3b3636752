-- +goose Up
-- Conversations that an operator has taken over from the coach.
ALTER TABLE participants ADD COLUMN taken_over_by text NOT NULL DEFAULT '';
ALTER TABLE participants ADD COLUMN taken_over_at datetime;
ALTER TABLE participants ADD COLUMN taken_over_until datetime;
CREATE INDEX participants_taken_over ON participants (id) WHERE taken_over_by <> '';

-- The operator who wrote a message to a person, and a note to the coach.
ALTER TABLE outbox ADD COLUMN sent_by text NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN written_by text NOT NULL DEFAULT '';

-- Who sees to an alert, and its second page. Alerts from before get none.
ALTER TABLE alarms ADD COLUMN acknowledged_at datetime;
ALTER TABLE alarms ADD COLUMN acknowledged_by text NOT NULL DEFAULT '';
ALTER TABLE alarms ADD COLUMN escalated_at datetime;
UPDATE alarms SET escalated_at = created_at;
CREATE INDEX alarms_unacknowledged ON alarms (created_at) WHERE pages AND acknowledged_at IS NULL AND escalated_at IS NULL AND cleared_at IS NULL;
