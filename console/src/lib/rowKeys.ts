// `j` and `k` on every screen with rows: the focus goes to what the next or previous row opens, so that Enter opens it, and so that
// it is seen and told where one is.

const ROWS = 'main :is(table.rows, .virtual) tbody tr'
const OPENER = 'a[href], button:not(:disabled, [aria-disabled="true"], .time), summary'

export function moveAlongRows(by: 1 | -1): void {
  const openers = [...document.querySelectorAll(ROWS)].flatMap((row) => row.querySelector<HTMLElement>(OPENER) ?? [])
  const at = openers.findIndex((opener) => opener.closest('tr') === document.activeElement?.closest('tr'))
  const next = at === -1 ? (by === 1 ? 0 : openers.length - 1) : at + by
  openers[Math.min(openers.length - 1, Math.max(0, next))]?.focus()
}
