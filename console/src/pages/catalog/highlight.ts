// YAML taken apart into coloured pieces, line by line. Loaded when a document is first shown.
import { highlightTree, tagHighlighter, tags } from '@lezer/highlight'
import { parser } from '@lezer/yaml'
import type { Piece } from './Yaml'

const LOOKS = tagHighlighter([
  { tag: tags.definition(tags.propertyName), class: 'yaml-key' },
  { tag: tags.propertyName, class: 'yaml-key' },
  { tag: tags.string, class: 'yaml-text' },
  { tag: tags.content, class: 'yaml-text' },
  { tag: tags.comment, class: 'yaml-comment' },
  { tag: tags.lineComment, class: 'yaml-comment' },
  { tag: tags.punctuation, class: 'yaml-mark' },
  { tag: tags.separator, class: 'yaml-mark' },
  { tag: tags.brace, class: 'yaml-mark' },
  { tag: tags.squareBracket, class: 'yaml-mark' },
  { tag: tags.labelName, class: 'yaml-label' },
  { tag: tags.typeName, class: 'yaml-label' },
  { tag: tags.keyword, class: 'yaml-label' },
])

export function highlightYaml(text: string): Piece[][] {
  const lines: Piece[][] = [[]]
  const put = (part: string, look: string | undefined): void => {
    part.split('\n').forEach((piece, index) => {
      if (index > 0) lines.push([])
      if (piece !== '') lines.at(-1)!.push({ text: piece, look })
    })
  }
  let at = 0
  highlightTree(parser.parse(text), LOOKS, (from, to, look) => {
    put(text.slice(at, from), undefined)
    put(text.slice(from, to), look)
    at = to
  })
  put(text.slice(at), undefined)
  return lines
}
