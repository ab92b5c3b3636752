-- +goose Up
-- Numbers that are not enrolled have one attention of a kind, without a participant.
ALTER TABLE attention DROP CONSTRAINT IF EXISTS attention_participant_id_fkey;
