// Says on standard error which modules are loaded, by a hook of Node's own.
import { register } from 'node:module'

const HOOK = `
import { writeSync } from 'node:fs'
export async function load(url, context, next) {
  if (url.startsWith('file:')) writeSync(2, 'loaded ' + url + '\\n')
  return next(url, context)
}`
register(`data:text/javascript,${encodeURIComponent(HOOK)}`)
