-- name: identity_cluster
-- The name of this installation.
select cluster_id::text as cluster_id from noetl.cp_identity;

-- name: identity_publishes_adopted
-- Whether adopted events are published.
select publish_adopted_since is not null as publishes from noetl.cp_identity;

-- name: identity_publish_adopted(wanted)
-- From now on adopted events are published, or not any more. What is so already stays so, with its moment.
update noetl.cp_identity
set publish_adopted_since = case when :wanted::boolean then clock_timestamp() end
where (publish_adopted_since is not null) <> :wanted::boolean;
