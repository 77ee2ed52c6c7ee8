// Promise: the console colours YAML as a whole parser of it does, loses no letter of any text, and takes no longer than the text is
// long; what is indented can be folded into the line above it.
import { readdirSync, readFileSync } from 'node:fs'
import { highlightTree, tagHighlighter, tags } from '@lezer/highlight'
import { parser } from '@lezer/yaml'
import { expect, it } from 'vitest'
import { foldsOf } from '../../console/src/pages/catalog/folds.js'
import { highlightYaml } from '../../console/src/pages/catalog/highlight.js'

const FOLDERS = ['../../examples/', '../../deploy/'].map((folder) => new URL(folder, import.meta.url))

const LOOKS = tagHighlighter([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], class: 'yaml-key' },
  { tag: [tags.string, tags.content], class: 'yaml-text' },
  { tag: [tags.comment, tags.lineComment], class: 'yaml-comment' },
  { tag: [tags.punctuation, tags.separator, tags.brace, tags.squareBracket], class: 'yaml-mark' },
  { tag: [tags.labelName, tags.typeName, tags.keyword], class: 'yaml-label' },
])

/** Letter by letter, with the look of each; spaces have none. */
const byParser = (text: string): string[] => {
  const looks = [...text].map(() => '')
  highlightTree(parser.parse(text), LOOKS, (from, to, look) => looks.fill(look, from, to))
  return looks.map((look, at) => `${text[at]}${/\s/.test(text[at]!) ? '' : look}`)
}
const byConsole = (text: string): string[] =>
  highlightYaml(text)
    .map((pieces) =>
      pieces.flatMap(({ text: part, look = '' }) =>
        part.split('').map((letter) => `${letter}${/\s/.test(letter) ? '' : look}`),
      ),
    )
    .reduce((all, line, index) => all.concat(index === 0 ? [] : ['\n'], line), [] as string[])

const documents = FOLDERS.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ya?ml$/.test(name))
    .map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') })),
)

it('colours every document of ours as the parser does', () => {
  expect(documents.length).toBeGreaterThan(10)
  for (const { name, text } of documents) expect(byConsole(text), name).toEqual(byParser(text))
})

it.each([
  'a: "b # c" # d\n"e f": \'it\'\'s\'\n',
  'a: "over\n  two lines: no key"\nb: &x [1, {c: d, "e":f}, *x]\n',
  'a: |\n  b: not a key\n\n  # not a comment\nc: !tag d\n- - >-\n    text\n  - x#y: http://z\n',
])('colours %j as the parser does', (text) => {
  expect(byConsole(text)).toEqual(byParser(text))
})

it('loses nothing of a text that is no YAML, however long its lines are', () => {
  const odd = [
    '{"a": [1,'.repeat(20_000),
    '"'.repeat(50_000),
    `${' '.repeat(100_000)}x`,
    '- '.repeat(50_000),
    '|>&*!#:?\t'.repeat(9_000),
  ]
  for (const text of odd) {
    const pieces = highlightYaml(text)
    expect(pieces.map((line) => line.map((piece) => piece.text).join('')).join('\n') === text).toBe(true)
  }
})

it('folds what belongs to a line', () => {
  const text = 'a:\n- b: 1\n\n  c: 2\n- d\n\ne: f\ng:\n  h:\n    i\n'
  expect([...foldsOf(text.split('\n'))].toSorted(([left], [right]) => left - right)).toEqual([
    [0, 4],
    [1, 3],
    [7, 9],
    [8, 9],
  ])
})
