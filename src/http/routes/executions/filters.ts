// Which executions: the filters that the list, the histogram and bulk jobs share.
import { parseWireTime } from '../../../domain/events/wireTime.js'
import { pathPattern } from '../../../domain/executions/executionPage.js'
import { type Labels, readLabelTexts } from '../../../domain/executions/labels.js'
import { severalEscaped, severalOf, textFilter } from '../../../domain/executions/listFilter.js'
import { parseCatalogId, parseExecutionId } from '../../../domain/ids/ids.js'
import { CpError } from '../../../errors.js'
import type { ExecutionSelection } from '../../../services/executions/executionQueries.js'
import type { RouteSpec } from '../../route.js'

export const FILTER_QUERY: NonNullable<RouteSpec['query']> = {
  catalog_id: { format: 'int64' },
  path: { type: 'string', description: 'exact, or a prefix that ends in *' },
  status: { type: 'string', description: 'one or several, with commas' },
  since: { type: 'string', format: 'date-time' },
  until: { type: 'string', format: 'date-time' },
  q: {
    type: 'string',
    maxLength: 200,
    description:
      'text in path, step or error; the whole name of a worker; or an id: one of 15 digits or more that exists is looked for alone',
  },
  parent: { format: 'int64', description: 'children of this execution' },
  step: { type: 'string', description: 'at this step, or ended there' },
  tenant: { type: 'string' },
  worker: { type: 'string', description: 'holds, or held, one of its commands' },
  label: {
    type: 'string',
    description:
      'key=value, several with commas (a comma in a value is \\,); or one parameter label.<key>=<value> for each',
  },
  min_seconds: { type: 'string', description: 'lasts, or lasted, at least so long' },
  max_seconds: { type: 'string', description: 'at most so long' },
}

export function filterOf(query: Readonly<Record<string, string | undefined>>): ExecutionSelection {
  const { catalog_id: catalogId, parent } = query
  return {
    statuses: severalOf(query['status']?.toUpperCase()),
    catalogId: catalogId === undefined ? null : parseCatalogId(catalogId, 'catalog_id'),
    pathPattern: pathPattern(query['path']),
    since: parseWireTime(query['since'], 'since') ?? null,
    until: parseWireTime(query['until'], 'until') ?? null,
    parentExecutionId: parent === undefined ? null : parseExecutionId(parent, 'parent'),
    step: query['step'] ?? null,
    tenantId: query['tenant'] ?? null,
    secondsMin: secondsOf(query, 'min_seconds'),
    secondsMax: secondsOf(query, 'max_seconds'),
    ...textFilter(query['q']),
    workerId: query['worker'] ?? null,
    labels: labelsOf(query),
  }
}

const LABEL = 'label.'

function labelsOf(query: Readonly<Record<string, string | undefined>>): Labels | null {
  const single = Object.entries(query).flatMap(([name, value]) =>
    name.startsWith(LABEL) ? [`${name.slice(LABEL.length)}=${value}`] : [],
  )
  return readLabelTexts([...severalEscaped(query['label']), ...single], 'label') ?? null
}

function secondsOf(query: Readonly<Record<string, string | undefined>>, name: string): number | null {
  const text = query[name]
  if (text === undefined) return null
  if (!/^[0-9]{1,12}(\.[0-9]{1,6})?$/.test(text)) {
    throw new CpError('invalid_input', `${name} must be a number of seconds`, { details: { field: name } })
  }
  return Number(text)
}
