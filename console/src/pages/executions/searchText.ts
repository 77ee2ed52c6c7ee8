// What people write into the search, as filters of the list: `step:charge team:big timeout` is a step, a label and a text. Names are
// those of the options of `noetl-cp execution list`; any other name before a colon is a label. Quotes keep spaces together, and keep a
// text with a colon a text.
import { FILTERS, type Filter, givenOf } from './summary'

export type Wanted = Partial<Record<Filter, string>>

/** By the option that says the same on the command line. */
const OPTIONS: Readonly<Record<string, Filter>> = {
  status: 'status',
  path: 'path',
  step: 'step',
  worker: 'worker',
  parent: 'parent',
  tenant: 'tenant',
  since: 'since',
  until: 'until',
  'longer-than': 'min_seconds',
  'shorter-than': 'max_seconds',
  q: 'q',
}

const SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3_600, d: 86_400 }

/** `"a text"`, `name:value`, `name="a value"`, or a word. */
const WORDS = /"([^"]*)"|([A-Za-z][\w.-]*)([:=])(?:"([^"]*)"|(\S+))|\S+/g

export function wantedBy(text: string, nowMs: number): Wanted {
  const wanted: Wanted = {}
  const words: string[] = []
  const labels: string[] = []
  for (const [word, quoted, name = '', sign, inQuotes, plain] of text.matchAll(WORDS)) {
    const value = inQuotes ?? plain ?? ''
    const filter = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : FILTERS.find((one) => one === name)
    const read = filter === undefined || value === '' ? undefined : readValue(filter, value, nowMs)
    const label = labelOf(name, sign, value)
    if (quoted !== undefined) words.push(quoted)
    else if (filter === 'label' && value.includes('=')) labels.push(value)
    else if (filter !== undefined && read !== undefined) wanted[filter] = read
    else if (label !== undefined) labels.push(label)
    else words.push(word)
  }
  if (words.length > 0) wanted.q = [...(wanted.q === undefined ? [] : [wanted.q]), ...words].join(' ')
  return labels.length === 0 ? wanted : { ...wanted, label: labels.join(',') }
}

/** `team:big`, or `label.team=big`. What begins with `//` is an address. */
function labelOf(name: string, sign: string | undefined, value: string): string | undefined {
  if (value === '' || value.startsWith('//')) return undefined
  if (name.startsWith('label.')) return labelText(name.slice('label.'.length), value)
  return sign === ':' ? labelText(name, value) : undefined
}

/** As the address and the API have it: several stand side by side, with commas. */
export function labelText(name: string, value: string): string {
  return `${name}=${value.replace(/[\\,]/g, '\\$&')}`
}

/** Undefined: it cannot mean that, and is a text. */
function readValue(filter: Filter, value: string, nowMs: number): string | undefined {
  if (filter === 'label') return undefined
  if (filter === 'status') return value.toUpperCase()
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(value) ?? []
  const seconds = amount === undefined ? undefined : Number(amount) * SECONDS[unit]!
  if (filter === 'min_seconds' || filter === 'max_seconds') {
    if (seconds !== undefined) return String(seconds)
    return /^\d+(\.\d+)?$/.test(value) ? value : undefined
  }
  if (filter !== 'since' && filter !== 'until') return value
  const at = seconds === undefined ? Date.parse(value) : nowMs - seconds * 1_000
  return Number.isNaN(at) ? undefined : new Date(at).toISOString()
}

/** The same question on the command line; undefined where no option asks for one of the filters. */
export function commandOf(asked: Readonly<Record<string, string | undefined>>): string[] | undefined {
  const words = givenOf(asked).map(([filter, value]) => {
    if (filter === 'order') return value === 'oldest' ? ['--oldest-first'] : []
    if (filter === 'label') return labelsIn(value).flatMap((label) => ['--label', label])
    const option = filter === 'cursor' ? filter : Object.keys(OPTIONS).find((name) => OPTIONS[name] === filter)
    return option === undefined ? undefined : [`--${option}`, filter.endsWith('_seconds') ? `${value}s` : value]
  })
  return words.every((part) => part !== undefined) ? ['execution', 'list', ...words.flat()] : undefined
}

function labelsIn(text: string): string[] {
  return (text.match(/(?:\\[\\,]|[^,])+/g) ?? []).map((label) => label.replace(/\\([\\,])/g, '$1'))
}
