// The health of the daemon as a dot with a word, from /readyz; where nothing answers, for how long.
import { ApiError, get, silentSince } from '../lib/api'
import { now } from '../lib/now'
import { hrefOf } from '../lib/router'
import { useResource } from '../lib/useResource'
import { inSeconds } from '../parts/Time'
import { Told } from '../parts/Told'

export interface Readiness {
  status: string
  checks: Record<string, { ok: boolean; required: boolean; detail?: string | null; ms: number }>
}

/** A daemon that is not ready answers with its reasons. */
export async function readReadiness(signal: AbortSignal): Promise<Readiness> {
  try {
    return await get<Readiness>('/readyz', signal)
  } catch (error) {
    if (error instanceof ApiError && (error.body as Readiness | undefined)?.checks !== undefined) {
      return error.body as Readiness
    }
    throw error
  }
}

export function Health() {
  const { data, error } = useResource('/readyz', readReadiness, { everyMs: 5_000 })
  const since = silentSince.value
  if (since !== undefined) {
    return (
      <span class="health">
        <i class="dot failed" />
        <span class="stale-clock">
          <Told text={`no answer for ${inSeconds(now.value - since)}`} />
        </span>
      </span>
    )
  }
  if (data === undefined && error === undefined) return <span class="health" />
  const isReady = error === undefined && data?.status === 'ready'
  const word = isReady ? 'ready' : 'not ready'
  return (
    <a class="health" href={hrefOf('/')} title="Health of the daemon">
      <i class={`dot ${isReady ? 'completed' : 'failed'}`} />
      {word}
    </a>
  )
}
