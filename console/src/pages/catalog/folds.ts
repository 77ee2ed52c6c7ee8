// Which lines of a YAML text can be folded into the one above them: what is indented deeper. A list counts as deeper than the key it
// belongs to, also where it is not indented.

/** By the line of its head, from 0: the last line that belongs to it. */
export function foldsOf(lines: readonly string[]): ReadonlyMap<number, number> {
  const depths = lines.map(depthOf)
  const folds = new Map<number, number>()
  const open: number[] = []
  let last = -1
  const close = (depth: number): void => {
    for (let head = open.at(-1); head !== undefined && depths[head]! >= depth; head = open.at(-1)) {
      open.pop()
      if (last > head) folds.set(head, last)
    }
  }
  for (const [line, depth] of depths.entries()) {
    // Empty lines belong to what is around them.
    if (depth === undefined) continue
    close(depth)
    open.push(line)
    last = line
  }
  close(-1)
  return folds
}

function depthOf(line: string): number | undefined {
  const indent = line.search(/\S/)
  return indent === -1 ? undefined : indent + (/^\s*-(\s|$)/.test(line) ? 0.5 : 0)
}
