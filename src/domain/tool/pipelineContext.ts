// Where the templates of a pipeline read: what the engine handed over, the data of earlier tasks by label, and what the
// pipeline itself has set. The names of a single tool are the same with nothing before it.

import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import type { TemplateContext, TemplateValue } from '../template/run.js'
import type { PipelineData } from './pipelineData.js'
import type { ScopedValues, WorkerScope } from './scopedValues.js'
import type { ToolCommand } from './toolCommand.js'

const SCOPE_ROOTS: ReadonlySet<string> = new Set<WorkerScope>(['ctx', 'vars', 'iter'])

export class PipelineContext implements TemplateContext {
  constructor(
    private readonly command: ToolCommand,
    private readonly data: PipelineData,
    private readonly values: ScopedValues,
    readonly nowMs: number,
    /** Names of this place alone, such as `output`. */
    private readonly extra: JsonObject = {},
    readonly token?: (name: string) => TemplateValue,
  ) {}

  with(extra: JsonObject, token?: (name: string) => TemplateValue): PipelineContext {
    return new PipelineContext(this.command, this.data, this.values, this.nowMs, extra, token)
  }

  get(name: string): TemplateValue {
    if (Object.hasOwn(this.extra, name)) return this.extra[name]
    if (name === 'output') return this.data.previousOutput()
    if (name === '_prev') return this.data.previous
    if (name === 'results' || name === '_results') return this.data.results()
    if (SCOPE_ROOTS.has(name)) return this.values.whole(name as WorkerScope)
    const local = this.values.get('local', name)
    if (local !== undefined) return local
    if (this.data.has(name)) return this.data.get(name)
    const { renderContext, args, executionId, step } = this.command
    const written = this.values.writes('ctx')
    return (
      own(written, name) ??
      own(renderContext, name) ??
      own(args, name) ??
      (name === 'execution_id' ? executionId : name === 'step' ? step : undefined)
    )
  }

  isStep(name: string): boolean {
    return this.command.stepNames.has(name) || this.data.has(name)
  }
}

function own(map: JsonObject, name: string): TemplateValue {
  return Object.hasOwn(map, name) ? map[name] : undefined
}

/** What stood under the scopes before the pipeline began. */
export function scopeBase({ renderContext, args }: ToolCommand): { [scope in WorkerScope]?: JsonValue | undefined } {
  const root = (name: string): JsonValue | undefined => own(renderContext, name) ?? own(args, name)
  const iter = root('iter')
  return { ctx: root('ctx'), vars: root('vars'), iter: isJsonObject(iter) ? iter : undefined }
}
