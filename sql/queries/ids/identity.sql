-- name: identity_cluster
-- The name of this installation.
select cluster_id::text as cluster_id from noetl.cp_identity;
