// The places of a graph, worked out once per playbook in a worker.
import { useEffect, useState } from 'preact/hooks'
import { startWorker } from '../../lib/workers'
import layoutWorker from './layoutWorker?worker&url'
import type { Placed, Wanted } from './placed'
import type { PlaybookGraph } from './playbook'

/** By what is placed: two versions with the same steps and arcs look the same. */
const known = new Map<string, Placed>()
const KNOWN_MAX = 20

export function usePlaced(graph: PlaybookGraph, isWanted: boolean): { placed: Placed | undefined; hasFailed: boolean } {
  const wanted = wantedOf(graph)
  const key = JSON.stringify(wanted)
  const [placed, setPlaced] = useState(known.get(key))
  const [hasFailed, setFailed] = useState(false)
  useEffect(() => {
    setPlaced(known.get(key))
    setFailed(false)
    if (known.has(key) || !isWanted) return
    const worker = startWorker(layoutWorker)
    worker.addEventListener('message', ({ data }: MessageEvent<Placed>) => {
      if (known.size >= KNOWN_MAX) known.delete(known.keys().next().value!)
      known.set(key, data)
      setPlaced(data)
      worker.terminate()
    })
    worker.addEventListener('error', () => setFailed(true))
    worker.postMessage(wanted)
    return () => worker.terminate()
  }, [key, isWanted])
  return { placed, hasFailed }
}

function wantedOf({ steps, arcs }: PlaybookGraph): Wanted {
  const place = new Map(steps.map(({ name }, index) => [name, index]))
  return { steps: steps.length, arcs: arcs.map(({ from, to }) => ({ from: place.get(from)!, to: place.get(to)! })) }
}
