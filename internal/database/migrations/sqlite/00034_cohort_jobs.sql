-- +goose Up
-- Files of people who are enrolled together. File, its name and the report, which
-- names numbers, are sealed; the file is emptied when the job is over.
CREATE TABLE cohort_jobs (
    id             text PRIMARY KEY,
    state          text NOT NULL,
    file_name      text NOT NULL,
    file           blob NOT NULL,
    report         text NOT NULL,
    ignore_unknown boolean NOT NULL,
    skip_faulty    boolean NOT NULL,
    region         text NOT NULL,
    zone           text NOT NULL,
    per_minute     integer NOT NULL,
    rows           integer NOT NULL,
    good           integer NOT NULL,
    faults         integer NOT NULL,
    suggested      integer NOT NULL,
    next_row       integer NOT NULL,
    enrolled       integer NOT NULL,
    skipped        integer NOT NULL,
    created_by     text NOT NULL,
    created_at     datetime NOT NULL,
    updated_at     datetime NOT NULL,
    confirmed_by   text NOT NULL DEFAULT '',
    confirmed_at   datetime,
    finished_at    datetime
);
CREATE INDEX cohort_jobs_open ON cohort_jobs (state, created_at) WHERE state IN ('checking', 'ready', 'running');

-- +goose StatementBegin
CREATE TRIGGER cohort_jobs_update_change AFTER UPDATE ON cohort_jobs WHEN EXISTS (SELECT 1 FROM change_viewers)
BEGIN
    INSERT INTO changes (participant_id) VALUES (NEW.id);
END;
-- +goose StatementEnd
