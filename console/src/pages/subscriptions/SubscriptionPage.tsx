// One subscription: where it stands in its lifecycle, what waits for it, what happened to it, what it gave up.
import type { ComponentChildren } from 'preact'
import { get } from '../../lib/api'
import { hrefOf } from '../../lib/router'
import { lasted, whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { CopyText } from '../../parts/CopyText'
import { lazy } from '../../parts/lazy'
import { Panel } from '../../parts/Panel'
import { Status } from '../../parts/Status'
import { chosenTab, type Tab, Tabs } from '../../parts/Tabs'
import { Ago, Until } from '../../parts/Time'
import { entryHref } from '../catalog/entry'
import { Actions } from './Actions'
import { DeadMessages } from './DeadMessages'
import { History } from './History'
import { Machine } from './Machine'
import type { SubscriptionDetail } from './subscription'

const EntryDocument = lazy(() => import('../later').then((module) => module.EntryDocument))

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
            {tab === 'document' && <EntryDocument key={subscription.catalog_id} catalogId={subscription.catalog_id} />}
          </>
        )}
      </Panel>
    </div>
  )
}

function Head({ subscription, onDone }: { subscription: SubscriptionDetail; onDone: () => void }) {
  const { path, state, source, mode, driver, runtime, reason, actor, trouble } = subscription
  const starts = subscription.spec.playbook
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
        <Fact name="Starts">
          <a href={entryHref(starts)}>
            <bdi>{starts}</bdi>
          </a>
        </Fact>
        <Fact name="Document">
          <a href={entryHref(path, { version: String(subscription.catalog_version) })}>
            version {subscription.catalog_version}
          </a>
        </Fact>
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
