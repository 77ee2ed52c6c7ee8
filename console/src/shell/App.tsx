// The frame around every screen: navigation, top bar, help, and the keys that hold everywhere.
import { useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { listenToKeys, useKeys } from '../lib/keys'
import { live } from '../lib/live'
import { followLink, go, hrefOf, isReadable, path } from '../lib/router'
import { moveAlongRows } from '../lib/rowKeys'
import { nextTheme } from '../lib/theme'
import { useCopy } from '../parts/CopyText'
import { Tip } from '../parts/Tip'
import { Help } from './Help'
import { LoginTrouble } from './LoginTrouble'
import { Navigation } from './Navigation'
import { PLACES, placeOf } from './places'
import { TopBar } from './TopBar'

listenToKeys()

const LINK_WORDS = { copied: 'Link copied', refused: 'The link could not be copied' } as const

export function App() {
  const isHelpOpen = useSignal(false)
  const [copied, copyLink] = useCopy(() => window.location.href)
  const places = Object.fromEntries(
    PLACES.flatMap(({ key, path: place }) => (key === undefined ? [] : [[`g ${key}`, () => go(hrefOf(place))]])),
  )
  useKeys({
    ...places,
    '?': () => {
      isHelpOpen.value = true
    },
    '/': () => document.querySelector<HTMLInputElement>('#search')?.focus(),
    '.': () => {
      live.value = !live.value
    },
    j: () => moveAlongRows(1),
    k: () => moveAlongRows(-1),
    t: nextTheme,
    y: copyLink,
  })
  const found = isReadable(path.value) ? placeOf(path.value) : undefined
  useLayoutEffect(() => {
    document.title = found === undefined ? 'noetl-cp' : `${found.name} · noetl-cp`
  }, [found?.name])
  const Page = found?.page
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: links are followed by the keyboard as clicks, too
    // biome-ignore lint/a11y/noStaticElementInteractions: it only watches the links inside
    <div class="app" onClick={followLink}>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <TopBar />
      <Navigation at={found?.path} />
      <main id="main" tabIndex={-1}>
        <LoginTrouble />
        {Page === undefined ? <NoSuchPlace /> : <Page />}
      </main>
      <p class="note" role="status">
        {copied !== undefined && LINK_WORDS[copied]}
      </p>
      <Tip />
      {isHelpOpen.value && (
        <Help
          onClose={() => {
            isHelpOpen.value = false
          }}
        />
      )}
    </div>
  )
}

function NoSuchPlace() {
  return (
    <div class="page">
      <div class="refusal">
        <h2>There is no such page</h2>
        <p class="mono">{path.value}</p>
        {!isReadable(path.value) && (
          <p>
            The address holds a % that is not followed by two digits of a letter: it was cut off, or copied in part.
          </p>
        )}
        <a class="button" href={hrefOf('/')}>
          To the overview
        </a>
      </div>
    </div>
  )
}
