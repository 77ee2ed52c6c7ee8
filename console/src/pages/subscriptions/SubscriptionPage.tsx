// One subscription: where it stands in its lifecycle, what waits for it, what happened to it, what it gave up.
import { get } from '../../lib/api'
import { hrefOf } from '../../lib/router'
import { useResource } from '../../lib/useResource'
import { CopyText } from '../../parts/CopyText'
import { Fact } from '../../parts/Fact'
import { Panel } from '../../parts/Panel'
import { Status } from '../../parts/Status'
import { chosenTab, type Tab, Tabs } from '../../parts/Tabs'
import { Ago, Until } from '../../parts/Time'
import { EntryDocument } from '../catalog/EntryDocument'
import { entryHref } from '../catalog/entry'
import { Actions } from './Actions'
import { DeadMessages } from './DeadMessages'
import { DrivenBy } from './DrivenBy'
import { History } from './History'
import { Machine } from './Machine'
import type { SubscriptionDetail } from './subscription'
import { Waiting } from './Waiting'

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
            {tab === 'history' && <History id={id} version={subscription.version} />}
            {tab === 'dead' && <DeadMessages id={id} />}
            {tab === 'document' && <EntryDocument key={subscription.catalog_id} catalogId={subscription.catalog_id} />}
          </>
        )}
      </Panel>
    </div>
  )
}

function Head({ subscription, onDone }: { subscription: SubscriptionDetail; onDone: () => void }) {
  const { path, state, source, mode, reason, actor, trouble } = subscription
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
          <Waiting subscription={subscription} />
        </Fact>
        <Fact name="Source">
          {source}, {mode}
        </Fact>
        <Fact name="Driven by">
          <DrivenBy subscription={subscription} />
        </Fact>
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
        <Fact name="State changed">
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
