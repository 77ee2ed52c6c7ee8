// What this browser keeps of the reader's choices. One that keeps nothing for pages has them until the page is closed.

export function kept(name: string): string | undefined {
  try {
    return localStorage.getItem(`noetl.${name}`) ?? undefined
  } catch {
    return undefined
  }
}

export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(`noetl.${name}`, value)
  } catch {
    // Nobody loses more than a choice.
  }
}
