// A JSON value as a tree that can be folded. Everything is text; numbers keep every digit; what was hidden is shown as a lock.
// The arrows walk it once it was reached by Tab. The chosen line has what copies its value and its JSON pointer.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type Found, leafText, pointerTo } from '../lib/jsonSearch'
import { isBranch, isNumber, type Json, jsonText } from '../lib/losslessJson'
import { whole } from '../lib/time'
import { CopyButton } from './CopyText'
import { walkTree } from './walkTree'

const CHILDREN_MAX = 100
const TEXT_MAX = 2_000

interface JsonTreeProps {
  value: Json
  /** Branches down to this depth are open at first. */
  open?: number | undefined
  isSorted?: boolean
  /** Only this is shown, and what leads there. */
  found?: Found | undefined
  /** Marked in keys and values. */
  text?: string
}

interface Tree {
  open: number
  isSorted: boolean
  found: Found | undefined
  text: string
  chosen: string | undefined
  choose: (pointer: string) => void
}

export function JsonTree({ value, open = 2, isSorted = false, found, text = '' }: JsonTreeProps) {
  const [chosen, choose] = useState<string>()
  const tree = { open, isSorted, found, text, chosen, choose }
  return (
    <div class="json" role="tree" aria-label="Value" onKeyDown={walkTree}>
      <Node value={value} depth={0} pointer="" tree={tree} isWhole={false} />
    </div>
  )
}

interface NodeProps {
  name?: string
  value: Json
  depth: number
  pointer: string
  tree: Tree
  /** Inside of what was found. */
  isWhole: boolean
}

function Node(props: NodeProps) {
  const { name, value, tree } = props
  if (isBranch(value) && Object.keys(value).length > 0) return <Branch {...props} value={value} />
  return (
    <Line node={props}>
      {name !== undefined && (
        <span class="key">
          <Marked text={name} mark={tree.text} />:{' '}
        </span>
      )}
      <Leaf value={value} mark={tree.text} />
    </Line>
  )
}

interface LineProps {
  node: NodeProps
  /** Of a branch. */
  isOpen?: boolean
  children: ComponentChildren
}

/** Tab reaches the first line, and the chosen one, which has what copies it. */
function Line({ node: { value, depth, pointer, tree }, isOpen, children }: LineProps) {
  const isChosen = tree.chosen === pointer
  return (
    <div
      role="treeitem"
      class={isOpen === undefined ? 'line leaf' : 'line'}
      title={pointer}
      aria-level={depth + 1}
      aria-expanded={isOpen}
      aria-selected={isChosen}
      tabIndex={pointer === '' || isChosen ? 0 : -1}
      onFocus={() => tree.choose(pointer)}
    >
      {children}
      {isChosen && <Copies value={value} pointer={pointer} />}
    </div>
  )
}

interface BranchProps extends NodeProps {
  value: Json[] | { [key: string]: Json }
}

function Branch(props: BranchProps) {
  const { name, value, depth, pointer, tree, isWhole } = props
  const { found, choose } = tree
  const [isOpen, setOpen] = useState(depth < tree.open || found?.ways.has(pointer) === true)
  const [shown, setShown] = useState(CHILDREN_MAX)
  const entries = Object.entries(value)
  const mark = Array.isArray(value) ? `[${whole(entries.length)}]` : `{${whole(entries.length)}}`
  const listed = isOpen
    ? entries
        .map(([key, child]) => ({ key, child, at: pointerTo(pointer, key) }))
        .filter(({ at }) => isWhole || found === undefined || found.places.has(at) || found.ways.has(at))
    : []
  if (tree.isSorted && !Array.isArray(value)) listed.sort((left, right) => (left.key < right.key ? -1 : 1))
  return (
    <>
      <Line node={props} isOpen={isOpen}>
        <button
          type="button"
          class="fold"
          tabIndex={-1}
          onClick={() => {
            choose(pointer)
            setOpen(!isOpen)
          }}
        >
          <span class="twist">{isOpen ? '▾' : '▸'}</span>
          {name !== undefined && (
            <span class="key">
              <Marked text={name} mark={tree.text} />
            </span>
          )}
          <span class="muted">{mark}</span>
        </button>
      </Line>
      {isOpen && (
        <div class="children">
          {listed.slice(0, shown).map(({ key, child, at }) => (
            <Node
              key={key}
              name={key}
              value={child}
              depth={depth + 1}
              pointer={at}
              tree={tree}
              isWhole={isWhole || found?.places.has(at) === true}
            />
          ))}
          {listed.length > shown && (
            <div class="line" role="treeitem" aria-level={depth + 2} aria-selected={false} tabIndex={-1}>
              <button type="button" class="fold link" tabIndex={-1} onClick={() => setShown(shown + 10 * CHILDREN_MAX)}>
                first {whole(shown)} of {whole(listed.length)}, show more
              </button>
            </div>
          )}
        </div>
      )}
    </>
  )
}

function Copies({ value, pointer }: { value: Json; pointer: string }) {
  return (
    <span class="copy">
      <CopyButton name="value" text={() => (isBranch(value) ? jsonText(value) : leafText(value))}>
        value
      </CopyButton>
      <CopyButton name={`pointer ${pointer}`} text={() => pointer}>
        pointer
      </CopyButton>
    </span>
  )
}

export function Leaf({ value, mark = '' }: { value: Json; mark?: string }) {
  if (isNumber(value)) return <Word look="digits" text={value.value} mark={mark} />
  if (value === '[REDACTED]') return <span class="secret">🔒 hidden</span>
  if (typeof value === 'string') {
    return (
      <>
        <Word look="text" text={value.slice(0, TEXT_MAX)} mark={mark} />
        {value.length > TEXT_MAX && <span class="muted"> … {whole(value.length)} characters</span>}
      </>
    )
  }
  if (isBranch(value)) return <span class="muted">{jsonText(value)}</span>
  return <Word look="word" text={String(value)} mark={mark} />
}

function Word({ look, text, mark }: { look: string; text: string; mark: string }) {
  return (
    <span class={look}>
      <Marked text={text} mark={mark} />
    </span>
  )
}

/** The text with what was searched for set off in it. */
function Marked({ text, mark }: { text: string; mark: string }) {
  const at = mark === '' ? -1 : text.toLowerCase().indexOf(mark.toLowerCase())
  if (at === -1) return <>{text}</>
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, at + mark.length)}</mark>
      {text.slice(at + mark.length)}
    </>
  )
}
