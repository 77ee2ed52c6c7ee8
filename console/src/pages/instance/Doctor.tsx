// What is wrong with the instance and how to mend it. It never mends anything itself.
import { get } from '../../lib/api'
import { useResource } from '../../lib/useResource'
import { CopyText } from '../../parts/CopyText'
import { Panel } from '../../parts/Panel'
import { SameAct } from '../../parts/SameAct'
import { Status } from '../../parts/Status'
import { Ago } from '../../parts/Time'

interface Findings {
  checked_at: string
  problems: number
  findings: { level: 'problem' | 'advice'; where: string; finding: string; fix: string }[]
}

const PATH = '/api/doctor'

export function Doctor() {
  const doctor = useResource(PATH, (signal) => get<Findings>(PATH, signal), { everyMs: 30_000 })
  return (
    <div class="page">
      <h1>Doctor</h1>
      <div class="buttons section">
        <button type="button" onClick={doctor.reload} disabled={doctor.isLoading}>
          {doctor.isLoading ? 'Looking…' : 'Look again'}
        </button>
        {doctor.data !== undefined && (
          <span class="muted">
            checked <Ago at={doctor.data.checked_at} />
          </span>
        )}
      </div>
      <Panel
        resource={doctor}
        isEmpty={({ findings }) => findings.length === 0}
        empty={<p>Nothing is wrong, and there is no advice.</p>}
      >
        {({ findings }) => (
          <div class="scroll">
            <table class="wide told">
              <thead>
                <tr>
                  <th>Level</th>
                  <th>Where</th>
                  <th>What</th>
                  <th>What to do</th>
                </tr>
              </thead>
              <tbody>
                {findings.map(({ level, where, finding, fix }) => (
                  <tr key={`${where} ${finding}`}>
                    <td class="name">
                      <Status status={level} kind={level === 'problem' ? 'stuck' : 'waiting'} />
                    </td>
                    <td class="name">{where}</td>
                    <td>{finding}</td>
                    <td>
                      <CopyText text={fix} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Panel>
      <SameAct path={PATH} cli={['doctor']} />
    </div>
  )
}
