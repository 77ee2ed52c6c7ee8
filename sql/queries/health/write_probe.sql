-- name: write_probe
-- A statement of its own: its lock ends with its commit, so that many daemons do not wait for each other.
update noetl.cp_write_probe set probed_at = now();
