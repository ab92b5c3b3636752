-- +goose Up
-- Studies. Settings is JSON; seed and pseudonym_key are sealed and made at the first
-- use where they are empty.
CREATE TABLE studies (
    id            text PRIMARY KEY,
    name          text NOT NULL,
    state         text NOT NULL,
    settings      text NOT NULL DEFAULT '',
    planned       integer NOT NULL DEFAULT 0,
    seed          blob NOT NULL DEFAULT x'',
    pseudonym_key blob NOT NULL DEFAULT x'',
    starts_at     datetime,
    ends_at       datetime,
    created_by    text NOT NULL DEFAULT '',
    created_at    datetime NOT NULL,
    updated_at    datetime NOT NULL,
    version       integer NOT NULL DEFAULT 1
);
INSERT INTO studies (id, name, state, created_by, created_at, updated_at)
VALUES ('default', 'Default', 'recruiting', 'migration', CURRENT_TIMESTAMP, CURRENT_TIMESTAMP);

-- A person belongs to one study, for ever; the rows of a person carry it by
-- participant_id.
ALTER TABLE participants ADD COLUMN study_id text NOT NULL DEFAULT 'default';
ALTER TABLE participants ADD COLUMN arm text NOT NULL DEFAULT '';
ALTER TABLE cohort_jobs ADD COLUMN study_id text NOT NULL DEFAULT 'default';
CREATE INDEX participants_study ON participants (study_id, id);

CREATE TABLE consent_texts (
    study_id   text NOT NULL,
    version    integer NOT NULL,
    locale     text NOT NULL,
    body       text NOT NULL,
    created_by text NOT NULL,
    created_at datetime NOT NULL,
    PRIMARY KEY (study_id, version, locale)
);

CREATE TABLE study_consents (
    id             integer PRIMARY KEY AUTOINCREMENT,
    participant_id text NOT NULL,
    study_id       text NOT NULL,
    version        integer NOT NULL,
    locale         text NOT NULL,
    method         text NOT NULL,
    given          boolean NOT NULL,
    recorded_by    text NOT NULL,
    at             datetime NOT NULL
);
CREATE INDEX study_consents_participant ON study_consents (participant_id, id);
CREATE INDEX study_consents_study ON study_consents (study_id, id);

-- +goose StatementBegin
CREATE TRIGGER study_consents_keep BEFORE DELETE ON study_consents
BEGIN
    SELECT RAISE(ABORT, 'consents to studies are append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER study_consents_fixed BEFORE UPDATE ON study_consents
BEGIN
    SELECT RAISE(ABORT, 'consents to studies are append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER consent_texts_fixed BEFORE UPDATE ON consent_texts
BEGIN
    SELECT RAISE(ABORT, 'a consent text is never changed; add a version');
END;
-- +goose StatementEnd
