// The catalog entries of the demo. All paths begin with `demo/`, so that they cannot be mistaken for real work.

export const DEMO_PREFIX = 'demo/'
export const SUBSCRIPTION_PATH = 'demo/orders'

const playbook = (name: string, workload: string, steps: readonly string[]): string => `apiVersion: noetl.io/v2
kind: Playbook
metadata:
  name: ${name}
  path: ${DEMO_PREFIX}${name}
workload: ${workload}
workflow:
${steps.map((step, index) => `  - step: ${step}\n    tool: {kind: http, url: 'https://shop.example/${step}'}\n    next: ${steps[index + 1] ?? 'end'}`).join('\n')}
`

const subscription = `kind: Subscription
metadata:
  path: ${SUBSCRIPTION_PATH}
spec:
  source: nats
  subject: demo.orders.created
  mode: pull
  dispatch: {playbook: ${DEMO_PREFIX}import-orders}
`

export const DEMO_ENTRIES: readonly string[] = [
  playbook('daily-report', '{day: today}', ['fetch', 'transform', 'store']),
  playbook('import-orders', '{source: shop}', ['download', 'validate', 'load']),
  playbook('thumbnails', '{images: 6}', ['list', 'resize']),
  playbook('payment-sync', '{account: main}', ['read-ledger', 'charge']),
  subscription,
]
