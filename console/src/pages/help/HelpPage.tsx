// Which versions run here, what the API has, and the keys.
import { get } from '../../lib/api'
import { hrefOf } from '../../lib/router'
import { useResource } from '../../lib/useResource'
import { Fact } from '../../parts/Fact'
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
            <Fact name="noetl-cp">
              {version}, {mode}
            </Fact>
            {schema.map(({ database, applied, pending }) => (
              <Fact key={database} name={`Schema of ${database}`}>
                {applied} migrations{pending > 0 && <b class="failed">, {pending} waiting: noetl-cp migrate</b>}
              </Fact>
            ))}
            <Fact name="What is wrong here?">
              <a href={hrefOf('/doctor')}>Doctor</a>
            </Fact>
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
