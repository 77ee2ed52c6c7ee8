// Promise: a path written into a document is its path from then on, and nothing else of it changes.
import { describe, expect, it } from 'vitest'
import { parseCatalogDocument } from '../../src/domain/catalog/catalogDocument.js'
import { withMetadataPath } from '../../src/domain/catalog/documentPath.js'

describe('a path', () => {
  it.each([
    ['a block', '# first\nmetadata:\n  # mine\n  name: x # here\nworkflow: []\n'],
    ['a map in braces', 'metadata: {name: x, labels: {a: b}}\nworkflow: []\n'],
    ['braces over lines', 'metadata: {\n  name: x }\n'],
    ['lines of Windows', 'metadata:\r\n    name: x\r\nworkflow: []\r\n'],
    ['quoted keys', '"metadata":\n  "name": x\n'],
  ])('goes into %s', (_what, text) => {
    const path = 'a b/"c".yaml: # ü'
    const written = withMetadataPath(text, path)
    const { document, path: found } = parseCatalogDocument(written)
    expect(found).toBe(path)
    expect(document['metadata']).toEqual({ path, ...(parseCatalogDocument(text).document['metadata'] as object) })
    const at = written.indexOf('path: ')
    expect(text.startsWith(written.slice(0, at))).toBe(true)
    expect(text.endsWith(written.slice(-(text.length - at)))).toBe(true)
  })

  it('goes into base64 as text', () => {
    expect(withMetadataPath(Buffer.from('metadata: {name: x}\n').toString('base64'), 'p')).toBe(
      'metadata: {path: "p", name: x}\n',
    )
  })

  it.each([
    'metadata: {name: x, path: }\n',
    'metadata: {&k name: x, other: *k }\n',
    'workload: &m {name: x}\nmetadata: *m\n',
    'metadata: &m\n  name: x\nworkload: *m\n',
    'metadata: {name: x',
  ])('has no place in %j', (text) => {
    expect(() => withMetadataPath(text, 'p')).toThrow('write metadata: {path: …} into it')
  })
})
