-- +goose Up
-- The voice notes of a text: where each lies at the carrier, and what was heard.
ALTER TABLE inbound ADD COLUMN voice text NOT NULL DEFAULT '';
