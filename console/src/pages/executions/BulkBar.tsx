// What can be done with the executions that were chosen, or with all that match the filters.
import { useSignal } from '@preact/signals'
import { apiPath, getAnswer } from '../../lib/api'
import { useKeys } from '../../lib/keys'
import { go, hrefOf } from '../../lib/router'
import { whyNotOperator } from '../../lib/session'
import { whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { ActButton } from '../../parts/ActButton'
import { ACTIONS, type BulkAction, type BulkScope } from './bulk'
import { ExportIds } from './ExportIds'
import { type Bucket, countIn } from './Histogram'
import { givenOf } from './summary'
import '../../styles/jobs.css'

interface BulkBarProps {
  ids: readonly string[]
  /** The filters of the list. */
  asked: Readonly<Record<string, string | undefined>>
  /** Every row that is seen is chosen. */
  isWholePage: boolean
  onClear: () => void
  /** Rows come and go while the dialog is open: it acts on what was chosen then. */
  onAct: (action: BulkAction, scope: BulkScope) => void
}

export function BulkBar({ ids, asked, isWholePage, onClear, onAct }: BulkBarProps) {
  const isAll = useSignal(false)
  const isEverything = isAll.value && isWholePage
  const pair = ids.length === 2 && !isEverything ? hrefOf('/compare', { a: ids[0], b: ids[1] }) : undefined
  useKeys(pair === undefined ? {} : { c: () => go(pair) })
  const matching = useMatching(isWholePage ? asked : undefined)
  const scope: BulkScope = isEverything ? { filter: Object.fromEntries(givenOf(asked)) } : { ids }
  return (
    <section class="buttons bulk" aria-label="Chosen executions">
      <span>{isEverything ? 'Chosen:' : `${whole(ids.length)} chosen`}</span>
      {isWholePage && (
        <button
          type="button"
          class="chip"
          aria-pressed={isEverything}
          title="Not only this page, but every execution that matches the filters"
          onClick={() => {
            isAll.value = !isAll.value
          }}
        >
          All that match{matching !== undefined && ` (${whole(matching)})`}
        </button>
      )}
      {Object.entries(ACTIONS).map(([action, { name, consequence }]) => (
        <ActButton
          key={action}
          why={whyNotOperator.value}
          meaning={consequence}
          onClick={() => onAct(action as BulkAction, scope)}
        >
          {name}…
        </ActButton>
      ))}
      {pair !== undefined && (
        <a class="button" href={pair}>
          Compare
        </a>
      )}
      <ExportIds scope={scope} />
      <button type="button" class="quiet" onClick={onClear}>
        Clear
      </button>
    </section>
  )
}

/** How many match the filters, where that can be counted. */
function useMatching(asked: BulkBarProps['asked'] | undefined): number | undefined {
  const path = asked === undefined ? null : apiPath('/api/executions/histogram', { ...asked, buckets: 1 })
  const { data } = useResource(path, (signal) => getAnswer<Bucket[]>(path!, signal))
  if (data === undefined) return undefined
  const { body, headers } = data
  if (headers.get('x-noetl-truncated') === 'true' || headers.has('x-noetl-failed-shards')) return undefined
  return countIn(body)
}
