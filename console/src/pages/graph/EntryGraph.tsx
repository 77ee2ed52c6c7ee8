// The graph of a playbook on file.
import { useMemo } from 'preact/hooks'
import { Graph } from './Graph'
import { graphOf } from './playbook'

export function EntryGraph({ layout }: { layout: unknown }) {
  const graph = useMemo(() => graphOf(layout), [layout])
  return <Graph graph={graph} />
}
