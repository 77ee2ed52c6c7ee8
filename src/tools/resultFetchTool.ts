// kind: result_fetch
import { requiredText } from '../domain/tool/configFields.js'
import type { ResultStore } from './run/resultStore.js'
import type { Tool } from './tool.js'

export function createResultFetchTool(results: ResultStore): Tool {
  return {
    timeoutSeconds: 60,
    run: async ({ config, args, signal }) => {
      const ref = requiredText({ ...args, ...config }, 'result_fetch', 'ref', 'result_ref', 'uri')
      return { data: await results.get(ref, signal) }
    },
  }
}
