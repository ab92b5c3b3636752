-- +goose Up
-- What an operator wrote about a change, sealed. Reasons that stood in the clear
-- in detail are moved here by the program when it opens the database.
ALTER TABLE audit ADD COLUMN reason text NOT NULL DEFAULT '';
