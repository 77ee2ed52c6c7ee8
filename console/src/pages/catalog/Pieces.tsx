// One line of a document in colours.
import type { Piece } from './highlight'

export function Pieces({ pieces }: { pieces: readonly Piece[] }) {
  return (
    <code>
      {pieces.map((piece, at) => (
        <span key={at} class={piece.look}>
          {piece.text}
        </span>
      ))}
    </code>
  )
}
