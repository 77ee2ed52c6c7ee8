// A text to copy: an id, a command. A click selects it whole, the button puts it on the clipboard.
import { useEffect, useState } from 'preact/hooks'

export function CopyText({ text, shown = text }: { text: string; shown?: string }) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 1_500)
    return () => clearTimeout(timer)
  }, [isCopied])
  return (
    <span class="copy">
      <code class="whole">{shown}</code>
      <button
        type="button"
        class="quiet"
        aria-label={isCopied ? 'Copied' : `Copy ${shown}`}
        title="Copy"
        onClick={() =>
          navigator.clipboard.writeText(text).then(
            () => setCopied(true),
            () => undefined,
          )
        }
      >
        {isCopied ? '✓' : '⧉'}
      </button>
    </span>
  )
}
