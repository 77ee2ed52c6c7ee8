// Tabs whose choice is in the address. Digits choose them, too.
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useKeys } from '../lib/keys'
import { ask, query } from '../lib/router'

export interface Tab {
  id: string
  name: ComponentChildren
}

export function chosenTab(tabs: readonly Tab[]): string {
  const asked = query.value.get('tab')
  return (tabs.find((tab) => tab.id === asked) ?? tabs[0]!).id
}

export function Tabs({ tabs, label }: { tabs: readonly Tab[]; label: string }) {
  const chosen = chosenTab(tabs)
  // How far one list was read says nothing of another.
  const choose = (id: string): void =>
    ask({ tab: id === tabs[0]!.id ? undefined : id, ...(id === chosen ? {} : { cursor: undefined }) })
  useKeys(Object.fromEntries(tabs.map((tab, index) => [String(index + 1), () => choose(tab.id)])))
  const strip = useRef<HTMLDivElement>(null)
  // Where there is no room for all of them, the chosen one is among those in sight.
  useLayoutEffect(() => {
    const tab = document.getElementById(`tab-${chosen}`)!.getBoundingClientRect()
    const { left, width } = strip.current!.getBoundingClientRect()
    strip.current!.scrollLeft += tab.left - left - (width - tab.width) / 2
  }, [chosen])
  const move = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (by === 0) return
    event.stopPropagation()
    const at = tabs.findIndex((tab) => tab.id === chosen)
    const next = tabs[(at + by + tabs.length) % tabs.length]!
    choose(next.id)
    document.getElementById(`tab-${next.id}`)?.focus()
  }
  return (
    <div ref={strip} class="tabs" role="tablist" aria-label={label}>
      {tabs.map((tab) => (
        <button
          key={tab.id}
          id={`tab-${tab.id}`}
          type="button"
          role="tab"
          aria-selected={tab.id === chosen}
          tabIndex={tab.id === chosen ? 0 : -1}
          onClick={(event) => {
            choose(tab.id)
            // Who points goes on with the keys of the screen; who came by the keyboard stays among the tabs.
            if (event.detail > 0) event.currentTarget.blur()
          }}
          onKeyDown={move}
        >
          {tab.name}
        </button>
      ))}
    </div>
  )
}
