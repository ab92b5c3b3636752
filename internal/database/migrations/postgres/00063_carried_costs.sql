-- +goose Up
-- A text that came costs something on each channel that a carrier brings. The sweep
-- asks which those are; the chat, which older processes would price, is not queued.
DROP TRIGGER inbound_cost ON inbound;
CREATE TRIGGER inbound_cost AFTER INSERT ON inbound
    FOR EACH ROW WHEN (NEW.channel <> 'chat') EXECUTE FUNCTION queue_inbound_cost();
