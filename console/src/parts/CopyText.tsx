// A text to copy: an id, a command. A click selects it whole, the button puts it on the clipboard.
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { copyText } from '../lib/copyText'

/** `name` is for a text that is too long to be heard with its button. */
export function CopyText({ text, shown = text, name = shown }: { text: string; shown?: string; name?: string }) {
  return (
    <span class="copy">
      <code class="whole">{shown}</code>
      <CopyButton text={() => text} name={name} />
    </span>
  )
}

/** How the last try went, for a moment. */
export type Copied = 'copied' | 'refused' | undefined

export const COPIED_WORDS = { copied: 'Copied', refused: 'Could not be copied' } as const

/** How it went just now, and the way to do so. */
export function useCopy(text: () => string): readonly [Copied, () => void] {
  const [copied, setCopied] = useState<Copied>()
  useEffect(() => {
    if (copied === undefined) return
    const timer = setTimeout(() => setCopied(undefined), 1_500)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = (): void => void copyText(text()).then((isDone) => setCopied(isDone ? 'copied' : 'refused'))
  return [copied, copy]
}

interface CopyButtonProps {
  /** Asked for when it is copied: it may be long. */
  text: () => string
  name: string
  title?: string
  /** A word beside the picture. */
  children?: ComponentChildren
}

export function CopyButton({ text, name, title = 'Copy', children }: CopyButtonProps) {
  const [copied, copy] = useCopy(text)
  const said = copied === undefined ? undefined : COPIED_WORDS[copied]
  return (
    <button type="button" class="quiet" aria-label={said ?? `Copy ${name}`} title={said ?? title} onClick={copy}>
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        <path
          d={
            copied === 'copied'
              ? 'M3 8.5l3.2 3.2L13 4.8l-1.3-1.3-5.5 5.6-1.9-1.9z'
              : 'M5 1h9v10h-2V3H5zM2 5h8v10H2zm1.5 1.5v7h5v-7z'
          }
          fill="currentColor"
          fill-rule="evenodd"
        />
      </svg>
      {children}
    </button>
  )
}
