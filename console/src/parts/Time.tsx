// A moment: how long ago, with the exact text on hover; and how long something has lasted, counting while it runs.

import { now } from '../lib/now'
import { ago, clockText, lasted, millisOf } from '../lib/time'

export function Ago({ at }: { at: string | null | undefined }) {
  const ms = millisOf(at)
  if (Number.isNaN(ms)) return <span class="muted">–</span>
  return (
    <time dateTime={at!} title={`${clockText(ms, 3)} · ${at}`}>
      {ago(ms, now.value)}
    </time>
  )
}

export function Lasted({ from, to }: { from: string | null | undefined; to: string | null | undefined }) {
  const start = millisOf(from)
  if (Number.isNaN(start)) return <span class="muted">–</span>
  const end = millisOf(to)
  return <span>{lasted((Number.isNaN(end) ? now.value : end) - start)}</span>
}

/** What is counted while somebody looks on: whole seconds. */
export function inSeconds(ms: number): string {
  return ms < 60_000 ? `${Math.max(0, Math.floor(ms / 1_000))} s` : lasted(ms)
}

/** A moment to come, with what is left until then. */
export function Until({ at }: { at: string }) {
  const ms = millisOf(at)
  const left = ms - now.value
  return (
    <time dateTime={at} title={at}>
      {clockText(ms)}
      {left > 0 && <span class="muted"> in {inSeconds(left + 999)}</span>}
    </time>
  )
}
