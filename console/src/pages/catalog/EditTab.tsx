// A document being written: what is wrong with it is said while it is written, and it becomes a version when told so.
import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { ApiError, send } from '../../lib/api'
import { go } from '../../lib/router'
import { whyNotWriter } from '../../lib/session'
import { useResource } from '../../lib/useResource'
import { useRested } from '../../lib/useRested'
import { ActButton } from '../../parts/ActButton'
import { type Entry, entryHref, loadProblems, type Problem } from './entry'
import { Problems } from './Problems'
import { showProblem, WrittenText } from './WrittenText'

/** So long nothing was typed: then it is looked at. */
const WRITING_MS = 400

export interface Registered {
  path: string
  version: number
  created: boolean
}

export function EditTab({ entry, onRegistered }: { entry: Entry; onRegistered: () => void }) {
  return (
    <Editor
      draft={entry.catalog_id}
      first={entry.content ?? ''}
      kind={entry.kind}
      onRegistered={({ path }) => {
        // Whoever has changed the path has made another entry.
        go(entryHref(path))
        onRegistered()
      }}
    />
  )
}

/** What was written and not registered yet, while the page is open: another tab or the way back must not cost it. */
const drafts = new Map<string, string>()

// The browser asks whoever would lose one with the page.
window.addEventListener('beforeunload', (event) => {
  if (drafts.size > 0) event.preventDefault()
})

interface EditorProps {
  /** Whose draft it is. */
  draft: string
  first: string
  kind?: string
  onRegistered: (done: Registered) => void
}

export function Editor({ draft, first, kind, onRegistered }: EditorProps) {
  const text = useSignal(drafts.get(draft) ?? first)
  const write = (written: string): void => {
    text.value = written
    if (written === first) drafts.delete(draft)
    else drafts.set(draft, written)
  }
  const said = useSignal<string | undefined>(undefined)
  const isBusy = useSignal(false)
  const rested = useRested(text.value, WRITING_MS)
  const problems = useResource(rested.trim() === '' ? null : `problems ${rested}`, (signal) =>
    loadProblems(rested, kind, signal),
  )
  // They stay until the next are known: nothing flickers while somebody writes.
  const found = useRef<readonly Problem[]>([])
  found.current = problems.data ?? found.current
  const area = useRef<HTMLTextAreaElement>(null)
  const why = whyNotWriter.value
  const register = async (): Promise<void> => {
    isBusy.value = true
    said.value = undefined
    try {
      const done = await send<Registered>('POST', '/api/catalog/register', { content: text.value, resource_type: kind })
      drafts.delete(draft)
      if (done.created) onRegistered(done)
      else said.value = `Unchanged: this is what version ${done.version} says.`
    } catch (error) {
      said.value = error instanceof ApiError ? error.message : String(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <div class="editor">
      <WrittenText area={area} text={text.value} problems={found.current} onWrite={write} />
      {found.current.length > 0 && (
        <Problems problems={found.current} onShow={(problem) => showProblem(area.current!, problem)} />
      )}
      {problems.error !== undefined && <p class="notice stale">{problems.error.message}</p>}
      {said.value !== undefined && (
        <p class="notice stale" role="alert">
          {said.value}
        </p>
      )}
      <div class="buttons">
        <ActButton
          class="primary"
          why={why}
          meaning="Becomes the newest version; older ones stay"
          isBusy={isBusy.value || text.value.trim() === ''}
          onClick={register}
        >
          Register
        </ActButton>
        {text.value !== first && (
          <button
            type="button"
            class="quiet"
            title="Back to the text before it was changed"
            onClick={() => write(first)}
          >
            Discard
          </button>
        )}
        {problems.data?.length === 0 && text.value === rested && <span class="muted">No problems found.</span>}
      </div>
    </div>
  )
}
