// Which versions run here, what the API has, and the keys.
import { get } from '../../lib/api'
import { hrefOf } from '../../lib/router'
import { useResource } from '../../lib/useResource'
import { Panel } from '../../parts/Panel'
import { KeyTable } from '../../shell/KeyTable'
import { ApiReference } from './ApiReference'
import '../../styles/help.css'

interface Versions {
  version: string
  mode: string
  schema: { database: string; applied: number; pending: number }[]
}

const PATH = '/api/overview'

export function HelpPage() {
  const versions = useResource(PATH, (signal) => get<Versions>(PATH, signal))
  return (
    <div class="page">
      <h1>Help</h1>
      <Panel resource={versions} lines={2}>
        {({ version, mode, schema }) => (
          <dl class="facts">
            <div>
              <dt>noetl-cp</dt>
              <dd>
                {version}, {mode}
              </dd>
            </div>
            {schema.map(({ database, applied, pending }) => (
              <div key={database}>
                <dt>Schema of {database}</dt>
                <dd>
                  {applied} migrations{pending > 0 && <b class="failed">, {pending} waiting: noetl-cp migrate</b>}
                </dd>
              </div>
            ))}
            <div>
              <dt>What is wrong here?</dt>
              <dd>
                <a href={hrefOf('/doctor')}>Doctor</a>
              </dd>
            </div>
          </dl>
        )}
      </Panel>
      <section class="section">
        <h2>Keys</h2>
        <KeyTable />
      </section>
      <section class="section">
        <h2>The API</h2>
        <ApiReference />
      </section>
    </div>
  )
}
