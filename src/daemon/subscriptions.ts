// The subscriptions' part of the daemon: the timer of their lifecycle, the runtime that drives those that pull,
// the ingress of those that are pushed to, and what they tell the metrics.
import { createListener } from '../db/listen.js'
import { SHOWN_STATES } from '../domain/subscriptions/subscription.js'
import { componentLog } from '../runtime/log.js'
import type { Service } from '../runtime/service.js'
import type { ExecutionsDeps } from '../services/executions/executions.js'
import { createBacklogWatch } from '../services/subscriptions/backlogWatch.js'
import { createIngress, type Ingress } from '../services/subscriptions/ingress.js'
import type { LifecycleStep } from '../services/subscriptions/intent.js'
import type { LifecycleDeps } from '../services/subscriptions/lifecycle.js'
import { createLifecycleTimer } from '../services/subscriptions/lifecycleTimer.js'
import { createListenerWatch } from '../services/subscriptions/listenerWatch.js'
import { createLogWatch } from '../services/subscriptions/logWatch.js'
import type { ObstacleDeps } from '../services/subscriptions/obstacles.js'
import { createSupervisor } from '../services/subscriptions/supervisor.js'
import type { ViewDeps } from '../services/subscriptions/views.js'
import type { Core } from './core.js'
import type { Deps } from './deps.js'
import { loopErrors } from './loopErrors.js'

const SAID: Record<LifecycleStep['outcome'], string> = {
  registered: 'registered a subscription',
  reused: 'the subscription was registered before and is reused',
  updated: 'a subscription took a newer version of its entry',
  transition: 'a subscription changed its state',
}

// Beyond this many listeners they are counted together: a series each is a burden for whoever scrapes.
const LISTENER_LABELS_MAX = 200

export function subscriptionDeps(deps: Deps, core: Core): LifecycleDeps & ViewDeps & ObstacleDeps {
  const { databases, documents, clock, bus, secretOf } = deps
  const { appender, ids, own } = core
  const log = componentLog(deps.log, 'subscriptions')
  const onLifecycle = ({ outcome, ...step }: LifecycleStep) => log.info(step, SAID[outcome])
  return { databases, documents, clock, bus, secretOf, appender, ids, own, onLifecycle }
}

/** `onHint`: a subscription was changed somewhere. */
export function subscriptionLoops(deps: Deps, core: Core, writing: ExecutionsDeps, onHint: () => void): Service[] {
  const { config, metrics, bus } = deps
  const timer = createLifecycleTimer({
    ...subscriptionDeps(deps, core),
    random: deps.random,
    onCounts: (byState, dead) => {
      for (const state of SHOWN_STATES) {
        metrics.set('noetl_cp_subscriptions', byState.get(state) ?? 0, { state })
      }
      metrics.set('noetl_cp_subscription_dead_letters', dead)
    },
    onError: loopErrors(deps, 'subscription lifecycle'),
  })
  let wakeRuntime = (): void => undefined
  const logWatch = createLogWatch({
    ...subscriptionDeps(deps, core),
    random: deps.random,
    onFollowed: () => wakeRuntime(),
    onError: loopErrors(deps, 'subscription log watch'),
  })
  const log = componentLog(deps.log, 'subscriptions')
  const logTrouble = (subscription: string, path: string | undefined, trouble: string | null): void => {
    if (trouble === null) log.info({ subscription, path }, 'a subscription delivers again')
    else log.warn({ subscription, path, trouble }, 'a subscription does not deliver')
  }
  const listenerWatch = createListenerWatch({
    ...subscriptionDeps(deps, core),
    random: deps.random,
    onTrouble: (row, trouble) => logTrouble(row.subscription_id, row.path, trouble),
    onError: loopErrors(deps, 'listener watch'),
  })
  const listening = (nudge: () => void) =>
    createListener({
      settings: deps.databases.cluster.settings,
      channel: 'noetl_subscription',
      clock: deps.clock,
      onHint: () => {
        nudge()
        timer.nudge()
        listenerWatch.nudge()
        onHint()
      },
      onError: loopErrors(deps, 'listen'),
    })
  const common = [timer, logWatch, listenerWatch]
  if (bus === undefined || !config.subscriptionsEnabled) return [...common, listening(() => undefined)]
  const troubled = new Set<string>()
  const supervisor = createSupervisor({
    ...writing,
    documents: deps.documents,
    bus,
    own: core.own,
    random: deps.random,
    membership: core.membershipOf(deps.databases.cluster.db),
    leaseMs: config.subscriptionLeaseMs,
    attemptsMax: config.subscriptionAttemptsMax,
    onMessages: (outcome, count) => metrics.inc('noetl_cp_subscription_messages_total', { outcome }, count),
    onDriven: (count) => metrics.set('noetl_cp_subscriptions_driven', count),
    onTrouble: (id, trouble) => {
      // A driver also says so when it begins, or stops, without any.
      if (trouble !== null) troubled.add(id)
      if (trouble !== null || troubled.delete(id)) logTrouble(id, undefined, trouble)
    },
    onError: loopErrors(deps, 'subscription runtime'),
  })
  wakeRuntime = supervisor.nudge
  const backlog = createBacklogWatch({
    ...subscriptionDeps(deps, core),
    random: deps.random,
    onBacklog: (byState) => {
      for (const state of SHOWN_STATES) {
        const found = byState.get(state)
        metrics.set('noetl_cp_subscription_backlog', found?.messages ?? 0, { state })
        metrics.set('noetl_cp_subscription_oldest_age_seconds', found?.oldestSeconds ?? 0, { state })
      }
    },
    onError: loopErrors(deps, 'subscription backlog'),
  })
  return [...common, supervisor, listening(supervisor.nudge), backlog]
}

export function buildIngress(deps: Deps, core: Core, writing: ExecutionsDeps): Ingress {
  const { metrics } = deps
  const log = componentLog(deps.log, 'ingress')
  const labels = new Set<string>()
  metrics.declare('noetl_cp_ingress_requests_total', { listener: 'unknown' })
  return createIngress({
    ...writing,
    documents: deps.documents,
    lifecycle: subscriptionDeps(deps, core),
    secretOf: (alias) => {
      try {
        return deps.secretOf(alias)
      } catch (error) {
        log.error({ err: error, alias }, 'a listener cannot verify its messages')
        throw error
      }
    },
    onRequest: (listener, outcome) => {
      if (listener !== undefined && labels.size < LISTENER_LABELS_MAX) labels.add(listener)
      const label = listener === undefined ? 'unknown' : labels.has(listener) ? listener : 'other'
      metrics.inc('noetl_cp_ingress_requests_total', { listener: label, outcome })
    },
  })
}
