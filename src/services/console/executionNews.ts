// Rings for executions: one that somebody watches (`execution:<id>`), and those of the list (`executions`). Versions tell
// whether anything has happened, so an append of another daemon is found as well as one of ours.
import type { Databases } from '../../db/databases.js'
import type { JsonObject } from '../../domain/json/value.js'
import type { Clock } from '../../runtime/clock.js'
import { LruMap } from '../../runtime/lruMap.js'
import { type ExecutionPulse, newestPulses, pulsesOf } from '../../stores/executions/executionPulseStore.js'
import type { NewsBoard } from './newsBoard.js'

export interface ExecutionNews {
  /** These were written to by this daemon. */
  appended(ids: Iterable<string>): void
  /** `isTime`: whoever may have been written to by others is looked at, too. */
  look(topics: ReadonlySet<string>, isTime: boolean): Promise<void>
}

export const EXECUTION_TOPIC = 'execution:'
const LIST_TOPIC = 'executions'
const LIST_MAX = 100
const LIST_EVERY_MS = 500
const TOUCHED_MAX = 1_000
const KNOWN_MAX = 10_000

export function createExecutionNews(deps: {
  databases: Databases
  board: Pick<NewsBoard, 'post' | 'topics'>
  clock: Pick<Clock, 'monotonic'>
  nudge(): void
}): ExecutionNews {
  const { databases, board, clock } = deps
  /** What was told of an execution last, by topic and id. */
  const told = new LruMap<string, string>({ entriesMax: KNOWN_MAX })
  const touched = new Set<string>()
  let isMore = false
  let listAt = 0
  let watched: ReadonlySet<string> = new Set()

  function isNews(topic: string, { execution_id: id, stream_version, status }: ExecutionPulse): boolean {
    const key = `${topic} ${id}`
    const mark = `${stream_version} ${status}`
    if (told.get(key) === mark) return false
    told.set(key, mark)
    return true
  }

  async function read(ids: readonly string[]): Promise<ExecutionPulse[]> {
    if (ids.length === 0) return []
    const { answers, failures } = await databases.fanOut((db, shard) =>
      pulsesOf(
        db,
        ids.filter((id) => databases.shardOf(id) === shard),
      ),
    )
    if (answers.length === 0 && failures[0] !== undefined) throw failures[0].error
    return answers.flatMap(({ value }) => value)
  }

  async function lookAtWatched(ids: readonly string[]): Promise<void> {
    for (const pulse of await read(ids)) {
      const topic = `${EXECUTION_TOPIC}${pulse.execution_id}`
      if (isNews('one', pulse)) board.post(topic, 'execution', pulseJson(pulse))
    }
  }

  /** The newest, whoever wrote to them, and older ones that were written to here. */
  async function lookAtList(): Promise<void> {
    const here = [...touched].slice(0, LIST_MAX)
    const more = isMore || touched.size > LIST_MAX
    touched.clear()
    isMore = false
    const { answers } = await databases.fanOut((db) => newestPulses(db, LIST_MAX))
    const newest = answers.flatMap(({ value }) => value)
    const known = new Set(newest.map(({ execution_id: id }) => id))
    const older = await read(here.filter((id) => !known.has(id)))
    const changed = [...newest, ...older].filter((pulse) => isNews('list', pulse))
    if (changed.length === 0 && !more) return
    board.post(LIST_TOPIC, 'executions', {
      changed: changed.slice(0, LIST_MAX).map(pulseJson),
      more: more || changed.length > LIST_MAX,
    })
  }

  return {
    appended: (ids) => {
      if (watched.size === 0) return
      const listed = watched.has(LIST_TOPIC)
      let isWanted = false
      for (const id of ids) {
        if (!listed && !watched.has(`${EXECUTION_TOPIC}${id}`)) continue
        isWanted = true
        if (touched.size < TOUCHED_MAX) touched.add(id)
        else isMore = true
      }
      if (isWanted) deps.nudge()
    },
    look: async (topics, isTime) => {
      watched = topics
      const ids = [...topics].flatMap((topic) =>
        topic.startsWith(EXECUTION_TOPIC) ? [topic.slice(EXECUTION_TOPIC.length)] : [],
      )
      const news = isTime ? ids : ids.filter((id) => touched.has(id))
      if (!topics.has(LIST_TOPIC)) touched.clear()
      await lookAtWatched(news)
      if (!topics.has(LIST_TOPIC)) return
      if (isTime || clock.monotonic() >= listAt) {
        listAt = clock.monotonic() + LIST_EVERY_MS
        await lookAtList()
      }
    },
  }
}

function pulseJson(pulse: ExecutionPulse): JsonObject {
  return {
    id: pulse.execution_id,
    version: pulse.stream_version,
    status: pulse.status,
    step: pulse.last_node_name,
    path: pulse.path,
  }
}
