-- +goose Up
-- A text's status changes several times; the index by participant leaves it out,
-- so that PostgreSQL writes no index when it does. With the instant it was written
-- at it finds newer replies.
DROP INDEX outbox_participant;
CREATE INDEX outbox_participant ON outbox (participant_id, created_at);
