// The places on the left; on a narrow screen a row at the bottom.
import { hrefOf } from '../lib/router'
import { PLACES } from './places'

export function Navigation({ at }: { at: string | undefined }) {
  return (
    <nav class="navigation" aria-label="Places">
      <ul>
        {PLACES.map(({ name, path, icon, key }) => (
          <li key={path}>
            <a
              href={hrefOf(path)}
              aria-current={path === at ? 'page' : undefined}
              title={key === undefined ? name : `${name} (g ${key})`}
            >
              <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
                <path d={icon} fill="currentColor" />
              </svg>
              <span>{name}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}
