// A text area with numbered lines, in colours, for a document that is being written. Letters are drawn below it and are see-through in
// it: both have the same type, lines and places. Only lines in sight are drawn, so a long document is written as quickly as a
// short one.
import type { RefObject } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { colouredLines } from './colouredLines'
import { isError, type Problem } from './entry'
import { Pieces } from './Pieces'
import '../../styles/written.css'

/** More than a screen has; the text area is never as high. */
const LINES_DRAWN = 150
/** Of them so many are above what is in sight: a wheel is faster than the page. */
const LINES_ABOVE = 20

interface WrittenTextProps {
  area: RefObject<HTMLTextAreaElement>
  text: string
  problems: readonly Problem[]
  onWrite: (text: string) => void
}

export function WrittenText({ area, text, problems, onWrite }: WrittenTextProps) {
  const [at, setAt] = useState({ left: 0, top: 0, first: 0 })
  const lines = useMemo(() => colouredLines(text), [text])
  const marked = new Set(problems.map(({ line }) => line))
  const drawn = lines.slice(at.first, at.first + LINES_DRAWN).map((pieces, index) => {
    const line = at.first + index + 1
    return { line, pieces, look: marked.has(line) ? 'marked' : '' }
  })
  const follow = (): void => {
    const { scrollLeft, scrollTop } = area.current!
    const high = lineHeight(area.current!)
    const first = Math.max(0, Math.floor(scrollTop / high) - LINES_ABOVE)
    setAt({ left: scrollLeft, top: first * high - scrollTop, first })
  }
  return (
    <div class="written">
      <div class="written-lines" aria-hidden="true">
        <ol style={{ transform: `translateY(${at.top}px)` }}>
          {drawn.map(({ line, look }) => (
            <li key={line} class={look} data-line={line} />
          ))}
        </ol>
      </div>
      <div class="written-text">
        <div class="written-lines" aria-hidden="true">
          <ol style={{ transform: `translate(${-at.left}px, ${at.top}px)` }}>
            {drawn.map(({ line, look, pieces }) => (
              <li key={line} class={look}>
                <Pieces pieces={pieces} />
              </li>
            ))}
          </ol>
        </div>
        <textarea
          ref={area}
          aria-label="Document"
          aria-invalid={problems.some(isError)}
          spellcheck={false}
          wrap="off"
          rows={Math.min(40, Math.max(14, lines.length + 1))}
          value={text}
          onInput={(event) => onWrite(event.currentTarget.value)}
          onScroll={follow}
        />
      </div>
    </div>
  )
}

/** The caret goes to where a problem is, in the middle of what is in sight. */
export function showProblem(area: HTMLTextAreaElement, { line, column }: Problem): void {
  const lines = area.value.split('\n')
  const at = Math.min(line ?? 1, lines.length) - 1
  const before = lines.slice(0, at).reduce((sum, { length }) => sum + length + 1, 0)
  const caret = before + Math.min((column ?? 1) - 1, lines[at]!.length)
  area.focus()
  area.setSelectionRange(caret, caret)
  area.scrollTo(0, (at + 0.5) * lineHeight(area) - area.clientHeight / 2)
}

function lineHeight(area: HTMLTextAreaElement): number {
  return Number.parseFloat(getComputedStyle(area).lineHeight)
}
