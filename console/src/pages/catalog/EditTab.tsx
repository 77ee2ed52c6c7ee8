// A document being written: what is wrong with it is said while it is written, and it becomes a version when told so.
import { useSignal } from '@preact/signals'
import { ApiError, send } from '../../lib/api'
import { ask } from '../../lib/router'
import { whyNotWriter } from '../../lib/session'
import { useResource } from '../../lib/useResource'
import { useRested } from '../../lib/useRested'
import { type Entry, loadProblems } from './entry'
import { Problems } from './Problems'

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
      first={entry.content ?? ''}
      kind={entry.kind}
      onRegistered={() => {
        ask({ version: undefined, tab: undefined })
        onRegistered()
      }}
    />
  )
}

interface EditorProps {
  first: string
  kind?: string
  onRegistered: (done: Registered) => void
}

export function Editor({ first, kind, onRegistered }: EditorProps) {
  const text = useSignal(first)
  const said = useSignal<string | undefined>(undefined)
  const isBusy = useSignal(false)
  const rested = useRested(text.value, WRITING_MS)
  const problems = useResource(rested.trim() === '' ? null : `problems ${rested}`, () => loadProblems(rested, kind))
  const why = whyNotWriter.value
  const register = async (): Promise<void> => {
    isBusy.value = true
    said.value = undefined
    try {
      const done = await send<Registered>('POST', '/api/catalog/register', { content: text.value, resource_type: kind })
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
      <textarea
        class="mono"
        aria-label="Document"
        spellcheck={false}
        rows={Math.min(40, Math.max(14, text.value.split('\n').length + 1))}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value
        }}
      />
      {problems.data !== undefined && problems.data.length > 0 && <Problems problems={problems.data} />}
      {problems.error !== undefined && <p class="notice stale">{problems.error.message}</p>}
      {said.value !== undefined && (
        <p class="notice stale" role="alert">
          {said.value}
        </p>
      )}
      <div class="buttons">
        <button
          type="button"
          class="primary"
          disabled={why !== undefined || isBusy.value || text.value.trim() === ''}
          title={why ?? 'Becomes the newest version; older ones stay'}
          onClick={register}
        >
          Register
        </button>
        {problems.data?.length === 0 && text.value === rested && <span class="muted">No problems found.</span>}
      </div>
    </div>
  )
}
