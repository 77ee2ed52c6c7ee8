// A search that has found nothing: which filter is to blame. Each is left out in turn; the one without which most is found is named.
import { apiPath, get } from '../../lib/api'
import { counted } from '../../lib/counted'
import { ask } from '../../lib/router'
import { useResource } from '../../lib/useResource'
import { type Bucket, countIn } from './Histogram'
import { FILTERS, filterText, givenOf } from './summary'

type Filters = Readonly<Record<string, string | undefined>>

export function NoneMatch({ asked }: { asked: Filters }) {
  const question = `without one of ${JSON.stringify(asked)}`
  const { data: worst, error } = useResource(question, (signal) => worstOf(asked, signal))
  const clear = Object.fromEntries([...FILTERS, 'cursor'].map((name) => [name, undefined]))
  return (
    <>
      <h2>Nothing matches these filters</h2>
      {worst !== undefined && <p>{blame(worst)}</p>}
      {error !== undefined && <p class="muted">Which of them is the reason is not known: {error.message}</p>}
      <div class="buttons">
        {worst !== undefined && worst.found > 0 && (
          <button type="button" class="primary" onClick={() => ask({ [worst.name]: undefined, cursor: undefined })}>
            Drop {worst.text}
          </button>
        )}
        <button type="button" onClick={() => ask(clear)}>
          Show all executions
        </button>
      </div>
    </>
  )
}

interface Removed {
  name: string
  text: string
  /** So many match the others. */
  found: number
}

async function worstOf(asked: Filters, signal: AbortSignal): Promise<Removed> {
  const removed = await Promise.all(
    givenOf(asked).map(async ([name, value]): Promise<Removed> => {
      const path = apiPath('/api/executions/histogram', { ...asked, [name]: undefined, buckets: 1 })
      return { name, text: filterText(name, value), found: countIn(await get<Bucket[]>(path, signal)) }
    }),
  )
  return removed.reduce((worst, one) => (one.found > worst.found ? one : worst))
}

function blame({ text, found }: Removed): string {
  if (found === 0) return 'No filter alone is the reason: without any one of them nothing is found, either.'
  return `Without ${text} there ${found === 1 ? 'is' : 'are'} ${counted(found, 'execution')}.`
}
