-- +goose Up
-- When it is too late to send a text: the quiet hours that follow a check-in.
ALTER TABLE outbox ADD COLUMN send_before timestamptz;
