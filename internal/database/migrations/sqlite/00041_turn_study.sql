-- +goose Up
-- What was in force for a turn: the arm of the participant when it began, and the
-- version of the study's settings; 0 in turns from before there were studies.
ALTER TABLE turns ADD COLUMN arm text NOT NULL DEFAULT '';
ALTER TABLE turns ADD COLUMN study_version integer NOT NULL DEFAULT 0;
