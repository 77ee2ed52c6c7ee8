// A document with numbered lines. It is there as plain text at once, and coloured as soon as the colours are loaded.
import { useEffect, useMemo, useState } from 'preact/hooks'
import { loadPart } from '../../lib/loadPart'
import { whole } from '../../lib/time'
import type { Problem } from './entry'

export interface Piece {
  text: string
  look: string | undefined
}

const LINES_MAX = 2_000
/** Beyond it the colours are not worth the wait. */
const COLOURED_MAX = 200_000

export function lineId(line: number): string {
  return `line-${line}`
}

export function Yaml({ text, problems }: { text: string; problems: readonly Problem[] }) {
  const [isWhole, setWhole] = useState(false)
  const lines = useColoured(text)
  const marked = new Map(problems.flatMap(({ line, severity }) => (line == null ? [] : [[line, severity]])))
  const shown = isWhole ? lines : lines.slice(0, LINES_MAX)
  return (
    <>
      <ol class="yaml" aria-label="Document">
        {shown.map((pieces, index) => (
          <li key={index} id={lineId(index + 1)} class={marked.has(index + 1) ? 'marked' : ''}>
            <code>
              {pieces.map((piece, at) => (
                <span key={at} class={piece.look}>
                  {piece.text}
                </span>
              ))}
            </code>
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

function useColoured(text: string): readonly (readonly Piece[])[] {
  const plain = useMemo(
    () =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => [{ text: line, look: undefined }]),
    [text],
  )
  const [coloured, setColoured] = useState<{ text: string; lines: Piece[][] }>()
  useEffect(() => {
    if (text.length > COLOURED_MAX) return
    let isGone = false
    loadPart(() => import('./highlight')).then(
      ({ highlightYaml }) => {
        if (!isGone) setColoured({ text, lines: highlightYaml(text.trimEnd()) })
      },
      // Without colours it stays readable.
      () => undefined,
    )
    return () => {
      isGone = true
    }
  }, [text])
  return coloured?.text === text ? coloured.lines : plain
}
