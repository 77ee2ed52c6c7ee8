// The document as it was registered, and what an execution of it would be refused by.
import { useResource } from '../../lib/useResource'
import type { Entry } from './entry'
import { loadProblems } from './entry'
import { Problems } from './Problems'
import { Yaml } from './Yaml'

export function DocumentTab({ entry }: { entry: Entry }) {
  const content = entry.content ?? ''
  const problems = useResource(`problems of ${entry.catalog_id}`, () => loadProblems(content, entry.kind))
  return (
    <>
      {problems.data !== undefined && problems.data.length > 0 && <Problems problems={problems.data} />}
      <Yaml text={content} problems={problems.data ?? []} />
    </>
  )
}
