// A button for what only some may do. Who may not finds it all the same, by the keyboard as well, and is told why. A read-only console
// has none of them.
import type { ComponentChildren } from 'preact'
import { isReadOnly } from '../lib/readOnly'
import { useTip } from './Tip'

interface ActButtonProps {
  /** Why not; undefined if it can be pressed. */
  why: string | undefined
  /** What it does. */
  meaning?: string
  isBusy?: boolean
  class?: string
  onClick: () => void
  children: ComponentChildren
}

export function ActButton({ why, meaning, isBusy = false, class: look, onClick, children }: ActButtonProps) {
  const tip = useTip(why)
  if (isReadOnly.value) return null
  return (
    <button
      type="button"
      class={look}
      // A disabled one would be out of reach of keyboard and finger, and so would its reason.
      aria-disabled={why !== undefined}
      disabled={isBusy}
      title={why === undefined ? meaning : undefined}
      {...tip}
      onClick={() => {
        if (why === undefined) onClick()
      }}
    >
      {children}
    </button>
  )
}
