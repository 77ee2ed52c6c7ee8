// Signals. The first SIGINT or SIGTERM asks for a graceful stop, the second forces.

export interface SignalSource {
  on(event: 'SIGINT' | 'SIGTERM' | 'SIGHUP', listener: () => void): unknown
  off(event: 'SIGINT' | 'SIGTERM' | 'SIGHUP', listener: () => void): unknown
}

export interface Shutdown {
  /** Aborts with the first signal. */
  readonly signal: AbortSignal
  /** Resolves with the exit code of a forced stop (128 + signal number) when a second signal comes. */
  readonly forced: Promise<130 | 143>
  /** Stops listening; the process gets its ordinary signal behaviour back. */
  dispose(): void
}

export function listenForShutdown(source: SignalSource): Shutdown {
  const controller = new AbortController()
  let force: (code: 130 | 143) => void = () => undefined
  const forced = new Promise<130 | 143>((resolve) => {
    force = resolve
  })
  const onSignal = (code: 130 | 143) => () => {
    if (controller.signal.aborted) force(code)
    else controller.abort()
  }
  const onInterrupt = onSignal(130)
  const onTerminate = onSignal(143)
  source.on('SIGINT', onInterrupt)
  source.on('SIGTERM', onTerminate)
  // A closed terminal is a request to stop, too.
  source.on('SIGHUP', onTerminate)
  return {
    signal: controller.signal,
    forced,
    dispose: () => {
      source.off('SIGINT', onInterrupt)
      source.off('SIGTERM', onTerminate)
      source.off('SIGHUP', onTerminate)
    },
  }
}
