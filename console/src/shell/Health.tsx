// The health of the daemon as a dot with a word, from /readyz.
import { ApiError, get } from '../lib/api'
import { hrefOf } from '../lib/router'
import { useResource } from '../lib/useResource'

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
  if (data === undefined && error === undefined) return <span class="health" />
  const isReady = error === undefined && data?.status === 'ready'
  const word = error !== undefined ? 'no answer' : isReady ? 'ready' : 'not ready'
  return (
    <a class="health" href={hrefOf('/')} title="Health of the daemon">
      <i class={`dot ${isReady ? 'completed' : 'failed'}`} />
      {word}
    </a>
  )
}
