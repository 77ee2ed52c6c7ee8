// What would start this entry: playbooks that call it, subscriptions, its schedule, failures.
import { apiPath, get } from '../../lib/api'
import { hrefOf } from '../../lib/router'
import { useResource } from '../../lib/useResource'
import { Panel } from '../../parts/Panel'
import { Status } from '../../parts/Status'
import { Until } from '../../parts/Time'
import { entryHref } from './entry'

interface User {
  kind: 'playbook' | 'subscription'
  path: string
  version: number
  catalog_id: string
  subscription_id: string | null
  state: string | null
  places: readonly { pointer: string; step: string | null }[]
}

interface UsedBy {
  users: User[]
  schedule: { cron: string; timezone: string; next_at: string | null; paused: boolean } | null
  on_failure_of_all: boolean
  is_complete: boolean
}

export function UsedByTab({ path }: { path: string }) {
  const address = apiPath('/api/catalog/used_by', { path })
  const used = useResource(address, (signal) => get<UsedBy>(address, signal))
  return (
    <section class="section">
      <Panel
        resource={used}
        isEmpty={({ users, schedule, on_failure_of_all }) =>
          users.length === 0 && schedule === null && !on_failure_of_all
        }
        empty={
          <>
            <h2>Nothing starts this by itself</h2>
            <p>
              No step of a playbook names it, no subscription, no <code>on_failure</code>, and it has no schedule. What
              a template makes of a path is known only when it runs.
            </p>
          </>
        }
      >
        {(found) => (
          <>
            <Others {...found} />
            {found.users.length > 0 && <Users users={found.users} />}
            {!found.is_complete && (
              <p class="notice">More documents mention this path than were looked at: there may be more.</p>
            )}
            {found.users.length > 0 && (
              <p class="muted">
                Playbooks in their newest version, subscriptions in the one they run. What a template makes of a path is
                known only when it runs.
              </p>
            )}
          </>
        )}
      </Panel>
    </section>
  )
}

function Others({ schedule, on_failure_of_all: isFallback }: UsedBy) {
  if (schedule === null && !isFallback) return null
  return (
    <ul class="used">
      {schedule !== null && (
        <li>
          Its schedule <code>{schedule.cron}</code> ({schedule.timezone}){' '}
          {schedule.paused ? (
            <Status status="PAUSED" />
          ) : (
            schedule.next_at !== null && (
              <>
                next <Until at={schedule.next_at} />
              </>
            )
          )}
        </li>
      )}
      {isFallback && (
        <li>
          Every execution that fails, where the playbook does not say otherwise (<code>NOETL_CP_ON_FAILURE</code>)
        </li>
      )}
    </ul>
  )
}

function Users({ users }: { users: readonly User[] }) {
  return (
    <div class="scroll">
      <table class="wide rows">
        <thead>
          <tr>
            <th>Path</th>
            <th>Kind</th>
            <th>State</th>
            <th>Where</th>
          </tr>
        </thead>
        <tbody>
          {users.map((user) => (
            <tr key={user.catalog_id}>
              <td class="ellipsis main">
                <a href={hrefOfUser(user)} title={user.path}>
                  <bdi>{user.path}</bdi>
                </a>
                <span class="muted"> @{user.version}</span>
              </td>
              <td>{user.kind}</td>
              <td>
                {user.state !== null && <Status status={user.state} />}
                {user.kind === 'subscription' && user.state === null && <span class="muted">not registered</span>}
              </td>
              <td class="prose">
                {user.places
                  .map(({ step, pointer }) => (step === null ? placeName(pointer) : `step ${step}`))
                  .join(', ')}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function hrefOfUser({ kind, path, version, subscription_id: id }: User): string {
  if (id !== null) return hrefOf(`/subscriptions/${id}`)
  return entryHref(path, kind === 'playbook' ? { tab: 'graph' } : { version: String(version) })
}

function placeName(pointer: string): string {
  if (pointer === '/metadata/on_failure') return 'when it has failed'
  if (pointer === '/spec/dispatch/playbook') return 'each message'
  return pointer.startsWith('/spec/headers/') ? 'messages whose header asks for it' : pointer
}
