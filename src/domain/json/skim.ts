// Finds a few members of a JSON object by their names without reading the rest: for texts of megabytes of which only the
// small fields are wanted. The text must be JSON; it comes from our own database.

/** The texts of the members that are there. */
export function skimMembers(text: string, names: ReadonlySet<string>): Map<string, string> {
  const found = new Map<string, string>()
  let at = skipSpace(text, 0)
  if (text[at] !== '{') return found
  at = skipSpace(text, at + 1)
  while (at < text.length && text[at] === '"' && found.size < names.size) {
    const keyEnd = endOfText(text, at)
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1)
    const end = endOfValue(text, start)
    const key = JSON.parse(text.slice(at, keyEnd)) as string
    if (names.has(key)) found.set(key, text.slice(start, end))
    at = skipSpace(text, end)
    if (text[at] !== ',') break
    at = skipSpace(text, at + 1)
  }
  return found
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (text.charCodeAt(at) <= 0x20) at++
  return at
}

/** Behind the closing quote. */
function endOfText(text: string, from: number): number {
  for (let at = from + 1; ; ) {
    const quote = text.indexOf('"', at)
    if (quote < 0) return text.length
    let slashes = quote
    while (text.charCodeAt(slashes - 1) === 0x5c) slashes--
    // Slashes before the opening quote belong to nobody.
    if ((quote - Math.max(slashes, from + 1)) % 2 === 0) return quote + 1
    at = quote + 1
  }
}

function endOfValue(text: string, from: number): number {
  const first = text[from]
  if (first === '"') return endOfText(text, from)
  if (first !== '{' && first !== '[') {
    let at = from
    while (at < text.length && !/[,}\]\s]/.test(text[at]!)) at++
    return at
  }
  let depth = 0
  for (let at = from; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22:
        at = endOfText(text, at) - 1
        break
      case 0x7b:
      case 0x5b:
        depth++
        break
      case 0x7d:
      case 0x5d:
        depth--
        if (depth === 0) return at + 1
    }
  }
  return text.length
}
