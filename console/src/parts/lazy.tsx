// A page that is loaded when it is first opened, so that the first one stays small. Without an answer it is asked for again, by
// itself and by a button.
import type { ComponentType } from 'preact'
import { useState } from 'preact/hooks'
import { ApiError } from '../lib/api'
import { loadPart } from '../lib/loadPart'
import { useResource } from '../lib/useResource'
import { Panel } from './Panel'

export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let found: ComponentType<P> | undefined
  return function Lazy(props: P) {
    const [isMissing, setMissing] = useState(false)
    const part = useResource(found === undefined ? 'a part of this page' : null, async () => {
      try {
        found = await loadPart(load)
      } catch (error) {
        if (error instanceof ApiError) throw error
        // The daemon answers and does not have it: no second try would find it.
        reportError(error)
        setMissing(true)
      }
      return found
    })
    const Page = found
    if (Page !== undefined) return <Page {...props} />
    return isMissing ? <Missing /> : <Panel resource={{ ...part, data: undefined }}>{() => null}</Panel>
  }
}

function Missing() {
  return (
    <div class="refusal" role="alert">
      <h2>This part could not be loaded</h2>
      <p>The daemon is of another version than this page, or went away just now.</p>
      <button type="button" onClick={() => window.location.reload()}>
        Load the page again
      </button>
    </div>
  )
}
