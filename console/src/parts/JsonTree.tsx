// A JSON value as a tree that can be folded. Everything is text; numbers keep every digit; what was hidden is shown as a lock.
import { useState } from 'preact/hooks'
import { isBranch, isNumber, type Json, jsonText } from '../lib/losslessJson'
import { whole } from '../lib/time'

const CHILDREN_MAX = 100
const TEXT_MAX = 2_000

interface JsonTreeProps {
  value: Json
  /** Branches down to this depth are open at first. */
  open?: number
}

export function JsonTree({ value, open = 2 }: JsonTreeProps) {
  return (
    <div class="json">
      <Node value={value} depth={0} open={open} pointer="" />
    </div>
  )
}

interface NodeProps {
  name?: string
  value: Json
  depth: number
  open: number
  pointer: string
}

function Node({ name, value, depth, open, pointer }: NodeProps) {
  if (!isBranch(value)) {
    return (
      <div class="leaf" title={pointer}>
        {name !== undefined && <span class="key">{name}: </span>}
        <Leaf value={value} />
      </div>
    )
  }
  return <Branch name={name ?? ''} value={value} depth={depth} open={open} pointer={pointer} />
}

interface BranchProps extends NodeProps {
  value: Json[] | { [key: string]: Json }
}

function Branch({ name, value, depth, open, pointer }: BranchProps) {
  const [isOpen, setOpen] = useState(depth < open)
  const [shown, setShown] = useState(CHILDREN_MAX)
  const entries = Object.entries(value)
  const mark = Array.isArray(value) ? `[${whole(entries.length)}]` : `{${whole(entries.length)}}`
  if (entries.length === 0) {
    return (
      <div class="leaf">
        {name !== '' && <span class="key">{name}: </span>}
        <span class="muted">{Array.isArray(value) ? '[]' : '{}'}</span>
      </div>
    )
  }
  return (
    <div class="branch">
      <button type="button" class="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class="twist">{isOpen ? '▾' : '▸'}</span>
        {name !== '' && <span class="key">{name}</span>} <span class="muted">{mark}</span>
      </button>
      {isOpen && (
        <div class="children">
          {entries.slice(0, shown).map(([key, child]) => (
            <Node
              key={key}
              name={key}
              value={child}
              depth={depth + 1}
              open={open}
              pointer={`${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`}
            />
          ))}
          {entries.length > shown && (
            <button type="button" class="link" onClick={() => setShown(shown + 10 * CHILDREN_MAX)}>
              first {whole(shown)} of {whole(entries.length)}, show more
            </button>
          )}
        </div>
      )}
    </div>
  )
}

export function Leaf({ value }: { value: Json }) {
  if (value === null || typeof value === 'boolean') return <span class="word">{String(value)}</span>
  if (typeof value === 'string') {
    if (value === '[REDACTED]') return <span class="secret">🔒 hidden</span>
    const isLong = value.length > TEXT_MAX
    return (
      <span class="text">
        {isLong ? value.slice(0, TEXT_MAX) : value}
        {isLong && <span class="muted"> … {whole(value.length)} characters</span>}
      </span>
    )
  }
  return <span class="digits">{isNumber(value) ? value.value : jsonText(value)}</span>
}
