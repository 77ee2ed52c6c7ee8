// The bar above every screen: health in a word, the search box, and the switches of the reader.
import { useState } from 'preact/hooks'
import { live, wantedTopics } from '../lib/live'
import { go, hrefOf } from '../lib/router'
import { session } from '../lib/session'
import { isStreaming } from '../lib/streaming'
import { nextTheme, zone } from '../lib/theme'
import { wantedBy } from '../pages/executions/searchText'
import { CopyButton } from '../parts/CopyText'
import { Health } from './Health'
import { Who } from './Who'

export function TopBar() {
  return (
    <header class="topbar">
      <a class="brand" href={hrefOf('/')}>
        noetl-cp
      </a>
      <Instance />
      <Health />
      <Search />
      <span class="switches">
        <CopyButton text={() => window.location.href} name="link" title="Copy the link to this screen (y)">
          <span>Copy link</span>
        </CopyButton>
        <button
          type="button"
          class="quiet"
          aria-pressed={live.value}
          title="Follow what happens (.)"
          onClick={() => {
            live.value = !live.value
          }}
        >
          <i class={live.value ? 'dot running' : 'dot cancelled'} />
          {live.value ? (isStreaming.value || wantedTopics.value === '' ? 'live' : 'polling') : 'paused'}
        </button>
        <button
          type="button"
          class="quiet"
          title="Time zone"
          onClick={() => {
            zone.value = zone.value === 'utc' ? 'local' : 'utc'
          }}
        >
          {zone.value === 'utc' ? 'UTC' : 'local time'}
        </button>
        <button type="button" class="quiet" title="Light or dark (t)" aria-label="Light or dark" onClick={nextTheme}>
          ◐
        </button>
        <Who />
      </span>
    </header>
  )
}

/** Which of several one is looking at: the address that it is open under, and whether it has servers of its own. */
function Instance() {
  const mode = session.value?.mode
  return (
    <span class="instance muted" title="The instance that this page is of">
      {window.location.host}
      {mode !== undefined && ` · ${mode}`}
    </span>
  )
}

const HOW =
  'An id opens the execution. Anything else is looked for in path, step, error and names of workers; step:, path:, worker:, status:, parent:, since: and until: narrow it, as does any label, such as team:payments.'

/** An id opens the execution; anything else is looked for in the list. */
function Search() {
  const [text, setText] = useState('')
  return (
    <form
      class="search"
      onSubmit={(event) => {
        event.preventDefault()
        const wanted = text.trim()
        if (wanted === '') return
        setText('')
        go(
          /^\d{1,19}$/.test(wanted)
            ? hrefOf(`/executions/${wanted}`)
            : hrefOf('/executions', wantedBy(wanted, Date.now())),
        )
      }}
    >
      <input
        id="search"
        type="search"
        aria-label="Search"
        placeholder="Id, text, step:name, worker:name, label:value"
        title={HOW}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur()
        }}
      />
      <kbd title="The key / leads here">/</kbd>
    </form>
  )
}
