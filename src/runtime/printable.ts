// Makes text of others safe for a terminal. Control characters could colour, hide, overwrite or forge output or make
// the terminal type; characters that change the direction of writing show another text. All of them become visible
// marks. Everything that is printed for people passes through here.

const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** One line: line breaks and tabs are marks as well. */
export function printable(text: string): string {
  return text.replace(CONTROLS, visible)
}

/** Several lines of our own making; a line break in what was put into them must be gone before. */
export function printableLines(text: string): string {
  return text.replace(CONTROLS, (found) => (found === '\n' || found === '\t' ? found : visible(found)))
}

/** A message: further lines are set in, so that none can pass for a message of its own. */
export function printableMessage(text: string): string {
  const [first = '', ...further] = text.trimEnd().split('\n').map(printable)
  return [first, ...further.map((line) => (line.startsWith('  ') ? line : `  ${line}`))].join('\n')
}

/** JSON text stays the same document. */
export function printableJson(text: string): string {
  // What is below U+0020 is escaped inside of texts already; outside of them there are line breaks only.
  return text.replace(CONTROLS, (found) => (found <= '\u001f' ? found : escaped(found)))
}

function visible(character: string): string {
  const code = character.charCodeAt(0)
  if (code <= 0x1f) return String.fromCharCode(0x2400 + code)
  return code === 0x7f ? '\u2421' : escaped(character)
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
