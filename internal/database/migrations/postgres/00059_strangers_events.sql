-- +goose Up
-- A number that is not enrolled has alarms without a participant; webhooks of all
-- studies are told of them too.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION add_event(event text, person text, study text, object text, outcome text, reason text, happened timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM webhooks) THEN
        RETURN;
    END IF;
    IF study = '' AND person <> '' THEN
        SELECT p.study_id INTO study FROM participants p WHERE p.id = person;
        IF study IS NULL THEN
            RETURN;
        END IF;
    END IF;
    INSERT INTO webhook_deliveries (webhook_id, type, participant_id, study_id, object_id, status, code, at, next_at)
    SELECT w.id, event, person, study, object, outcome, reason, happened, happened FROM webhooks w
    WHERE w.state = 'active' AND w.study_id IN ('', study) AND (w.events = '' OR strpos(w.events, ' ' || event || ' ') > 0);
END $$;
-- +goose StatementEnd
