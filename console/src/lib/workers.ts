// Scripts that run beside the page. Their addresses are the one thing the content policy lets through by name.
interface Policy {
  createScriptURL(address: string): string
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: (address: string) => string }): Policy
}

const { trustedTypes } = window as unknown as { trustedTypes?: TrustedTypes }

/** Files of this build alone: nothing that was read or written by anybody becomes an address. */
const policy: Policy = trustedTypes?.createPolicy('noetl', { createScriptURL: own }) ?? { createScriptURL: own }

function own(address: string): string {
  const url = new URL(address, window.location.href)
  if (url.origin !== window.location.origin || !/\/assets\/[\w.-]+\.js$/.test(url.pathname))
    throw new TypeError(`${url.href} is not a script of the console`)
  return url.href
}

export function startWorker(address: string): Worker {
  return new Worker(policy.createScriptURL(address), { type: 'module' })
}

/** One for all tabs of the browser. */
export function startSharedWorker(address: string): SharedWorker {
  return new SharedWorker(policy.createScriptURL(address), { type: 'module' })
}
