-- +goose Up
-- Stops of what the programme starts itself, until an instant or until released.
-- scope says whose: all; scope_id names one of a narrower scope. The reason is
-- sealed.
CREATE TABLE holds (
    id          integer PRIMARY KEY AUTOINCREMENT,
    scope       text NOT NULL,
    scope_id    text NOT NULL DEFAULT '',
    reason      text NOT NULL,
    created_by  text NOT NULL,
    created_at  datetime NOT NULL,
    until_at    datetime NOT NULL,
    released_by text NOT NULL DEFAULT '',
    released_at datetime
);
CREATE INDEX holds_until ON holds (until_at);
