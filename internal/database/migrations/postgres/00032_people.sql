-- +goose Up
-- Lists of people by when they were last heard, and by their next prompt.
CREATE INDEX participants_heard ON participants (COALESCE(last_inbound_at, enrolled_at), id) WHERE removed_at IS NULL;
CREATE INDEX schedules_next ON schedules (next_at, participant_id) WHERE next_at IS NOT NULL;
