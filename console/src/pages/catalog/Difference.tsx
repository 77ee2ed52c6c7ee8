// Two versions side by side, line by line; on a narrow screen one below the other.
import { type DiffLine, lineDiff } from '../../lib/lineDiff'

interface Side {
  line: number
  text: string
  kind: DiffLine['kind']
}

interface Pair {
  left: Side | undefined
  right: Side | undefined
}

const MARKS = { same: ' ', out: '−', in: '+' } as const

export function Difference({ from, to }: { from: string; to: string }) {
  const lines = lineDiff(from.trimEnd(), to.trimEnd())
  if (lines.every(({ kind }) => kind === 'same')) return <p class="muted">Both say the same.</p>
  return (
    <ol class="yaml diff" aria-label="Difference">
      {pairsOf(lines).map(({ left, right }, index) => (
        <li key={index}>
          <Half side={left} />
          {left?.kind === 'same' ? <Half side={right} isRepeated /> : <Half side={right} />}
        </li>
      ))}
    </ol>
  )
}

/** `isRepeated`: it says what the other half says; where they are not side by side once is enough. */
function Half({ side, isRepeated = false }: { side: Side | undefined; isRepeated?: boolean }) {
  if (side === undefined) return <span class="half none" />
  return (
    <code class={`half ${side.kind === 'same' ? '' : side.kind}`} data-line={side.line} aria-hidden={isRepeated}>
      <span class="diff-mark">{MARKS[side.kind]}</span>
      {side.text}
    </code>
  )
}

/** What was taken out stands beside what was put in for it. */
function pairsOf(lines: readonly DiffLine[]): Pair[] {
  const pairs: Pair[] = []
  let [outs, ins]: [Side[], Side[]] = [[], []]
  let [left, right] = [0, 0]
  const settle = (): void => {
    for (let at = 0; at < Math.max(outs.length, ins.length); at++) pairs.push({ left: outs[at], right: ins[at] })
    outs = []
    ins = []
  }
  for (const { kind, text } of lines) {
    if (kind === 'out') outs.push({ line: ++left, text, kind })
    else if (kind === 'in') ins.push({ line: ++right, text, kind })
    else {
      settle()
      pairs.push({ left: { line: ++left, text, kind }, right: { line: ++right, text, kind } })
    }
  }
  settle()
  return pairs
}
