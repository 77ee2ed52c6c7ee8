// Every subscription with its state; one of them in full.
import { Fragment } from 'preact'
import { apiPath, getAnswer } from '../../lib/api'
import { ask, hrefOf, path as place, query } from '../../lib/router'
import { useResource } from '../../lib/useResource'
import { Command } from '../../parts/Command'
import { CopyButton } from '../../parts/CopyText'
import { Pages } from '../../parts/Pages'
import { Panel } from '../../parts/Panel'
import { SameAct } from '../../parts/SameAct'
import { Status, StatusChip } from '../../parts/Status'
import { Ago } from '../../parts/Time'
import { WhatFailed } from '../../parts/WhatFailed'
import { SubscriptionPage } from './SubscriptionPage'
import { STATES, type Subscription } from './subscription'

const PAGE = 200

export function Subscriptions() {
  const id = /^\/subscriptions\/(.+)$/.exec(place.value)?.[1]
  return id === undefined ? <List /> : <SubscriptionPage key={id} id={decodeURIComponent(id)} />
}

function List() {
  const [state, cursor, text] = ['state', 'cursor', 'path'].map((name) => query.value.get(name) ?? undefined)
  const path = apiPath('/api/subscriptions', { state, cursor, path: text, verbose: true, limit: PAGE })
  const list = useResource(path, (signal) => getAnswer<{ subscriptions: Subscription[] }>(path, signal), {
    everyMs: 3_000,
    topics: ['subscriptions'],
  })
  const next = list.data?.headers.get('x-noetl-next-cursor') ?? undefined
  return (
    <div class="page">
      <h1>Subscriptions</h1>
      <search class="filters">
        {STATES.map((one) => (
          <StatusChip
            key={one}
            status={one}
            isOn={state === one}
            onClick={() => ask({ state: state === one ? undefined : one, cursor: undefined })}
          />
        ))}
        <input
          key={text ?? ''}
          type="search"
          aria-label="Path, * at the end"
          placeholder="Path, * at the end"
          defaultValue={text ?? ''}
          onChange={(event) => ask({ path: event.currentTarget.value.trim(), cursor: undefined })}
        />
      </search>
      <Panel
        resource={list}
        lines={6}
        isEmpty={({ body }) => body.subscriptions.length === 0}
        empty={state === undefined && text === undefined ? <NoneYet /> : <p>No subscription matches these filters.</p>}
      >
        {({ body }) => <Rows rows={body.subscriptions} />}
      </Panel>
      <Pages cursor={cursor} next={next} />
      <SameAct
        path={path}
        cli={[
          'subscription',
          'list',
          ...(state === undefined ? [] : ['--state', state]),
          ...(text === undefined ? [] : ['--path', text]),
        ]}
      />
    </div>
  )
}

function Rows({ rows }: { rows: readonly Subscription[] }) {
  return (
    <div class="scroll">
      <table class="wide rows">
        <thead>
          <tr>
            <th>State</th>
            <th>Path</th>
            <th>Id</th>
            <th>Source</th>
            <th>Driven by</th>
            <th>Changed</th>
            <th>Reason</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Fragment key={row.subscription_id}>
              <tr>
                <td>
                  <Status status={row.state} />
                </td>
                <td class="ellipsis main half">
                  <a href={hrefOf(`/subscriptions/${row.subscription_id}`)}>
                    <bdi>{row.path}</bdi>
                  </a>
                  <span class="muted"> @{row.catalog_version}</span>
                </td>
                <td>
                  <code class="whole">{row.subscription_id}</code>
                </td>
                <td>
                  {row.source} <span class="muted">{row.mode}</span>
                </td>
                <td class="ellipsis narrow" title={row.runtime ?? undefined}>
                  {row.driver === 'external' ? 'a runtime of its own' : (row.runtime ?? <span class="muted">–</span>)}
                </td>
                <td>
                  <Ago at={row.updated_at} />
                </td>
                <td class="ellipsis main half" title={row.reason ?? undefined}>
                  {row.reason}
                </td>
              </tr>
              {row.trouble !== null && <WhatFailed text={row.trouble} columns={7} />}
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const FIRST = `apiVersion: noetl.io/v2
kind: Subscription
metadata: { name: orders, path: shop/orders }
spec:
  source: nats
  subject: orders.created
  mode: pull
  dispatch: { playbook: shop/handle-order }`

function NoneYet() {
  return (
    <>
      <h2>No subscriptions yet</h2>
      <p>Each message of a stream, or each call of a webhook, starts one execution. A first one:</p>
      <pre>{FIRST}</pre>
      <CopyButton text={() => `${FIRST}\n`} name="the document">
        {' '}
        Copy it
      </CopyButton>
      <p>
        Put it into a file, then <Command words="catalog register orders.yaml" /> and{' '}
        <Command words="subscription register shop/orders" />
      </p>
    </>
  )
}
