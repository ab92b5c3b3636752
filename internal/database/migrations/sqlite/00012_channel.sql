-- +goose Up
-- The channel of a text, of its turn and of what answers it; empty is SMS.
ALTER TABLE inbound ADD COLUMN channel text NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN channel text NOT NULL DEFAULT '';
ALTER TABLE turns ADD COLUMN channel text NOT NULL DEFAULT '';
ALTER TABLE outbox ADD COLUMN channel text NOT NULL DEFAULT '';

-- The external channel that the person last wrote on.
ALTER TABLE participants ADD COLUMN last_channel text NOT NULL DEFAULT 'sms';
