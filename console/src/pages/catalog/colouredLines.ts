// The lines of a document in colours, as long as that is worth the wait.
import { highlightYaml, type Piece } from './highlight'

const COLOURED_MAX = 200_000

export function colouredLines(text: string): Piece[][] {
  if (text.length <= COLOURED_MAX) return highlightYaml(text)
  return text.split('\n').map((line) => [{ text: line, look: undefined }])
}
