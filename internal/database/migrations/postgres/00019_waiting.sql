-- +goose Up
-- A text that came while the participant was paused waits until an operator has
-- it answered or marks it as read; resume_notice_id is the notice that has it
-- answered.
ALTER TABLE inbound ADD COLUMN waiting boolean NOT NULL DEFAULT false;
ALTER TABLE inbound ADD COLUMN resume_notice_id bigint NOT NULL DEFAULT 0;
CREATE INDEX inbound_waiting ON inbound (participant_id, id) WHERE waiting;
CREATE INDEX inbound_resumed ON inbound (resume_notice_id) WHERE resume_notice_id > 0;
