// A status as glyph, colour and word. What the installation calls it stays readable; its kind decides the look.
export type StatusKind = 'running' | 'completed' | 'failed' | 'cancelled' | 'waiting' | 'stuck'

const GLYPHS: Readonly<Record<StatusKind, string>> = {
  running: 'M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12zm0 1.6a4.4 4.4 0 0 1 0 8.8z',
  completed: 'M3 8.5l3.2 3.2L13 4.8l-1.3-1.3-5.5 5.6-1.9-1.9z',
  failed: 'M4.4 3L8 6.6 11.6 3 13 4.4 9.4 8l3.6 3.6-1.4 1.4L8 9.4 4.4 13 3 11.6 6.6 8 3 4.4z',
  cancelled: 'M3 7h10v2H3z',
  waiting: 'M4 2h8v3L9.5 8l2.5 3v3H4v-3l2.5-3L4 5zm1.6 1.5v1L8 7.2l2.4-2.7v-1z',
  stuck: 'M8 2l6.5 12h-13zm-.8 4.5v4h1.6v-4zm0 5v1.5h1.6v-1.5z',
}

/** Statuses of executions, steps, commands, outbox rows and subscriptions. */
const KINDS: Readonly<Record<string, StatusKind>> = {
  running: 'running',
  in_flight: 'running',
  started: 'running',
  claimed: 'running',
  active: 'completed',
  ready: 'completed',
  completed: 'completed',
  done: 'completed',
  published: 'completed',
  success: 'completed',
  failed: 'failed',
  error: 'failed',
  skipped: 'cancelled',
  cancelled: 'cancelled',
  deactivated: 'cancelled',
  inactive: 'cancelled',
  registered: 'cancelled',
  pending: 'waiting',
  issued: 'waiting',
  queued: 'waiting',
  retry: 'waiting',
  paused: 'waiting',
  draining: 'waiting',
  waiting: 'waiting',
  dead: 'stuck',
  stuck: 'stuck',
  expired: 'stuck',
}

export function kindOf(status: string): StatusKind {
  const known = status.toLowerCase()
  // Whoever writes events may call a status anything, such as `constructor`.
  return Object.hasOwn(KINDS, known) ? KINDS[known]! : 'waiting'
}

export function Glyph({ kind }: { kind: StatusKind }) {
  return (
    <svg class={`glyph ${kind}`} viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
      <path d={GLYPHS[kind]} fill="currentColor" fill-rule="evenodd" />
    </svg>
  )
}

/** As people read it. */
export function wordOf(status: string): string {
  return status.toLowerCase().replaceAll('_', ' ')
}

export function Status({ status, kind = kindOf(status) }: { status: string; kind?: StatusKind }) {
  return (
    <span class={`status ${kind}`}>
      <Glyph kind={kind} />
      <span>{wordOf(status)}</span>
    </span>
  )
}

/** A filter by a status. */
export function StatusChip({ status, isOn, onClick }: { status: string; isOn: boolean; onClick: () => void }) {
  return (
    <button type="button" class={`chip ${kindOf(status)}`} aria-pressed={isOn} onClick={onClick}>
      <Glyph kind={kindOf(status)} />
      {wordOf(status)}
    </button>
  )
}
