-- +goose Up
-- Filters of the list of people that were saved under a name.
CREATE TABLE people_views (
    id         bigserial PRIMARY KEY,
    owner      text NOT NULL,
    name       text NOT NULL,
    query      text NOT NULL,
    shared     boolean NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX people_views_name ON people_views (owner, name);
