// In five seconds: is it healthy, is it keeping up, where is the trouble.
import { useResource } from '../../lib/useResource'
import { Panel } from '../../parts/Panel'
import { Status } from '../../parts/Status'
import { type Readiness, readReadiness } from '../../shell/Health'

export function Overview() {
  const readiness = useResource('/readyz', readReadiness, { everyMs: 5_000 })
  return (
    <div class="page">
      <h1 class="visually-hidden">Overview</h1>
      <Panel resource={readiness} lines={6}>
        {(data) => (
          <>
            <p class="verdict">{verdictOf(data)}</p>
            <Checks data={data} />
          </>
        )}
      </Panel>
    </div>
  )
}

function verdictOf({ status, checks }: Readiness): string {
  const failing = Object.entries(checks).filter(([, check]) => !check.ok && check.required)
  if (status === 'ready') return 'Ready.'
  return `Not ready: ${failing.map(([name, { detail }]) => `${name}: ${detail ?? 'does not answer'}`).join('; ')}`
}

function Checks({ data }: { data: Readiness }) {
  return (
    <table>
      <caption>Checks</caption>
      <thead>
        <tr>
          <th>Check</th>
          <th>State</th>
          <th>Detail</th>
        </tr>
      </thead>
      <tbody>
        {Object.entries(data.checks).map(([name, { ok, required, detail }]) => (
          <tr key={name}>
            <td>{name}</td>
            <td>
              {ok ? (
                <Status status="ok" kind="completed" />
              ) : (
                <Status status={required ? 'failed' : 'off'} kind={required ? 'failed' : 'cancelled'} />
              )}
            </td>
            <td>{detail}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
