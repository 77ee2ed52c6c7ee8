// A value once it has rested for a moment: a drag asks the daemon a few times a second, not for every event it passes.
import { useEffect, useState } from 'preact/hooks'

const REST_MS = 80

export function useRested<T>(value: T, restMs = REST_MS): T {
  const [rested, setRested] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setRested(() => value), restMs)
    return () => clearTimeout(timer)
  }, [value])
  return rested
}
