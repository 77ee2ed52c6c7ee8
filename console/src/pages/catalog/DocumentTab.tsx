// The document as it was registered, and what an execution of it would be refused by.
import { useResource } from '../../lib/useResource'
import { type Entry, loadProblems, type Problem } from './entry'
import { Problems } from './Problems'
import { lineId, Yaml } from './Yaml'

export function DocumentTab({ entry }: { entry: Entry }) {
  const content = entry.content ?? ''
  const problems = useResource(`problems of ${entry.catalog_id}`, (signal) => loadProblems(content, entry.kind, signal))
  return (
    <>
      {problems.error !== undefined && (
        <p class="notice stale">What is wrong with it is not known: {problems.error.message}</p>
      )}
      {problems.data !== undefined && problems.data.length > 0 && <Problems problems={problems.data} onShow={show} />}
      <Yaml text={content} problems={problems.data ?? []} />
    </>
  )
}

function show({ line }: Problem): void {
  document.getElementById(lineId(line!))?.scrollIntoView({ block: 'center' })
}
