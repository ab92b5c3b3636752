-- +goose Up
-- The model that made a fact's vector; empty for one of before, and for a fact without.
ALTER TABLE facts ADD COLUMN vector_model TEXT NOT NULL DEFAULT '';
