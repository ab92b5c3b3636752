-- +goose Up
-- A text that came costs something on each channel that a carrier brings. The sweep
-- asks which those are; the chat, which older processes would price, is not queued.
DROP TRIGGER inbound_cost;

-- +goose StatementBegin
CREATE TRIGGER inbound_cost AFTER INSERT ON inbound WHEN NEW.channel <> 'chat'
BEGIN
    INSERT INTO cost_queue (source, ref) VALUES ('inbound', CAST(NEW.id AS text));
END;
-- +goose StatementEnd
