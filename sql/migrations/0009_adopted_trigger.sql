-- Older installations keep the execution table by a row trigger on events, which calls every failed command the end of
-- its execution. The read model is written by us, in the transaction of the events, or a moment later for events that
-- others write; a second writer with other rules would undo it. The original's own upgrade drops the trigger as well.
-- Its function stays: it is harmless, and a way back needs it.
drop trigger if exists trg_event_to_execution on noetl.event;
