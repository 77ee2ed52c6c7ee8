// Templates for their authors: the typed value of one, or of many from standard input, without any server.
import { parseJson } from '../../../domain/json/parse.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json/value.js'
import { writeJson } from '../../../domain/json/write.js'
import {
  type Evaluation,
  evaluateTemplate,
  TEMPLATE_KINDS,
  type TemplateKind,
} from '../../../domain/template/evaluate.js'
import { CpError, messageOf } from '../../../errors.js'
import { systemClock } from '../../../runtime/clock.js'
import type { CommandContext, CommandSpec, Input } from '../../command.js'
import { EXIT } from '../../exit.js'
import { printJson } from '../../io.js'
import { readLines } from '../../lines.js'
import { isSet, textOption } from '../../options.js'
import { openSource, readSource } from '../../source.js'

const CONTEXT_BYTES_MAX = 64 * 1024 * 1024

export const templateEval: CommandSpec = {
  path: ['template', 'eval'],
  localBecause: 'it needs no instance',
  summary: 'Try a template: print its typed value, or the error with its place',
  description:
    'Evaluates a template against a context, as the engine would: as a value, as a condition (a guard) or as the list of a loop. With --ndjson every line of standard input is {"kind", "template", "context", "steps"} and answers with a line {"value"} or {"error"}; the exit code is then 0.',
  args: [{ name: 'template', help: "for example '{{ workload.page + 1 }}'", optional: true }],
  options: [
    { flags: '--context <json>', help: 'what the template may read: a JSON object, or a file with one' },
    { flags: '--as <kind>', help: TEMPLATE_KINDS.join(', '), completes: TEMPLATE_KINDS, default: 'value' },
    { flags: '--steps <names>', help: 'roots of the context that are data of steps, with commas between' },
    { flags: '--ndjson', help: 'many from standard input, one per line' },
  ],
  examples: [
    [`template eval '{{ n + 1 }}' --context '{"n": 41}'`, 'prints 42'],
    [`template eval 'rows | length > 0' --context state.json --as condition`, 'prints true or false'],
    ['template eval --ndjson < cases.ndjson', 'an answer per line'],
  ],
  run: async (context, input) => {
    if (isSet(input, 'ndjson')) return evaluateLines(context)
    const template = input.args['template']
    if (template === undefined) throw new CpError('invalid_input', 'name a template, or give --ndjson for many')
    const value = evaluateTemplate(
      {
        kind: kindOf(textOption(input, 'as') ?? 'value', '--as'),
        template,
        context: await readContext(context, input),
        steps: (textOption(input, 'steps') ?? '').split(',').map((name) => name.trim()),
      },
      systemClock.now(),
    )
    return { json: value, blocks: [{ kind: 'text', text: writeJson(value) }] }
  },
}

function kindOf(text: JsonValue | undefined, what: string): TemplateKind {
  const kind = TEMPLATE_KINDS.find((one) => one === text)
  if (kind === undefined) throw new CpError('invalid_input', `${what} must be one of ${TEMPLATE_KINDS.join(', ')}`)
  return kind
}

async function readContext(context: CommandContext, input: Input): Promise<JsonObject> {
  const given = textOption(input, 'context')
  if (given === undefined) return {}
  const isJson = given.trimStart().startsWith('{')
  const value = parseJson(isJson ? given : await readSource(context, given, CONTEXT_BYTES_MAX))
  if (!isJsonObject(value)) throw new CpError('invalid_input', '--context must be a JSON object or a file with one')
  return value
}

async function evaluateLines(context: CommandContext): Promise<number> {
  for await (const { number, text } of readLines(openSource(context, undefined))) {
    let answer: JsonObject
    try {
      answer = { value: evaluateTemplate(toEvaluation(text, number), systemClock.now()) }
    } catch (error) {
      if (!(error instanceof CpError)) throw error
      answer = { error: messageOf(error) }
    }
    printJson(context.io.stdout, answer)
  }
  return EXIT.ok
}

function toEvaluation(text: string | undefined, line: number): Evaluation {
  if (text === undefined) throw new CpError('invalid_input', `line ${line} is not UTF-8 text`)
  const given = parseJson(text)
  if (!isJsonObject(given)) throw new CpError('invalid_input', `line ${line} must be a JSON object`)
  const { kind, template, context, steps } = given
  if (template === undefined) throw new CpError('invalid_input', `line ${line}: /template is missing`)
  if (context !== undefined && !isJsonObject(context)) {
    throw new CpError('invalid_input', `line ${line}: /context must be an object`)
  }
  return {
    kind: kindOf(kind ?? 'value', `line ${line}: /kind`),
    template,
    context: context ?? {},
    steps: Array.isArray(steps) ? steps.filter((step) => typeof step === 'string') : [],
  }
}
