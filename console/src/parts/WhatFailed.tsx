// What went wrong with the row above, below it and over its whole width.

interface WhatFailedProps {
  text: string
  /** Of the table. */
  columns: number
  /** Below the second of them: the first is only to choose by. */
  isInset?: boolean
  isMarked?: boolean
}

export function WhatFailed({ text, columns, isInset = false, isMarked = false }: WhatFailedProps) {
  return (
    <tr class="more" aria-selected={isMarked}>
      {isInset && <td />}
      <td colSpan={isInset ? columns - 1 : columns}>
        <div class="failed two-lines" title={text}>
          {text}
        </div>
      </td>
    </tr>
  )
}
