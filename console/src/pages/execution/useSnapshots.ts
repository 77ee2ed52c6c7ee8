// Where in the log the stored snapshots of a run stand.
import { useMemo } from 'preact/hooks'
import { apiPath, get } from '../../lib/api'
import { useResource } from '../../lib/useResource'
import type { SnapshotPage } from '../snapshots/snapshot'
import type { RunTape } from './tape'

/** Positions; none as long as they are not known. */
export function useSnapshots(executionId: string, { tape, length }: RunTape): readonly number[] {
  const path = apiPath('/api/snapshots', { execution_id: executionId })
  const { data } = useResource(path, (signal) => get<SnapshotPage>(path, signal))
  return useMemo(() => {
    const versions = tape.columns['version']!
    // Those of replays say how many events are in them, those of live states the version of the last.
    const placeOf = ({ type, version, meta }: SnapshotPage['snapshots'][number]): number =>
      type === 'cp_replay_state' ? (meta.event_count ?? 0) : versions.lastIndexOf(Number(version)) + 1
    return (data?.snapshots ?? []).map(placeOf).filter((place) => place > 0 && place <= length)
  }, [data, tape])
}
