// For the tests, which attack with the same requests.
export interface HostileRequest {
  name: string
  kind: string
  path: string | ((executionId: string) => string)
  status: number
  headers?: Record<string, string>
  body(executionId: string): string
}
export const HOOK_TOKEN: string
export const attackedDocuments: readonly string[]
export const hostileRequests: readonly HostileRequest[]
