-- +goose Up
-- Why a prompt has no more follow-ups; empty where nothing was left out.
ALTER TABLE prompts ADD COLUMN left_out text NOT NULL DEFAULT '';
