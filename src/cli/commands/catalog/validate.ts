// A check of a document, without registering it and without any server.

import { ownSourcesOf } from '../../../daemon/core.js'
import { placesIn } from '../../../domain/catalog/documentPlaces.js'
import type { Violation } from '../../../domain/catalog/violation.js'
import type { Problem } from '../../../domain/playbook/plan.js'
import { documentReader } from '../../../services/catalog/catalogDocuments.js'
import { catalogDocument } from '../../../services/catalog/inThread/catalogDocument.js'
import { type Verdict, validateDocument } from '../../../services/catalog/validation.js'
import type { CommandSpec } from '../../command.js'
import { EXIT } from '../../exit.js'
import { textOption } from '../../options.js'
import { type Block, type Output, toned } from '../../output.js'
import { nameOf, readSource } from '../../source.js'
import { FILE_BYTES_MAX, fileArgument } from './catalog.js'

export const catalogValidate: CommandSpec = {
  path: ['catalog', 'validate'],
  localBecause: 'it needs no instance',
  showsAll: true,
  summary: 'Check a document without registering it',
  description:
    'Names everything that is wrong with a document, each with its place, and warns of parts that have no effect. Needs no server. Exit code 4 when it would be refused, at registration or when an execution is started; warnings alone are 0.',
  args: [fileArgument],
  options: [{ flags: '--kind <kind>', help: 'kind of a document that names none; default playbook' }],
  examples: [['catalog validate hello.yaml', 'all violations']],
  run: async (context, input) => {
    const content = await readSource(context, input.args['file']!, FILE_BYTES_MAX)
    const documents = {
      read: documentReader(async (text) => catalogDocument(text)),
      placesOf: async (text: string, pointers: readonly string[]) => placesIn(text, pointers),
    }
    const own = ownSourcesOf(context.config().config)
    const verdict = await validateDocument({ documents, own }, content, textOption(input, 'kind'))
    return outputOf(nameOf(input.args['file']), verdict)
  },
}

function outputOf(name: string, { valid, document, problems }: Verdict): Output {
  const placed = (severity: Problem['severity']): Violation[] =>
    problems
      .filter((problem) => problem.severity === severity)
      .map(({ pointer, message }) => ({ path: pointer, message }))
  const violations = placed('error')
  const warnings = placed('warning')
  return {
    json: {
      valid,
      ...document,
      problems: problems.map((problem) => ({ ...problem })),
      violations: violations.map((violation) => ({ ...violation })),
      warnings: warnings.map((warning) => ({ ...warning })),
    },
    blocks: [
      ...(valid ? [{ kind: 'text' as const, text: `${name} is a valid ${document?.kind}: ${document?.path}` }] : []),
      ...(violations.length === 0 ? [] : [placeTable('what is wrong', violations)]),
      ...(warnings.length === 0 ? [] : [placeTable('warning', warnings, 'warn')]),
    ],
    notes: [
      ...(violations.length === 0 ? [] : [`${violations.length} violation(s)`]),
      ...(warnings.length === 0 ? [] : [`${warnings.length} warning(s)`]),
    ],
    ...(valid ? {} : { exitCode: EXIT.refused }),
  }
}

function placeTable(title: string, rows: readonly Violation[], tone?: 'warn'): Block {
  return {
    kind: 'table',
    columns: ['place', title],
    isProse: true,
    rows: rows.map(({ path, message }) => [
      path === '' ? 'the document' : path,
      tone === undefined ? message : toned(message, tone),
    ]),
  }
}
