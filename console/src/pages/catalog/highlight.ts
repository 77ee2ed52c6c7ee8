// YAML taken apart into coloured pieces, line by line: keys, texts, comments, labels and marks. It colours what is there and judges
// nothing; whether a document can be read is for the daemon to say.
export interface Piece {
  text: string
  look: string | undefined
}

const SPACE = /[ \t]+/y
const COMMENT = /#.*/y
const LABEL = /[&*!][^\s,[\]{}]*/y
const HEADER = /[|>][0-9+-]*(?=[ \t]*(?:#.*)?$)/y
const SIGN = /[-?](?=\s|$)/y
/** In a list or map of one line a colon may stand before a bracket or a comma as well. */
const COLON = /:(?=\s|$|[,[\]{}])/y
const KEY_END = /[ \t]*:(?=\s|$|[,[\]{}])/y
const BRACKET = /[,[\]{}]/y
const PLAIN = /(?:[^\s:#]|:(?!\s|$)|(?<=\S)#|[ \t]+(?=[^\s#]))+/y
const PLAIN_INSIDE = /(?:[^\s:#,[\]{}]|:(?!\s|$|[,[\]{}])|(?<=\S)#|[ \t]+(?=[^\s#,[\]{}]))+/y
const END: Readonly<Record<string, RegExp>> = { '"': /(?:\\.|[^"\\])*"/y, "'": /(?:''|[^'])*'/y }

/** What goes on from one line to the next. */
interface Reading {
  /** Texts below a `|` or `>` are indented deeper than this. */
  blockBelow: number | undefined
  quote: string | undefined
  /** Open brackets. */
  depth: number
}

export function highlightYaml(text: string): Piece[][] {
  const reading: Reading = { blockBelow: undefined, quote: undefined, depth: 0 }
  return text.split('\n').map((line) => piecesOf(line, reading))
}

function piecesOf(line: string, reading: Reading): Piece[] {
  const indent = line.search(/\S/)
  if (reading.blockBelow !== undefined && indent !== -1 && indent <= reading.blockBelow) reading.blockBelow = undefined
  if (reading.blockBelow !== undefined) return line === '' ? [] : [{ text: line, look: 'yaml-text' }]
  if (reading.quote === undefined && /^(?:---|\.\.\.)(?=\s|$)/.test(line)) return [{ text: line, look: undefined }]
  const pieces: Piece[] = []
  let at = 0
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    return pattern.exec(line)?.[0]
  }
  const put = (part: string, look: string | undefined): void => {
    pieces.push({ text: part, look })
    at += part.length
  }
  /** What a colon follows is a key. */
  const lookOf = (part: string): string => {
    KEY_END.lastIndex = at + part.length
    return KEY_END.test(line) ? 'yaml-key' : 'yaml-text'
  }
  const putQuoted = (quote: string, begin: string): void => {
    at += begin.length
    const rest = take(END[quote]!)
    at -= begin.length
    reading.quote = rest === undefined ? quote : undefined
    const whole = rest === undefined ? line.slice(at) : begin + rest
    // Between brackets a colon may follow it at once, as in JSON.
    const isJsonKey = reading.depth > 0 && line[at + whole.length] === ':'
    put(whole, isJsonKey ? 'yaml-key' : lookOf(whole))
    if (isJsonKey) put(':', 'yaml-mark')
  }
  if (reading.quote !== undefined) putQuoted(reading.quote, '')
  while (at < line.length) {
    const letter = line[at]!
    const isInside = reading.depth > 0
    const before = at === 0 || /[\s,[\]{}]/.test(line[at - 1]!)
    const space = take(SPACE)
    const header = isInside ? undefined : take(HEADER)
    const mark =
      (isInside ? undefined : take(SIGN)) ??
      take(COLON) ??
      (isInside || '[{'.includes(letter) ? take(BRACKET) : undefined)
    if (space !== undefined) put(space, undefined)
    else if (letter === '#' && before) put(take(COMMENT)!, 'yaml-comment')
    else if (letter in END) putQuoted(letter, letter)
    else if (header !== undefined) {
      reading.blockBelow = blockIndent(line)
      put(header, 'yaml-text')
    } else if (mark !== undefined) {
      reading.depth = Math.max(0, reading.depth + ('[{'.includes(mark) ? 1 : ']}'.includes(mark) ? -1 : 0))
      put(mark, 'yaml-mark')
    } else if ('&*!'.includes(letter)) put(take(LABEL)!, 'yaml-label')
    else {
      const plain = take(isInside ? PLAIN_INSIDE : PLAIN) ?? letter
      put(plain, lookOf(plain))
    }
  }
  return pieces
}

/** Of the key or the item that the header stands behind. */
function blockIndent(line: string): number {
  return /^(\s*(?:- +)*)/.exec(line)![1]!.replace(/- +$/, '').length
}
