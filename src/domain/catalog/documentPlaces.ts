// Where in a text the places of a document are, for editors that mark lines.
import { isMap, isScalar, isSeq, LineCounter, type Node } from 'yaml'
import { decodeContent } from './catalogDocument.js'
import { readSyntax, YAML_LIMITS } from './yamlText.js'

export interface Place {
  /** From 1. */
  line: number
  column: number
}

/** Of JSON pointers, each the place of its key, or of the nearest thing around it that is written down. Of a text that
 * cannot be read, the places of its mistakes, in their order. */
export function placesIn(input: string, pointers: readonly string[]): (Place | null)[] {
  const text = decodeContent(input)
  const lines = new LineCounter()
  const [document] = readSyntax(text, lines, YAML_LIMITS.depthMax) ?? []
  if (document === undefined) return pointers.map(() => null)
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  const { errors, contents } = document
  if (errors.length > 0) return pointers.map((_, index) => placeAt((errors[index] ?? errors[0]!).pos[0]))
  return pointers.map((pointer) => (contents === null ? null : placeAt(offsetOf(contents, pointer))))
}

function offsetOf(root: Node, pointer: string): number {
  let node: unknown = root
  let offset = root.range?.[0] ?? 0
  for (const escaped of pointer.split('/').slice(1)) {
    const segment = escaped.replaceAll('~1', '/').replaceAll('~0', '~')
    const pair = isMap(node) ? node.items.find(({ key }) => isScalar(key) && String(key.value) === segment) : undefined
    const item = isSeq(node) ? node.items[Number(segment)] : undefined
    const named = (pair?.key ?? item) as Node | undefined
    if (named?.range == null) return offset
    offset = named.range[0]
    node = pair === undefined ? item : pair.value
  }
  return offset
}
