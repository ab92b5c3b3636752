-- +goose Up
-- People who operate the programme, their signed-in sessions, and tokens of
-- scripts. Secrets are stored as hashes only.
CREATE TABLE users (
    id            text PRIMARY KEY,
    login         text NOT NULL,
    name          text NOT NULL,
    role          text NOT NULL,
    password_hash text NOT NULL,
    subject       text NOT NULL DEFAULT '',
    created_by    text NOT NULL,
    created_at    datetime NOT NULL,
    updated_at    datetime NOT NULL,
    last_login_at datetime,
    disabled_at   datetime
);
CREATE UNIQUE INDEX users_login ON users (login);
CREATE UNIQUE INDEX users_subject ON users (subject) WHERE subject <> '';

CREATE TABLE sessions (
    token_hash   text PRIMARY KEY,
    id           text NOT NULL,
    user_id      text NOT NULL,
    data         text NOT NULL,
    address      text NOT NULL,
    agent        text NOT NULL,
    created_at   datetime NOT NULL,
    last_seen_at datetime NOT NULL,
    expires_at   datetime NOT NULL
);
CREATE UNIQUE INDEX sessions_id ON sessions (id);
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_expiry ON sessions (expires_at);

CREATE TABLE api_tokens (
    id           text PRIMARY KEY,
    name         text NOT NULL,
    token_hash   text NOT NULL,
    scopes       text NOT NULL,
    created_by   text NOT NULL,
    created_at   datetime NOT NULL,
    expires_at   datetime NOT NULL,
    last_used_at datetime,
    revoked_at   datetime
);
CREATE UNIQUE INDEX api_tokens_hash ON api_tokens (token_hash);

-- The audit becomes a chain: seq counts its rows without a gap, hash covers the
-- row and the hash before it. Rows from before this migration have no seq.
-- content_hash stands for reason and change, which are sealed and can be erased.
ALTER TABLE audit ADD COLUMN seq integer;
ALTER TABLE audit ADD COLUMN object text NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN request_id text NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN address text NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN change text NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN content_hash text NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN hash text NOT NULL DEFAULT '';
CREATE UNIQUE INDEX audit_seq ON audit (seq);
CREATE INDEX audit_actor ON audit (actor, id);

-- +goose StatementBegin
CREATE TRIGGER audit_keep BEFORE DELETE ON audit WHEN OLD.seq IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'the audit is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_fixed BEFORE UPDATE OF id, seq, participant_id, actor, action, object, detail, at, request_id, address, content_hash, hash ON audit WHEN OLD.seq IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'the audit is append-only');
END;
-- +goose StatementEnd

-- When a participant last wrote, for lists of people who are silent.
ALTER TABLE participants ADD COLUMN last_inbound_at datetime;
UPDATE participants SET last_inbound_at = (SELECT max(received_at) FROM inbound WHERE inbound.participant_id = participants.id);
CREATE INDEX participants_removed ON participants (removed_at) WHERE removed_at IS NOT NULL;
