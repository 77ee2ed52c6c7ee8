// One subscription: where it stands in its lifecycle, what waits for it, what happened to it, what it gave up.
import type { ComponentChildren } from 'preact'
import { get } from '../../lib/api'
import { getJson, type Json } from '../../lib/losslessJson'
import { hrefOf } from '../../lib/router'
import { lasted, whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { CopyText } from '../../parts/CopyText'
import { JsonTree } from '../../parts/JsonTree'
import { Panel } from '../../parts/Panel'
import { Status } from '../../parts/Status'
import { chosenTab, type Tab, Tabs } from '../../parts/Tabs'
import { Ago, Until } from '../../parts/Time'
import { Actions } from './Actions'
import { DeadMessages } from './DeadMessages'
import { History } from './History'
import { Machine } from './Machine'
import type { SubscriptionDetail } from './subscription'

const TABS: readonly Tab[] = [
  { id: 'history', name: 'History' },
  { id: 'dead', name: 'Dead messages' },
  { id: 'document', name: 'Document' },
]

export function SubscriptionPage({ id }: { id: string }) {
  const path = `/api/subscriptions/${encodeURIComponent(id)}?verbose=true`
  const one = useResource(path, (signal) => get<SubscriptionDetail>(path, signal), {
    everyMs: 2_000,
    topics: ['subscriptions'],
  })
  const tab = chosenTab(TABS)
  return (
    <div class="page">
      <a href={hrefOf('/subscriptions')}>‹ Subscriptions</a>
      <Panel resource={one} lines={6}>
        {(subscription) => (
          <>
            <Head subscription={subscription} onDone={one.reload} />
            <Tabs tabs={TABS} label="Parts of the subscription" />
            {tab === 'history' && <History id={id} changed={subscription.updated_at} />}
            {tab === 'dead' && <DeadMessages id={id} />}
            {tab === 'document' && <Document id={id} />}
          </>
        )}
      </Panel>
    </div>
  )
}

function Head({ subscription, onDone }: { subscription: SubscriptionDetail; onDone: () => void }) {
  const { path, state, source, mode, driver, runtime, reason, actor, trouble } = subscription
  return (
    <>
      <div class="run-title">
        <h1>
          <bdi>{path}</bdi>
        </h1>
        <Status status={state} />
        <CopyText text={subscription.subscription_id} />
      </div>
      {trouble !== null && <p class="run-error">{trouble}</p>}
      <Machine state={state} allowed={subscription.allowed_actions} />
      <Actions subscription={subscription} onDone={onDone} />
      <dl class="facts">
        <Fact name="Waiting">
          <Waiting backlog={subscription.backlog} />
        </Fact>
        <Fact name="Source">
          {source}, {mode}
        </Fact>
        <Fact name="Driven by">{driver === 'external' ? 'a runtime of its own' : (runtime ?? 'nobody now')}</Fact>
        <Fact name="Version">@{subscription.catalog_version}</Fact>
        <Fact name="Changed">
          <span>
            <Ago at={subscription.updated_at} />
            {actor === null ? '' : ` by ${actor}`}
          </span>
        </Fact>
        {reason !== null && <Fact name="Reason">{reason}</Fact>}
        {subscription.paused_until !== null && (
          <Fact name="Pause ends">
            <Until at={subscription.paused_until} />
          </Fact>
        )}
      </dl>
    </>
  )
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Waiting({ backlog }: { backlog: SubscriptionDetail['backlog'] }) {
  if ('error' in backlog) return <span class="failed">{backlog.error}</span>
  if (backlog.backlog === 0) return <>nothing</>
  const { pending, ack_pending: held, redelivered, oldest_age_seconds: oldest } = backlog
  const parts = [
    `${whole(pending)} in the source`,
    `${whole(held)} handed out`,
    ...(redelivered === 0 ? [] : [`${whole(redelivered)} again`]),
    `the oldest for ${lasted(oldest * 1_000)}`,
  ]
  return <>{parts.join(', ')}</>
}

/** With every digit: what the document says. */
function Document({ id }: { id: string }) {
  const path = `/api/subscriptions/${encodeURIComponent(id)}?verbose=true`
  const document = useResource(`document of ${id}`, (signal) => getJson(path, signal))
  return <Panel resource={document}>{(value) => <JsonTree value={(value as { spec: Json }).spec} open={4} />}</Panel>
}
