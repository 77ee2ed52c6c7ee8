// A payload: its tree, with a search in it, and its keys sorted or as they came. Both are in the address.
import { useMemo } from 'preact/hooks'
import { findInJson } from '../lib/jsonSearch'
import type { Json } from '../lib/losslessJson'
import { ask, query } from '../lib/router'
import { whole } from '../lib/time'
import { useRested } from '../lib/useRested'
import { JsonTree } from './JsonTree'

export function JsonView({ value, open }: { value: Json; open?: number }) {
  const written = query.value.get('within') ?? ''
  const text = useRested(written)
  const isSorted = query.value.get('keys') === 'sorted'
  const found = useMemo(() => (text === '' ? undefined : findInJson(value, text)), [value, text])
  return (
    <>
      <search class="filters">
        <input
          type="search"
          aria-label="Find in the value"
          placeholder="Find in the value"
          value={written}
          onInput={(event) => ask({ within: event.currentTarget.value }, { replace: true })}
        />
        <button
          type="button"
          class="chip"
          aria-pressed={isSorted}
          onClick={() => ask({ keys: isSorted ? undefined : 'sorted' }, { replace: true })}
        >
          sorted keys
        </button>
        <output class="muted">
          {found !== undefined && `${found.isCut ? 'first ' : ''}${whole(found.places.size)} found`}
        </output>
      </search>
      {found?.places.size === 0 ? (
        <p class="muted">No key and no value contains it.</p>
      ) : (
        <JsonTree key={text} value={value} open={open} isSorted={isSorted} found={found} text={text} />
      )}
    </>
  )
}
