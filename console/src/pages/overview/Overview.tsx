// In five seconds: is it healthy, is it keeping up, where is the trouble.
import { get } from '../../lib/api'
import { hrefOf } from '../../lib/router'
import { isOperator } from '../../lib/session'
import { agoText, clockText } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { Command } from '../../parts/Command'
import { lazy } from '../../parts/lazy'
import { Panel } from '../../parts/Panel'
import { Glyph, Status } from '../../parts/Status'
import { type Problem, type Trouble, troublesOf, troublesOfDoctor } from './attention'
import type { InstanceOverview } from './instance'
import { Tiles } from './Tiles'
import { verdictOf } from './verdict'

const PATH = '/api/overview'
const DOCTOR = '/api/doctor'

const Charts = lazy(() => import('./below').then((module) => module.Charts))
const Lanes = lazy(() => import('./below').then((module) => module.Lanes))

export function Overview() {
  const overview = useResource(PATH, (signal) => get<InstanceOverview>(PATH, signal), {
    everyMs: 2_000,
    topics: ['overview'],
  })
  // What the doctor finds is for operators alone.
  const doctor = useResource(
    isOperator.value ? DOCTOR : null,
    (signal) => get<{ findings: Problem[] }>(DOCTOR, signal),
    { everyMs: 30_000 },
  )
  const found = troublesOfDoctor(doctor.data?.findings ?? [], doctor.error)
  return (
    <div class="page">
      <h1 class="visually-hidden">Overview</h1>
      <Panel resource={overview} lines={6}>
        {(data) => (
          <>
            {overview.error === undefined ? (
              <>
                <p class="verdict">{verdictOf(data)}</p>
                <Attention troubles={[...troublesOf(data), ...found]} />
              </>
            ) : (
              <p class="verdict">No answer since {clockText(overview.at!)}. What is below was so then.</p>
            )}
            <Tiles subscriptions={data.subscriptions} />
            <Charts />
            <Lanes shards={data.shards} drivers={data.drivers} />
            <Pools pools={data.pools} />
            <Checks checks={data.checks} />
            <p class="muted section">
              noetl-cp {data.version}, {data.mode}
            </p>
          </>
        )}
      </Panel>
    </div>
  )
}

function Attention({ troubles }: { troubles: readonly Trouble[] }) {
  if (troubles.length === 0) {
    return (
      <p class="calm">
        <Glyph kind="completed" /> Nothing needs attention.
      </p>
    )
  }
  return (
    <section class="attention" aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      <ul>
        {troubles.map(({ what, place, asked, executions = [] }) => (
          <li key={what}>
            <Glyph kind="stuck" />
            <span>
              {place === undefined ? what : <a href={hrefOf(place, asked)}>{what}</a>}
              {executions.map((id) => (
                <a key={id} class="mono" href={hrefOf(`/executions/${id}`, { tab: 'why' })}>
                  {id}
                </a>
              ))}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Pools({ pools }: { pools: InstanceOverview['pools'] }) {
  if (pools.length === 0) {
    return (
      <p class="section muted">
        No worker pool: commands wait until one comes. Start one with <Command words="worker" />
      </p>
    )
  }
  return (
    <div class="scroll section">
      <table class="wide rows">
        <caption>Worker pools</caption>
        <thead>
          <tr>
            <th>Pool</th>
            <th>State</th>
            <th>Kind</th>
            <th class="number">Capacity</th>
            <th>Last heard</th>
          </tr>
        </thead>
        <tbody>
          {pools.map((pool) => (
            <tr key={`${pool.kind} ${pool.name}`}>
              <td>{pool.name}</td>
              <td>
                {pool.alive ? <Status status="alive" kind="completed" /> : <Status status="silent" kind="stuck" />}
              </td>
              <td>{pool.kind}</td>
              <td class="number" data-name="Capacity">
                {pool.capacity}
              </td>
              <td data-name="Last heard">
                {pool.silent_seconds === null ? '–' : agoText(pool.silent_seconds * 1_000)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Checks({ checks }: { checks: InstanceOverview['checks'] }) {
  return (
    <div class="scroll section">
      <table class="wide rows">
        <caption>Checks</caption>
        <thead>
          <tr>
            <th>Check</th>
            <th>State</th>
            <th class="number">Took</th>
            <th>Detail</th>
          </tr>
        </thead>
        <tbody>
          {checks.map(({ name, ok, required, detail, ms }) => (
            <tr key={name}>
              <td>{name}</td>
              <td>
                {ok ? (
                  <Status status="ok" kind="completed" />
                ) : (
                  <Status status={required ? 'failed' : 'off'} kind={required ? 'failed' : 'cancelled'} />
                )}
              </td>
              <td class="number" data-name="Took">
                {ms} ms
              </td>
              <td>{detail}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
