// What is wrong with a document, errors before warnings; a line is a link into the text.
import { Glyph } from '../../parts/Status'
import { isError, type Problem } from './entry'

interface ProblemsProps {
  problems: readonly Problem[]
  /** Shows where it is in the text. */
  onShow: (problem: Problem) => void
}

export function Problems({ problems, onShow }: ProblemsProps) {
  const sorted = [...problems].sort((left, right) => Number(isError(right)) - Number(isError(left)))
  return (
    <ul class="problems" aria-label="Problems">
      {sorted.map((problem) => (
        <li key={`${problem.pointer} ${problem.message}`} class={isError(problem) ? 'error' : 'warning'}>
          <Glyph kind={isError(problem) ? 'failed' : 'waiting'} />
          <span>
            {isError(problem) ? 'Error' : 'Warning'}
            {problem.line == null ? '' : ', '}
            {problem.line != null && (
              <button type="button" class="link" onClick={() => onShow(problem)}>
                line {problem.line}
              </button>
            )}
            : {problem.message} <code class="muted">{problem.pointer}</code>
          </span>
        </li>
      ))}
    </ul>
  )
}
