// A page that is loaded when it is first opened, so that the first one stays small.
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'

export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let found: ComponentType<P> | undefined
  return function Lazy(props: P) {
    const [state, setState] = useState<'loading' | 'there' | 'missing'>(found === undefined ? 'loading' : 'there')
    useEffect(() => {
      if (found !== undefined) return
      load().then(
        (loaded) => {
          found = loaded
          setState('there')
        },
        (error: unknown) => {
          reportError(error)
          setState('missing')
        },
      )
    }, [])
    if (state === 'missing') return <Missing />
    const Page = found
    return Page === undefined ? <div class="skeleton" aria-busy="true" /> : <Page {...props} />
  }
}

function Missing() {
  return (
    <div class="refusal" role="alert">
      <h2>This part could not be loaded</h2>
      <p>The daemon does not answer, or is of another version than this page.</p>
      <button type="button" onClick={() => window.location.reload()}>
        Load the page again
      </button>
    </div>
  )
}
