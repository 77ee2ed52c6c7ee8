// A dialog of the browser itself: it keeps the focus inside, gives it back, and closes with Escape.
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

interface DialogProps {
  title: string
  /** A drawer stands at the right, as high as the window. */
  kind?: 'drawer'
  /** To be read: it begins at its title, not where something can be pressed. */
  isText?: boolean
  onClose: () => void
  children: ComponentChildren
}

export function Dialog(props: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  // With the drawing, not after it: the next key is for the dialog.
  useLayoutEffect(() => {
    const before = document.activeElement
    element.current?.showModal()
    // While it is open nothing behind it takes the focus, and it is open until it is gone.
    return () => queueMicrotask(() => before instanceof HTMLElement && before.focus())
  }, [])
  return (
    <dialog ref={element} class={props.kind} aria-label={props.title} onClose={props.onClose}>
      <h2 {...(props.isText === true ? { tabIndex: -1, autofocus: true } : {})}>{props.title}</h2>
      {props.children}
    </dialog>
  )
}
