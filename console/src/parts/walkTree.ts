// Keys of a tree, as everywhere: up and down a line, right into a branch, left out of it, Enter and Space as a click.
// Who has clicked a line goes on using the keys of the screen.

export function walkTree(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const item = event.target
  if (!(item instanceof HTMLElement) || !item.matches('[role=treeitem]:focus-visible')) return
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=treeitem]')]
  const at = items.indexOf(item)
  const isOpen = item.getAttribute('aria-expanded')
  const press = (): void => item.querySelector<HTMLElement>('.fold')?.click()
  const go = (to: HTMLElement | undefined): void => to?.focus()
  const levelOf = (one: HTMLElement): number => Number(one.ariaLevel)
  const above = (): HTMLElement | undefined => items.slice(0, at).findLast((one) => levelOf(one) < levelOf(item))
  const acts: Readonly<Record<string, () => void>> = {
    ArrowDown: () => go(items[at + 1]),
    ArrowUp: () => go(items[at - 1]),
    ArrowRight: () => (isOpen === 'true' ? go(items[at + 1]) : isOpen === 'false' && press()),
    ArrowLeft: () => (isOpen === 'true' ? press() : go(above())),
    Home: () => go(items[0]),
    End: () => go(items.at(-1)),
    Enter: press,
    ' ': press,
  }
  const act = acts[event.key]
  if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  event.stopPropagation()
  act()
}
