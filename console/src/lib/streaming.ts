// Whether the daemon tells by itself what has changed.
import { signal } from '@preact/signals'

export const isStreaming = signal(false)
