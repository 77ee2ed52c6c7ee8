// The catalog entries of the demo. All paths begin with `demo/`, so that they cannot be mistaken for real work. They need
// neither code nor a network: what cannot be reached is a port of this machine on which nobody listens.

export const DEMO_PREFIX = 'demo/'
export const SUBSCRIPTION_PATH = 'demo/orders'
/** A pool that no worker serves. */
export const NOBODY_POOL = 'demo-nobody'

const playbook = (name: string, rest: string): string => `apiVersion: noetl.io/v2
kind: Playbook
metadata:
  name: ${name}
  path: ${DEMO_PREFIX}${name}
${rest}`

const dailyReport = playbook(
  'daily-report',
  `workload: {day: "2026-11-15", rows: 1204}
workflow:
  - step: fetch
    tool: {kind: noop, result: {rows: "{{ workload.rows }}"}}
    next: [transform]
  - step: transform
    tool: {kind: noop, result: {rows: "{{ fetch.rows - 3 }}", dropped: 3}}
    next: [store]
  - step: store
    tool: {kind: noop, result: {day: "{{ workload.day }}", stored: "{{ transform.rows }}"}}
`,
)

const weeklyReport = playbook(
  'weekly-report',
  `workload: {days: ["2026-11-13", "2026-11-14", "2026-11-15"]}
workflow:
  - step: each_day
    loop: {in: "{{ workload.days }}", iterator: day}
    tool: {kind: playbook, path: ${DEMO_PREFIX}daily-report, payload: {day: "{{ day }}"}, return_result: true}
    next: [sum]
  - step: sum
    tool: {kind: noop, result: {days: "{{ each_day.results | length }}"}}
`,
)

const importOrders = playbook(
  'import-orders',
  `workload: {source: shop, url: "http://127.0.0.1:1/orders"}
workflow:
  - step: download
    tool: {kind: http, url: "{{ workload.url }}", retry: {max_attempts: 2, delay: 0.2}}
    next:
      arcs:
        - {step: yesterday, when: "{{ event.name == 'call.error' and workload.source == 'shop' }}"}
        - {step: load, when: "{{ event.name == 'call.done' }}"}
  - step: yesterday
    tool: {kind: noop, result: {rows: 212}}
    next: [load]
  - step: load
    tool: {kind: noop, result: {loaded: 212}}
`,
)

const thumbnails = playbook(
  'thumbnails',
  `workflow:
  - step: list
    tool: {kind: noop, result: {images: [cover.png, map.png, team.jpg, chart.svg, logo.png, door.jpg]}}
    next: [resize]
  - step: resize
    loop: {in: "{{ list.images }}", iterator: image, spec: {mode: parallel, max_in_flight: 2}}
    tool: {kind: noop, result: {image: "{{ image }}", width: 320}}
`,
)

const paymentSync = playbook(
  'payment-sync',
  `workload: {account: main}
workflow:
  - step: read_ledger
    tool: {kind: noop, result: {open: 4}}
    next: [charge]
  - step: charge
    tool: {kind: http, method: POST, url: "http://127.0.0.1:1/charge", json: {open: "{{ read_ledger.open }}"}}
`,
)

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
  dailyReport,
  weeklyReport,
  importOrders,
  thumbnails,
  paymentSync,
  subscription,
]
