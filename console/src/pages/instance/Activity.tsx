// What people did: who, what, why, and how it ended.
import { Fragment } from 'preact'
import { apiPath, get } from '../../lib/api'
import { ask, query } from '../../lib/router'
import { clockText, millisOf } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { Pages } from '../../parts/Pages'
import { Panel } from '../../parts/Panel'
import { SameAct } from '../../parts/SameAct'
import { Status, type StatusKind } from '../../parts/Status'
import { Ago } from '../../parts/Time'
import { WhatFailed } from '../../parts/WhatFailed'
import { About, type Act } from './About'

interface Entry extends Act {
  id: string
  at: string
  actor: string
  role: string
  via: string
  reason: string | null
  outcome: 'intent' | 'done' | 'refused' | 'failed'
  error: string | null
}

const KINDS: Readonly<Record<Entry['outcome'], StatusKind>> = {
  done: 'completed',
  refused: 'cancelled',
  failed: 'failed',
  intent: 'waiting',
}

const HOUR_MS = 3_600_000
const SPANS = [
  ['last hour', HOUR_MS],
  ['last 24 hours', 24 * HOUR_MS],
  ['last 7 days', 168 * HOUR_MS],
] as const

const FILTERS = [
  ['actor', 'Who'],
  ['action', 'What, such as outbox'],
  ['target', 'Id or path it is about'],
] as const

export function Activity() {
  const asked = Object.fromEntries(
    [...FILTERS.map(([name]) => name), 'since', 'cursor'].map((name) => [name, query.value.get(name) ?? undefined]),
  )
  const path = apiPath('/api/activity', asked)
  const activity = useResource(path, (signal) => get<{ activity: Entry[]; next_cursor: string | null }>(path, signal), {
    everyMs: 5_000,
    topics: ['activity'],
  })
  const isFiltered = Object.values(asked).some((value) => value !== undefined)
  const next = activity.data?.next_cursor ?? undefined
  return (
    <div class="page">
      <h1>Activity</h1>
      <search class="filters">
        {FILTERS.map(([name, label]) => (
          <input
            key={`${name} ${asked[name] ?? ''}`}
            type="search"
            aria-label={label}
            placeholder={label}
            defaultValue={asked[name] ?? ''}
            onChange={(event) => ask({ [name]: event.currentTarget.value.trim(), cursor: undefined })}
          />
        ))}
        <Since since={asked['since']} />
      </search>
      <Panel
        resource={activity}
        lines={8}
        isEmpty={(data) => data.activity.length === 0}
        empty={
          <p>
            Nobody has done anything {isFiltered ? 'that matches' : 'yet'}: what is done here and by operators is
            written down.
          </p>
        }
      >
        {(data) => <Entries entries={data.activity} />}
      </Panel>
      <Pages cursor={asked['cursor']} next={next} />
      <SameAct path={path} {...(asked['cursor'] === undefined ? { cli: commandOf(asked) } : {})} />
    </div>
  )
}

function commandOf(asked: Readonly<Record<string, string | undefined>>): string[] {
  return [
    'activity',
    ...Object.entries(asked).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value])),
  ]
}

/** The address has the moment, so that a link shows the same tomorrow. */
function Since({ since }: { since: string | undefined }) {
  const take = (moment: string | undefined): void => ask({ since: moment, cursor: undefined })
  if (since !== undefined) {
    const at = millisOf(since)
    return (
      <button type="button" class="chip" aria-pressed="true" onClick={() => take(undefined)}>
        since {Number.isNaN(at) ? since : clockText(at)} ✕
      </button>
    )
  }
  return (
    <>
      {SPANS.map(([name, ms]) => (
        <button
          key={name}
          type="button"
          class="chip"
          aria-pressed="false"
          onClick={() => take(new Date(Date.now() - ms).toISOString())}
        >
          {name}
        </button>
      ))}
    </>
  )
}

function Entries({ entries }: { entries: readonly Entry[] }) {
  return (
    <div class="scroll">
      <table class="wide rows activity">
        <thead>
          <tr>
            <th>When</th>
            <th>Who</th>
            <th>What</th>
            <th>About</th>
            <th>Reason</th>
            <th>Outcome</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <Fragment key={entry.id}>
              <tr>
                <td>
                  <Ago at={entry.at} />
                </td>
                <td class="ellipsis step" title={`${entry.actor} ${entry.role}, ${entry.via}`}>
                  {entry.actor}{' '}
                  <span class="muted">
                    {entry.role}, {entry.via}
                  </span>
                </td>
                <td title={JSON.stringify(entry.request)}>{entry.action}</td>
                <td class="ellipsis about" title={entry.target_id ?? undefined}>
                  <About act={entry} />
                </td>
                <td class="ellipsis main" title={entry.reason ?? undefined}>
                  {entry.reason}
                </td>
                <td>
                  <Status status={entry.outcome === 'intent' ? 'unknown' : entry.outcome} kind={KINDS[entry.outcome]} />
                </td>
              </tr>
              {entry.error !== null && <WhatFailed text={entry.error} columns={6} />}
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  )
}
