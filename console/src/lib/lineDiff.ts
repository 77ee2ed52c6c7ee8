// What is different between two texts, line by line: the longest common part stays, the rest was taken out or put in.
export interface DiffLine {
  kind: 'same' | 'out' | 'in'
  text: string
}

/** The table has a cell for every pair of lines that are not at the equal ends. */
const CELLS_MAX = 4_000_000

export function lineDiff(from: string, to: string): DiffLine[] {
  const [before, after] = [from.split('\n'), to.split('\n')]
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  const room = Math.min(before.length, after.length) - head
  while (tail < room && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  const same = (text: string): DiffLine => ({ kind: 'same', text })
  return [
    ...before.slice(0, head).map(same),
    ...middle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(same),
  ]
}

function middle(before: readonly string[], after: readonly string[]): DiffLine[] {
  const wide = after.length + 1
  const out = (text: string): DiffLine => ({ kind: 'out', text })
  const put = (text: string): DiffLine => ({ kind: 'in', text })
  if (before.length * after.length > CELLS_MAX) return [...before.map(out), ...after.map(put)]
  const common = new Uint32Array((before.length + 1) * wide)
  for (let left = before.length - 1; left >= 0; left--) {
    for (let right = after.length - 1; right >= 0; right--) {
      const at = left * wide + right
      common[at] =
        before[left] === after[right] ? common[at + wide + 1]! + 1 : Math.max(common[at + wide]!, common[at + 1]!)
    }
  }
  const lines: DiffLine[] = []
  let [left, right] = [0, 0]
  while (left < before.length && right < after.length) {
    const at = left * wide + right
    if (before[left] === after[right]) {
      lines.push({ kind: 'same', text: before[left]! })
      left++
      right++
    } else if (common[at + wide]! >= common[at + 1]!) lines.push(out(before[left++]!))
    else lines.push(put(after[right++]!))
  }
  return [...lines, ...before.slice(left).map(out), ...after.slice(right).map(put)]
}
