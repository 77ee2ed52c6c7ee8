// The places on the left, those about the instance itself behind a cog; on a narrow screen a row at the bottom.
import { hrefOf } from '../lib/router'
import { PLACES, type Place } from './places'

const COG =
  'M7 1h2l.4 1.8 1.3.5 1.6-1 1.4 1.4-1 1.6.5 1.3L15 7v2l-1.8.4-.5 1.3 1 1.6-1.4 1.4-1.6-1-1.3.5L9 15H7l-.4-1.8-1.3-.5-1.6 1-1.4-1.4 1-1.6-.5-1.3L1 9V7l1.8-.4.5-1.3-1-1.6 1.4-1.4 1.6 1 1.3-.5zm1 4.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z'

export function Navigation({ at }: { at: string | undefined }) {
  const behind = PLACES.filter(({ isBehindCog }) => isBehindCog === true)
  return (
    <nav class="navigation" aria-label="Places">
      <PlaceList places={PLACES.filter(({ isBehindCog }) => isBehindCog !== true)} at={at} />
      <details open={behind.some(({ path }) => path === at)}>
        <summary title="The instance">
          <Icon shape={COG} />
          <span>Instance</span>
        </summary>
        <PlaceList places={behind} at={at} />
      </details>
    </nav>
  )
}

function PlaceList({ places, at }: { places: readonly Place[]; at: string | undefined }) {
  return (
    <ul>
      {places.map(({ name, path, icon, key }) => (
        <li key={path}>
          <a
            href={hrefOf(path)}
            aria-current={path === at ? 'page' : undefined}
            title={key === undefined ? name : `${name} (g ${key})`}
          >
            <Icon shape={icon} />
            <span>{name}</span>
          </a>
        </li>
      ))}
    </ul>
  )
}

function Icon({ shape }: { shape: string }) {
  return (
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={shape} fill="currentColor" fill-rule="evenodd" />
    </svg>
  )
}
