-- +goose Up
-- hash covers a decision point and the rows of the person before it; empty in rows
-- from before there was this column, which the person's next row covers. A head is
-- what is kept of a person's rows: the number of the last one, the head of the
-- chain, and the local date that is the person's day 1.
ALTER TABLE decisions ADD COLUMN hash text NOT NULL DEFAULT '';
CREATE TABLE decision_heads (
    participant_id text PRIMARY KEY,
    study_id       text NOT NULL,
    number         integer NOT NULL,
    hash           text NOT NULL,
    day_one        text NOT NULL
);
CREATE INDEX decision_heads_study ON decision_heads (study_id, participant_id);
INSERT INTO decision_heads (participant_id, study_id, number, hash, day_one)
SELECT d.participant_id, d.study_id, d.number, '', date(d.local_date, '-' || (d.day_in_study - 1) || ' days')
FROM decisions d
WHERE d.number = (SELECT max(o.number) FROM decisions o WHERE o.participant_id = d.participant_id);
