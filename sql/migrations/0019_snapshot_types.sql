-- Our snapshots under types of their own, beside those of the original: it would find a form it cannot read in place of its
-- own, or nothing at all, and read whole logs instead. Ours have a codec.
update noetl.projection_snapshot s set aggregate_type = renamed.after
from (values ('orchestrator_workflow_state', 'cp_workflow_state'), ('replay_state', 'cp_replay_state')) as renamed (before, after)
where s.aggregate_type = renamed.before and s.snapshot_codec is not null
  and not exists (
    select 1 from noetl.projection_snapshot newer
    where newer.tenant_id = s.tenant_id and newer.organization_id = s.organization_id
      and newer.aggregate_type = renamed.after and newer.aggregate_id = s.aggregate_id
  );
