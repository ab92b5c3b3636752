-- +goose Up
-- People who asked to join a study by a keyword or a form and have not agreed yet. The
-- number is emptied when the join ends; phone_index stays for the limits. A hint with a
-- join is one of its texts.
CREATE TABLE joins (
    id             text PRIMARY KEY,
    study_id       text NOT NULL,
    phone          text NOT NULL,
    phone_index    text NOT NULL,
    method         text NOT NULL,
    keyword        text NOT NULL,
    locale         text NOT NULL,
    version        integer NOT NULL,
    about          text NOT NULL,
    link           text NOT NULL,
    timezone       text NOT NULL,
    state          text NOT NULL,
    reason         text NOT NULL,
    participant_id text NOT NULL,
    created_at     datetime NOT NULL,
    expires_at     datetime NOT NULL,
    ended_at       datetime
);
CREATE UNIQUE INDEX joins_pending ON joins (phone_index) WHERE state = 'pending';
CREATE INDEX joins_expiry ON joins (expires_at) WHERE state = 'pending';
CREATE INDEX joins_phone ON joins (phone_index, created_at);
CREATE INDEX joins_study ON joins (study_id, created_at);
ALTER TABLE hints ADD COLUMN join_id text NOT NULL DEFAULT '';
ALTER TABLE hints ADD COLUMN purpose text NOT NULL DEFAULT '';
CREATE INDEX hints_join ON hints (join_id) WHERE join_id <> '';
