// A document with numbered lines, in colours, of which what is indented can be folded.
import { useMemo, useState } from 'preact/hooks'
import { whole } from '../../lib/time'
import { colouredLines } from './colouredLines'
import type { Problem } from './entry'
import { foldsOf } from './folds'
import { Pieces } from './Pieces'

const LINES_MAX = 2_000

export function lineId(line: number): string {
  return `line-${line}`
}

export function Yaml({ text, problems }: { text: string; problems: readonly Problem[] }) {
  const [isWhole, setWhole] = useState(false)
  const lines = useMemo(() => colouredLines(text.trimEnd()), [text])
  const marked = new Map(problems.flatMap(({ line, severity }) => (line == null ? [] : [[line, severity]])))
  // A problem is linked to its line: that is there, however far down.
  const isMarkedBeyond = [...marked.keys()].some((line) => line > LINES_MAX)
  const shown = isWhole || isMarkedBeyond ? lines : lines.slice(0, LINES_MAX)
  const folds = useMemo(() => foldsOf(text.trimEnd().split('\n')), [text])
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set())
  // What is wrong stays in sight.
  const hidden = new Set([...folded].flatMap((head) => insideOf(head, folds)).filter((line) => !marked.has(line + 1)))
  const toggle = (head: number): void => {
    const next = new Set(folded)
    if (!next.delete(head)) next.add(head)
    setFolded(next)
  }
  return (
    <>
      <ol class="yaml" aria-label="Document">
        {shown.map((pieces, index) => (
          <li
            key={index}
            id={lineId(index + 1)}
            class={marked.has(index + 1) ? 'marked' : ''}
            data-line={index + 1}
            hidden={hidden.has(index)}
          >
            {folds.has(index) ? (
              <button
                type="button"
                class="fold"
                aria-expanded={!folded.has(index)}
                aria-label={`What belongs to line ${index + 1}`}
                onClick={() => toggle(index)}
              >
                {folded.has(index) ? '▸' : '▾'}
              </button>
            ) : (
              <span />
            )}
            <Pieces pieces={pieces} />
          </li>
        ))}
      </ol>
      {lines.length > shown.length && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          first {whole(shown.length)} of {whole(lines.length)} lines, show all
        </button>
      )}
    </>
  )
}

function insideOf(head: number, folds: ReadonlyMap<number, number>): number[] {
  return Array.from({ length: (folds.get(head) ?? head) - head }, (_, index) => head + 1 + index)
}
