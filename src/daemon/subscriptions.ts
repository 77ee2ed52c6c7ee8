// The subscriptions' part of the daemon: the keeper of their lifecycle, and what it tells the metrics.
import { SUBSCRIPTION_STATES } from '../domain/subscription.js'
import type { Service } from '../runtime/service.js'
import { createSubscriptionKeeper } from '../services/subscriptions/keeper.js'
import type { LifecycleDeps } from '../services/subscriptions/lifecycle.js'
import type { ViewDeps } from '../services/subscriptions/views.js'
import type { Core } from './core.js'
import type { Deps } from './deps.js'
import { loopErrors } from './loopErrors.js'

export function subscriptionDeps(deps: Deps, core: Core): LifecycleDeps & ViewDeps {
  return { databases: deps.databases, appender: core.appender, ids: core.ids, clock: deps.clock, bus: deps.bus }
}

export function subscriptionLoops(deps: Deps, core: Core): Service[] {
  const { metrics } = deps
  return [
    createSubscriptionKeeper({
      ...subscriptionDeps(deps, core),
      random: deps.random,
      onCounts: (byState, dead) => {
        for (const state of SUBSCRIPTION_STATES) {
          metrics.set('noetl_cp_subscriptions', byState.get(state) ?? 0, { state })
        }
        metrics.set('noetl_cp_subscription_dead_letters', dead)
      },
      onError: loopErrors(deps, 'subscription keeper'),
    }),
  ]
}
