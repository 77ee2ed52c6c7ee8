// kind: noop
import { textField } from '../domain/tool/configFields.js'
import type { Tool } from './tool.js'

export const noopTool: Tool = {
  timeoutSeconds: 60,
  run: async ({ config }) => {
    // A result that is there and null is one.
    if (config['result'] !== undefined) return { data: config['result'] }
    return { data: { status: 'ok', message: textField(config, 'message') ?? 'noop' } }
  },
}
