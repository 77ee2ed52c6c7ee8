// Finds the regular expressions that are written into the sources.
import type { SourceFile } from './architecture.js'

export interface WrittenPattern {
  /** `domain/outbox/subject.ts:26` */
  place: string
  pattern: RegExp
}

// Behind these a slash begins a pattern; behind a name, a number or a closing bracket it divides, and behind `!` after one.
const BEFORE_PATTERN = /(?:^|[=(,:[&|?{};+~<>]|(?<![\w)\]])!|\b(?:return|typeof|case|of|in))$/

export function patternsOf({ path, text }: SourceFile): WrittenPattern[] {
  const found: WrittenPattern[] = []
  /** Depth of braces inside each open `${…}`. */
  const templates: number[] = []
  let line = 1
  let before = ''
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at, at + 2)
    let end = at + 1
    if (rest === '//') end = indexOrEnd(text, '\n', at)
    else if (rest === '/*') end = indexOrEnd(text, '*/', at) + 2
    else if (text[at] === "'" || text[at] === '"') end = endOfQuoted(text, at)
    else if (text[at] === '`') end = endOfTemplate(text, at + 1, templates)
    else if (text[at] === '{' && templates.length > 0) templates[templates.length - 1]! += 1
    else if (text[at] === '}' && templates.length > 0) {
      if (templates[templates.length - 1] === 0) {
        templates.pop()
        end = endOfTemplate(text, at + 1, templates)
      } else templates[templates.length - 1]! -= 1
    } else if (text[at] === '/' && BEFORE_PATTERN.test(before)) {
      end = endOfPattern(text, at)
      const [source, flags] = splitPattern(text.slice(at, end))
      found.push({ place: `${path}:${line}`, pattern: new RegExp(source, flags) })
    }
    const passed = text.slice(at, end)
    line += passed.split('\n').length - 1
    const isComment = rest === '//' || rest === '/*'
    if (!isComment && passed.trim() !== '') before = `${before}${passed.trim()}`.slice(-12)
    else if (/\s/.test(passed) && /[a-z]$/.test(before))
      before = `${before} `.replace(/\b(return|typeof|case|of|in) $/, '$1')
    at = end
  }
  return found
}

function indexOrEnd(text: string, what: string, from: number): number {
  const at = text.indexOf(what, from)
  return at === -1 ? text.length : at
}

function endOfQuoted(text: string, at: number): number {
  let end = at + 1
  while (end < text.length && text[end] !== text[at]) end += text[end] === '\\' ? 2 : 1
  return end + 1
}

/** Up to the closing backtick, or to an opening `${`. */
function endOfTemplate(text: string, from: number, templates: number[]): number {
  let end = from
  while (end < text.length && text[end] !== '`') {
    if (text[end] === '$' && text[end + 1] === '{') {
      templates.push(0)
      return end + 2
    }
    end += text[end] === '\\' ? 2 : 1
  }
  return end + 1
}

function endOfPattern(text: string, at: number): number {
  let end = at + 1
  for (let isClass = false; text[end] !== '/' || isClass; end++) {
    if (text[end] === '\\') end++
    else if (text[end] === '[') isClass = true
    else if (text[end] === ']') isClass = false
    if (text[end] === '\n' || end >= text.length) throw new Error(`no pattern at ${text.slice(at, at + 40)}`)
  }
  while (/[a-z]/.test(text[end + 1] ?? '')) end++
  return end + 1
}

function splitPattern(literal: string): [string, string] {
  const close = literal.lastIndexOf('/')
  return [literal.slice(1, close), literal.slice(close + 1)]
}
