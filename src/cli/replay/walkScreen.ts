// One screen per event while walking through an execution, and the keys that move on.
import colors from 'picocolors'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { printable } from '../../runtime/printable.js'
import type { Walk, WalkStep } from '../../services/replay/walk.js'
import type { CommandContext } from '../command.js'
import { shortValue } from './changes.js'
import { text as textOf } from './report.js'

export type Move = 'next' | 'back' | 'first' | 'last' | 'further' | 'farther back' | 'quit'

const KEYS: Readonly<Record<string, Move>> = {
  '\x1b[C': 'next',
  '\x1b[B': 'next',
  n: 'next',
  ' ': 'next',
  '\r': 'next',
  '\x1b[D': 'back',
  '\x1b[A': 'back',
  p: 'back',
  b: 'back',
  '\x1b[6~': 'further',
  '\x1b[5~': 'farther back',
  '\x1b[H': 'first',
  g: 'first',
  '\x1b[F': 'last',
  G: 'last',
  q: 'quit',
  '\x03': 'quit',
  '\x04': 'quit',
  '\x1b': 'quit',
}

const ESCAPE = '\x1b'
const LEAP = 10

export function moveTo(move: Move, index: number, length: number): number {
  const target = {
    next: index + 1,
    back: index - 1,
    first: Math.min(1, length),
    last: length,
    further: index + LEAP,
    'farther back': index - LEAP,
    quit: index,
  }[move]
  return Math.min(length, Math.max(Math.min(1, length), target))
}

/** Reads keys until somebody quits or the input ends. */
export async function walkOnTerminal(context: CommandContext, walk: Walk): Promise<void> {
  const { stdin, stdout } = context.io
  const terminal = stdin as typeof stdin & { setRawMode?: (on: boolean) => unknown }
  let index = moveTo('first', 0, walk.length)
  const show = (): void => {
    stdout.write(`\x1b[2J\x1b[H${screen(walk.step(index), walk, context.color, stdout.columns ?? 80)}`)
  }
  terminal.setRawMode?.(true)
  try {
    show()
    for await (const chunk of stdin) {
      for (const key of splitKeys(String(chunk))) {
        const move = KEYS[key]
        if (move === 'quit') return
        if (move !== undefined) index = moveTo(move, index, walk.length)
      }
      show()
    }
  } finally {
    terminal.setRawMode?.(false)
    stdout.write('\n')
  }
}

/** Several keys may arrive at once; an arrow is a sequence of bytes. */
export function splitKeys(chunk: string): string[] {
  const [plain = '', ...sequences] = chunk.split(ESCAPE)
  const keys = Array.from(plain)
  for (const rest of sequences) {
    const arrow = /^\[[0-9;]*[A-Za-z~]/.exec(rest)?.[0] ?? ''
    keys.push(ESCAPE + arrow, ...rest.slice(arrow.length))
  }
  return keys
}

const CHANGES_MAX = 18

const text = (value: JsonValue | undefined): string => printable(textOf(value))

export function screen(step: WalkStep, walk: Walk, color: boolean, width: number): string {
  const paint = colors.createColors(color)
  const event: JsonObject = step.event ?? {}
  const execution = isJsonObject(step.state['execution']) ? step.state['execution'] : {}
  const lines = [
    paint.bold(`event ${step.index} of ${walk.length}${walk.truncated ? '+' : ''}   ${text(event['event_id'])}`),
    `  ${paint.dim('type  ')}  ${text(event['event_type'])}`,
    `  ${paint.dim('step  ')}  ${text(event['node_name'])}`,
    `  ${paint.dim('status')}  ${text(event['status'])}`,
    `  ${paint.dim('time  ')}  ${text(event['created_at'])}`,
    '',
    `execution is ${paint.bold(text(execution['status']))} at ${text(execution['last_node_name']) || 'no step'}`,
    '',
    ...step.changes.slice(0, CHANGES_MAX).map(({ pointer, ...change }) => {
      const from = 'from' in change ? shortValue(change.from) : ''
      const to = 'to' in change ? shortValue(change.to) : ''
      const mark = change.kind === 'added' ? '+' : change.kind === 'removed' ? '-' : '~'
      const line = `  ${mark} ${pointer}  ${change.kind === 'changed' ? `${from} → ${to}` : from + to}`
      return printable(line).slice(0, width)
    }),
    ...(step.changes.length > CHANGES_MAX ? [`  … ${step.changes.length - CHANGES_MAX} more`] : []),
    '',
    paint.dim('→ n next   ← p back   PgDn PgUp ten   g G first, last   q quit'),
  ]
  return lines.join('\n')
}
