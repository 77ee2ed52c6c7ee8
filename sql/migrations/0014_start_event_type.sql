-- What began an execution. The start event alone tells a subscription from an execution: both are kept as one, both may
-- hold any later event, and the log may be gone before the row.
alter table noetl.execution add column if not exists start_event_type text;

update noetl.execution x
set start_event_type = e.event_type
from noetl.event e
where e.execution_id = x.execution_id and e.event_id = x.start_event_id and x.start_event_type is null;

-- Of deactivated subscriptions that retention is just forgetting only the row is left.
update noetl.execution x
set start_event_type = 'subscription.registered'
where x.start_event_type is null and x.start_event_id is not null
  and x.last_event_type in ('subscription.deactivated', 'subscription_deactivated')
  and not exists (select 1 from noetl.event e where e.execution_id = x.execution_id);
