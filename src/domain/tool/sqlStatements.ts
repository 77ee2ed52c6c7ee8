// Takes a SQL text apart into its statements: at semicolons outside of quotes, dollar quotes and comments. What holds
// nothing but comments and white space is no statement. The text of each is kept as it was written.

export function splitStatements(text: string): string[] {
  const statements: string[] = []
  let start = 0
  let hasContent = false
  let at = 0
  while (at < text.length) {
    const end = skipped(text, at)
    if (end.kind === 'content') hasContent = true
    if (end.kind === 'semicolon') {
      if (hasContent) statements.push(text.slice(start, at).trim())
      start = end.next
      hasContent = false
    }
    at = end.next
  }
  if (hasContent) statements.push(text.slice(start).trim())
  return statements
}

/** The first word behind comments, in lower case. */
export function firstWord(statement: string): string {
  let at = 0
  while (at < statement.length) {
    const { kind, next } = skipped(statement, at)
    if (kind !== 'nothing') break
    at = next
  }
  return (/^[a-z]+/i.exec(statement.slice(at))?.[0] ?? '').toLowerCase()
}

interface Skip {
  readonly next: number
  readonly kind: 'content' | 'nothing' | 'semicolon'
}

/** What begins here, and where it ends. */
function skipped(text: string, at: number): Skip {
  const character = text[at] as string
  const two = text.slice(at, at + 2)
  if (character === ';') return { next: at + 1, kind: 'semicolon' }
  if (/\s/.test(character)) return { next: at + 1, kind: 'nothing' }
  if (two === '--') return { next: lineEnd(text, at), kind: 'nothing' }
  if (two === '/*') return { next: commentEnd(text, at), kind: 'nothing' }
  if (character === "'") return { next: quoteEnd(text, at, "'", isEscapeText(text, at)), kind: 'content' }
  if (character === '"') return { next: quoteEnd(text, at, '"', false), kind: 'content' }
  if (character === '$') return { next: dollarEnd(text, at), kind: 'content' }
  return { next: at + 1, kind: 'content' }
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end + 1
}

/** Comments of this kind may hold each other. */
function commentEnd(text: string, at: number): number {
  let depth = 0
  for (let index = at; index < text.length; index++) {
    const two = text.slice(index, index + 2)
    if (two === '/*') depth++
    if (two === '*/') depth--
    if (two === '/*' || two === '*/') index++
    if (depth === 0) return index + 1
  }
  return text.length
}

/** `E'…'`, in which a backslash hides the quote behind it. */
function isEscapeText(text: string, at: number): boolean {
  return /(?<![\w$])[eE]$/.test(text.slice(Math.max(0, at - 2), at))
}

function quoteEnd(text: string, at: number, quote: string, hasBackslashes: boolean): number {
  for (let index = at + 1; index < text.length; index++) {
    if (hasBackslashes && text[index] === '\\') index++
    else if (text[index] === quote) {
      if (text[index + 1] !== quote) return index + 1
      index++
    }
  }
  return text.length
}

/** `$$…$$` and `$tag$…$tag$`; `$1` and `a$b` are none. */
function dollarEnd(text: string, at: number): number {
  const before = at === 0 ? '' : (text[at - 1] as string)
  const tag = /^\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/.exec(text.slice(at, at + 66))?.[0]
  if (tag === undefined || /[\w$]/.test(before)) return at + 1
  const end = text.indexOf(tag, at + tag.length)
  return end < 0 ? text.length : end + tag.length
}
