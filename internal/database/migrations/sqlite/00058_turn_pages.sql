-- +goose Up
-- A text's status changes several times; the index by participant leaves it out.
-- With the instant it was written at it finds newer replies.
DROP INDEX outbox_participant;
CREATE INDEX outbox_participant ON outbox (participant_id, created_at);

-- A batch of the queue is read and removed in one transaction, so ids may come
-- again: growing ones write a page of their own for each row.
CREATE TABLE costs_waiting AS SELECT source, ref FROM cost_queue ORDER BY id;
DROP TABLE cost_queue;
CREATE TABLE cost_queue (
    id     integer PRIMARY KEY,
    source text NOT NULL,
    ref    text NOT NULL
);
INSERT INTO cost_queue (source, ref) SELECT source, ref FROM costs_waiting ORDER BY rowid;
DROP TABLE costs_waiting;
