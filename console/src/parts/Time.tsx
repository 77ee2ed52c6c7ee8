// A moment: how long ago, with the exact time in a tip, to be copied to the microsecond by a click; and how long something has
// lasted, counting while it runs.
import type { ComponentChildren } from 'preact'
import { now } from '../lib/now'
import { ago, clockText, lasted, millisOf } from '../lib/time'
import { COPIED_WORDS, useCopy } from './CopyText'
import { useTip } from './Tip'

interface AgoProps {
  at: string | null | undefined
  /** Inside of what is pressed itself. */
  isPlain?: boolean
}

export function Ago({ at, isPlain = false }: AgoProps) {
  const ms = millisOf(at)
  if (Number.isNaN(ms)) return <span class="muted">–</span>
  const text = ago(ms, now.value)
  return isPlain ? <time dateTime={at!}>{text}</time> : <Exact at={at!}>{text}</Exact>
}

/** A moment as the API has it, however it is written here. */
export function Exact({ at, children }: { at: string; children: ComponentChildren }) {
  const [copied, copy] = useCopy(() => at)
  const said = copied === undefined ? undefined : COPIED_WORDS[copied]
  const exact = `${clockText(millisOf(at), 3)} · ${at}`
  const tip = useTip(said === undefined ? exact : `${said}: ${at}`, exact)
  return (
    <button type="button" class="time" aria-label={said} {...tip} onClick={copy}>
      <time dateTime={at}>{children}</time>
    </button>
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
    <Exact at={at}>
      {clockText(ms)}
      {left > 0 && <span class="muted"> in {inSeconds(left + 999)}</span>}
    </Exact>
  )
}
