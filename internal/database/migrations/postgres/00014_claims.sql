-- +goose Up
-- Who may change a row that is being sent, and what is known of posts without an
-- answer.
ALTER TABLE outbox ADD COLUMN claim_token bigint NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN unknown_posts integer NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN unsettled_since timestamptz;
ALTER TABLE outbox ADD COLUMN missing_since timestamptz;
