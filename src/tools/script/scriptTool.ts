// kind: script. Python or shell, by its language.
import { textField } from '../../domain/tool/configFields.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'
import type { Tool, ToolRun } from '../tool.js'

const PYTHON: ReadonlySet<string> = new Set(['python', 'python3', 'py'])
const SHELL: ReadonlySet<string> = new Set(['shell', 'bash', 'sh'])

export function createScriptTool(python: Tool, shell: Tool, isAllowed: (kind: string) => boolean): Tool {
  function toolOf({ config }: ToolRun): Tool {
    const language = (textField(config, 'language', 'lang') ?? 'python').toLowerCase()
    const tool = PYTHON.has(language) ? python : SHELL.has(language) ? shell : undefined
    if (tool === undefined) throw new ToolFailure('unsupported', `scripts in ${language} are not run here`)
    const kind = tool.allowedAs as string
    if (isAllowed(kind)) return tool
    throw new ToolFailure('config', `${kind} is not allowed here: add ${kind} to NOETL_CP_WORKER_ALLOW`)
  }
  return { timeoutSeconds: python.timeoutSeconds, run: (run) => toolOf(run).run(run) }
}
