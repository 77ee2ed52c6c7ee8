// The subscription that was made of an entry, and the way to one: a document that is only on file delivers nothing.
import { apiPath, get } from '../../lib/api'
import { go, hrefOf } from '../../lib/router'
import { session } from '../../lib/session'
import { type Resource, useResource } from '../../lib/useResource'
import { Act } from '../../parts/Act'
import type { Order } from '../../parts/SameAct'
import { Status } from '../../parts/Status'
import type { EntryHead } from './entry'

interface Made {
  subscription_id: string
  path: string
  state: string
  catalog_version: number
}

/** Null: the entry is none that a subscription is made of. */
export function useMade(path: string | null): Resource<Made | undefined> {
  const address = apiPath('/api/subscriptions', { path: path ?? undefined, order: 'newest', verbose: true })
  return useResource(path === null ? null : address, async (signal) => {
    const { subscriptions } = await get<{ subscriptions: Made[] }>(address, signal)
    return subscriptions.find((one) => one.path === path)
  })
}

export function MadeOf({ made }: { made: Made | undefined }) {
  if (made === undefined) return <>none yet: it delivers nothing</>
  const { subscription_id: id, state, catalog_version: version } = made
  return (
    <>
      <a href={hrefOf(`/subscriptions/${id}`)}>{id}</a> <Status status={state} /> @{version}
    </>
  )
}

/** The newest version is what is registered. */
export function RegisterSubscription({ entry, made }: { entry: EntryHead; made: Made | undefined }) {
  const isLive = made !== undefined && made.state !== 'DEACTIVATED'
  if (isLive && made.catalog_version >= entry.version) return null
  return (
    <Act<Made>
      name={isLive ? `Use @${entry.version}` : 'Register'}
      consequence={
        isLive
          ? `Subscription ${made.subscription_id} goes on with this version, in the state that it is in.`
          : 'Makes a subscription of it. It delivers nothing until it is activated, on its own page.'
      }
      isPublic
      order={(reason) => orderOf(entry.path, reason)}
      onDone={({ subscription_id: id }) => go(hrefOf(`/subscriptions/${id}`))}
    />
  )
}

function orderOf(path: string, reason: string): Order {
  return {
    cli: ['subscription', 'register', path, ...(reason === '' ? [] : ['--reason', reason])],
    path: '/api/subscriptions',
    body: { path, actor: session.value?.actor ?? null, ...(reason === '' ? {} : { reason }) },
  }
}
