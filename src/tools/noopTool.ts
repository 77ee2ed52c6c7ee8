// kind: noop
import { textField } from '../domain/tool/configFields.js'
import type { Tool } from './tool.js'

export const noopTool: Tool = {
  timeoutSeconds: 60,
  run: async ({ config }) => {
    const result = config['result']
    return { data: result ?? { status: 'ok', message: textField(config, 'message') ?? 'noop' } }
  },
}
