-- +goose Up
-- Files of people who are enrolled together. File, its name and the report, which
-- names numbers, are sealed; the file is emptied when the job is over.
CREATE TABLE cohort_jobs (
    id             text PRIMARY KEY,
    state          text NOT NULL,
    file_name      text NOT NULL,
    file           bytea NOT NULL,
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
    created_at     timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL,
    confirmed_by   text NOT NULL DEFAULT '',
    confirmed_at   timestamptz,
    finished_at    timestamptz
);
CREATE INDEX cohort_jobs_open ON cohort_jobs (state, created_at) WHERE state IN ('checking', 'ready', 'running');

CREATE TRIGGER cohort_jobs_change AFTER UPDATE ON cohort_jobs FOR EACH ROW EXECUTE FUNCTION tell_participant_change();
