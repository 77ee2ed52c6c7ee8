// The filters of the list. They are in the address, so a saved view is a link.
import { useRef } from 'preact/hooks'
import { useKeys } from '../../lib/keys'
import { ask, query } from '../../lib/router'
import { StatusChip } from '../../parts/Status'
import { type Wanted, wantedBy } from './searchText'
import { FILTERS, type Filter, filterText, STATUSES } from './summary'

export function Filters() {
  const box = useRef<HTMLElement>(null)
  useKeys({ f: () => box.current?.querySelector('input')?.focus() })
  const chosen = new Set((query.value.get('status') ?? '').toUpperCase().split(',').filter(Boolean))
  const toggle = (status: string): void => {
    const next = new Set(chosen)
    if (!next.delete(status)) next.add(status)
    ask({ status: [...next].join(','), cursor: undefined })
  }
  return (
    <search ref={box} class="filters">
      {STATUSES.map((status) => (
        <StatusChip key={status} status={status} isOn={chosen.has(status)} onClick={() => toggle(status)} />
      ))}
      <TextFilter
        name="q"
        label="Text, id, step:name, worker:name or label:value"
        hint="Text, id, step:…, team:…"
        wide
      />
      <TextFilter name="path" label="Path, * at the end" />
      <TextFilter name="step" label="Step" />
      <Given />
    </search>
  )
}

interface TextFilterProps {
  name: Filter
  label: string
  /** What there is room for. */
  hint?: string
  wide?: boolean
}

function TextFilter({ name, label, hint = label, wide = false }: TextFilterProps) {
  const value = query.value.get(name) ?? ''
  return (
    <input
      key={value}
      type="search"
      class={wide ? 'wide' : ''}
      aria-label={label}
      title={label}
      placeholder={hint}
      defaultValue={value}
      onKeyDown={(event) => {
        // What was not confirmed is taken back.
        if (event.key === 'Escape') event.currentTarget.value = value
      }}
      onChange={(event) => {
        const text = event.currentTarget.value.trim()
        ask({ ...(name === 'q' ? alsoWanted(text) : { [name]: text }), cursor: undefined })
      }}
    />
  )
}

/** What the search says beside its text is added to the filters that are there. */
function alsoWanted(text: string): Wanted {
  const { q = '', label, ...rest } = wantedBy(text, Date.now())
  const before = query.value.get('label')
  if (label === undefined) return { q, ...rest }
  return { q, ...rest, label: before === null ? label : `${before},${label}` }
}

/** What has no field of its own is shown as a chip that can be taken off. */
function Given() {
  const others = FILTERS.filter((name) => !['status', 'q', 'path', 'step'].includes(name))
  return (
    <>
      {others.map((name) => {
        const value = query.value.get(name)
        if (value === null) return null
        return (
          <button
            key={name}
            type="button"
            class="chip"
            aria-pressed="true"
            onClick={() => ask({ [name]: undefined, cursor: undefined })}
          >
            {filterText(name, value)} ✕
          </button>
        )
      })}
    </>
  )
}
