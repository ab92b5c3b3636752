-- +goose Up
-- Hints of the last hour are counted over all numbers.
CREATE INDEX hints_created ON hints (created_at);
