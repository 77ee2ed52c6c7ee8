// The filters of the list. They are in the address, so a saved view is a link.
import { useRef } from 'preact/hooks'
import { useKeys } from '../../lib/keys'
import { ask, query } from '../../lib/router'
import { Glyph, kindOf } from '../../parts/Status'
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
        <button
          key={status}
          type="button"
          class={`chip ${kindOf(status)}`}
          aria-pressed={chosen.has(status)}
          onClick={() => toggle(status)}
        >
          <Glyph kind={kindOf(status)} />
          {status.toLowerCase()}
        </button>
      ))}
      <TextFilter name="q" label="Text in path, step or error, or an id" wide />
      <TextFilter name="path" label="Path, * at the end" />
      <TextFilter name="step" label="Step" />
      <Given />
    </search>
  )
}

function TextFilter({ name, label, wide = false }: { name: Filter; label: string; wide?: boolean }) {
  const value = query.value.get(name) ?? ''
  return (
    <input
      key={value}
      type="search"
      class={wide ? 'wide' : ''}
      aria-label={label}
      placeholder={label}
      defaultValue={value}
      onKeyDown={(event) => {
        // What was not confirmed is taken back.
        if (event.key === 'Escape') event.currentTarget.value = value
      }}
      onChange={(event) => ask({ [name]: event.currentTarget.value.trim(), cursor: undefined })}
    />
  )
}

/** What has no field of its own is shown as a chip that can be taken off. */
function Given() {
  const others = FILTERS.filter((name) => ['label', 'worker', 'since', 'until', 'parent', 'min_seconds'].includes(name))
  return (
    <>
      {others.map((name) => {
        const value = query.value.get(name)
        if (value === null) return null
        return (
          <button key={name} type="button" class="chip" aria-pressed="true" onClick={() => ask({ [name]: undefined })}>
            {filterText(name, value)} ✕
          </button>
        )
      })}
    </>
  )
}
