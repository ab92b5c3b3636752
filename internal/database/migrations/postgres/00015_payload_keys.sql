-- +goose Up
-- The keys that this database knows, by fingerprint, and the key of its blind
-- index, wrapped with each of them. resealed_at is since when no row needs the key.
CREATE TABLE payload_keys (
    id                text PRIMARY KEY,
    fingerprint       text NOT NULL,
    index_key         text NOT NULL,
    index_fingerprint text NOT NULL,
    added_at          timestamptz NOT NULL,
    used_at           timestamptz,
    resealed_at       timestamptz
);
