// The one tip of the page: a few words beside what is pointed at, tapped or has the focus. It lies above everything, so no table cuts
// it off; Escape takes it away. Who hears the page has the same words as a description.
import { signal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'

interface Shown {
  text: string
  beside: Element
  owner: object
}

const shown = signal<Shown | undefined>(undefined)

type Happening = Event & { currentTarget: Element }

/** What an element needs to have a tip. Without a text it has none; `told` is what is heard, where that is something else. */
export function useTip(text: string | undefined, told = text) {
  const owner = useRef({}).current
  const isMine = (): boolean => shown.peek()?.owner === owner
  const hide = (): void => {
    if (isMine()) shown.value = undefined
  }
  useLayoutEffect(() => {
    if (isMine()) shown.value = text === undefined ? undefined : { ...shown.peek()!, text }
  }, [text])
  useEffect(() => hide, [])
  if (text === undefined) return {}
  const show = ({ currentTarget: beside }: Happening): void => {
    shown.value = { text, beside, owner }
  }
  return {
    'aria-description': told,
    onPointerEnter: show,
    onPointerLeave: (event: PointerEvent) => {
      const isOnTip = event.relatedTarget instanceof Element && event.relatedTarget.matches('.tip')
      if (!isOnTip && document.activeElement !== event.currentTarget) hide()
    },
    // A finger leaves before it has clicked.
    onPointerUp: show,
    onFocus: show,
    onBlur: hide,
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || !isMine()) return
      event.stopPropagation()
      hide()
    },
  }
}

const EDGE = 4

export function Tip() {
  const element = useRef<HTMLDivElement>(null)
  const { text, beside } = shown.value ?? {}
  useLayoutEffect(() => {
    const tip = element.current
    if (tip === null || beside === undefined) return
    const place = (): void => {
      const { left, top, bottom } = beside.getBoundingClientRect()
      const { offsetWidth: width, offsetHeight: height } = tip
      tip.style.left = `${Math.max(EDGE, Math.min(left, window.innerWidth - width - EDGE))}px`
      tip.style.top = `${bottom + height <= window.innerHeight ? bottom : top - height}px`
    }
    tip.showPopover()
    place()
    window.addEventListener('scroll', place, true)
    return () => {
      window.removeEventListener('scroll', place, true)
      tip.hidePopover()
    }
  }, [text, beside])
  return (
    <div
      ref={element}
      class="tip"
      popover="manual"
      aria-hidden="true"
      onPointerLeave={() => {
        shown.value = undefined
      }}
    >
      {text}
    </div>
  )
}
