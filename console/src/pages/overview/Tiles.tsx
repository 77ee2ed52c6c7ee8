// How many there are, each number a link to the list of them.
import { get } from '../../lib/api'
import { hrefOf } from '../../lib/router'
import { whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { Command } from '../../parts/Command'
import { Glyph, kindOf } from '../../parts/Status'

interface Stats {
  total_executions: number
  running_executions: number
  completed_executions: number
  failed_executions: number
  cancelled_executions: number
  /** Statuses of so many that they are estimated. */
  estimated: string[]
}

const PATH = '/api/dashboard/stats'

export function Tiles({ subscriptions }: { subscriptions: Record<string, number> }) {
  const { data, error } = useResource(PATH, (signal) => get<Stats>(PATH, signal), {
    everyMs: 5_000,
    topics: ['executions'],
  })
  // Where nothing is answered the line above says so.
  const refusal = error !== undefined && error.status !== 0 && (
    <p class="notice stale">The executions could not be counted: {error.message}</p>
  )
  if (data === undefined) return refusal || <ul class="tiles" />
  if (data.total_executions === 0) {
    return (
      <p class="section">
        No executions yet: <Command words="demo" /> makes some.
      </p>
    )
  }
  const executions = [
    ['RUNNING', data.running_executions],
    ['COMPLETED', data.completed_executions],
    ['FAILED', data.failed_executions],
    ['CANCELLED', data.cancelled_executions],
  ] as const
  return (
    <>
      {refusal}
      <ul class="tiles">
        {executions.map(([status, value]) => (
          <Tile
            key={status}
            name={status.toLowerCase()}
            value={value}
            isAbout={data.estimated.includes(status)}
            href={hrefOf('/executions', { status })}
          />
        ))}
        <Tile
          name="active subscriptions"
          kind="active"
          value={subscriptions['ACTIVE'] ?? 0}
          href={hrefOf('/subscriptions', { state: 'ACTIVE' })}
        />
      </ul>
    </>
  )
}

interface TileProps {
  name: string
  kind?: string
  value: number
  isAbout?: boolean
  href: string
}

function Tile({ name, kind = name, value, isAbout = false, href }: TileProps) {
  return (
    <li>
      <a href={href}>
        <b>
          {isAbout && <small>about </small>}
          {whole(value)}
        </b>
        <span>
          <Glyph kind={kindOf(kind)} /> {name}
        </span>
      </a>
    </li>
  )
}
