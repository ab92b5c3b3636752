-- +goose Up
-- Numbers that participants had before; the number is sealed.
CREATE TABLE former_phones (
    id             integer PRIMARY KEY AUTOINCREMENT,
    participant_id text NOT NULL REFERENCES participants (id),
    phone          text NOT NULL,
    phone_index    text NOT NULL,
    until_at       datetime NOT NULL,
    changed_by     text NOT NULL
);
CREATE INDEX former_phones_participant ON former_phones (participant_id, id);

-- The former number that a text was posted to; 0 is the present one.
ALTER TABLE outbox ADD COLUMN former_phone_id bigint NOT NULL DEFAULT 0;

-- An opt-out belongs to a number as well as to a person.
ALTER TABLE consents ADD COLUMN phone_index text NOT NULL DEFAULT '';
UPDATE consents SET phone_index = COALESCE((SELECT p.phone_index FROM participants p WHERE p.id = consents.participant_id), '');
CREATE INDEX consents_phone ON consents (phone_index, id);
