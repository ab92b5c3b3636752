-- +goose Up
-- By what channel a text of the ledger came, empty for SMS, and which caller of the
-- API brought it, empty for the carrier.
ALTER TABLE consents ADD COLUMN channel text NOT NULL DEFAULT '';
ALTER TABLE consents ADD COLUMN caller text NOT NULL DEFAULT '';
