-- +goose Up
-- The index by participant serves the list of all notices that wait as well.
DROP INDEX notices_waiting;
