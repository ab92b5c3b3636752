-- +goose Up
-- Which number or service is held; empty where the whole account is. The holds of
-- before are of the sender that the installation has.
ALTER TABLE brakes ADD COLUMN name text NOT NULL DEFAULT '';
