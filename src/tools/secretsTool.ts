// kind: secrets. Secrets are the credentials of this installation; their values are known to later tasks of the same
// pipeline, and masked in all that is reported.
import { requiredText } from '../domain/tool/configFields.js'
import { tokenOf } from './credentials/keychain.js'
import type { Tool } from './tool.js'

export const secretsTool: Tool = {
  timeoutSeconds: 30,
  run: async ({ config, auth, label }) => {
    // In a pipeline the name is the label of the task.
    const names = ['secret', 'path', 'secret_name', 'credential', ...(label === undefined ? ['name'] : [])]
    const name = requiredText(config, 'secrets', ...names)
    const fields = (await auth.fieldsOf(name, '')) ?? {}
    auth.mask.addAll(Object.entries(fields).flatMap(([key, value]) => (key === 'type' ? [] : [value])))
    return { data: { ...fields, name, value: tokenOf(fields) ?? null } }
  },
}
