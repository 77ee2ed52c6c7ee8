// The way of a request: its turn on the connection, access, admission, body, checks, handler, answer.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { readJsonBody } from '../domain/json/body.js'
import type { JsonObject, JsonValue } from '../domain/json/value.js'
import type { SecretRules } from '../domain/secrets/secretNames.js'
import { CpError } from '../errors.js'
import { createGate } from '../runtime/gate.js'
import type { Acts } from '../services/access/acts.js'
import { LARGE_BYTES } from '../services/bodies/largeBodies.js'
import { type AccessSettings, checkAccess } from './access.js'
import { actOf, isAct } from './actOf.js'
import type { Answers } from './answers.js'
import { type Body, readBody, streamBody } from './bodies.js'
import { createByteBudget } from './byteBudget.js'
import { type Caller, NOBODY } from './callers.js'
import { isForeignHost, isForReader, sendForeignHostPage } from './foreignHostPage.js'
import { type GivenParts, GivenRequest } from './givenRequest.js'
import { createLargeAnswers } from './largeAnswers.js'
import { checkQuery } from './query.js'
import type { ApiReply, BodySize, RequestHead, RouteSpec } from './route.js'
import type { Schema } from './schema.js'
import { wantsTextIds, withTextIds } from './textIds.js'

export interface MountSettings {
  access: AccessSettings
  limits: { bodyBytes: Readonly<Record<BodySize, number>>; bodiesBytes: number; searchesMax: number }
  secretRules: SecretRules | null
  readFlatBody: ReadFlatBody
  acts: Acts
}

const SEARCHES_WAITING_MAX = 200
const SEARCH_WAIT_MS = 10_000

/** The task `flatBody`, in a thread. */
export type ReadFlatBody = (bytes: Uint8Array, schema: Schema) => Promise<JsonObject>

export function mountRoutes(
  app: FastifyInstance,
  routes: readonly RouteSpec[],
  settings: MountSettings,
  answers: Answers,
): void {
  const budget = createByteBudget(settings.limits.bodiesBytes)
  const largeAnswers = createLargeAnswers()
  const searches = createGate({
    atOnce: settings.limits.searchesMax,
    waitingMax: SEARCHES_WAITING_MAX,
    waitMs: SEARCH_WAIT_MS,
    what: 'searches',
  })
  const callers = new WeakMap<FastifyRequest, Caller>()
  const admitted = new WeakMap<FastifyRequest, unknown>()

  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (request: FastifyRequest) => {
    const { bodySize = 'small' } = (request.routeOptions.config as unknown as Mounted).spec
    const limit = settings.limits.bodyBytes[bodySize]
    return bodySize === 'upload' ? streamBody(request.raw, limit, budget) : readBody(request.raw, limit, budget)
  })

  for (const route of routes) {
    app.route({
      method: route.method,
      url: mountPoint(route.path),
      config: { spec: route } satisfies Mounted as never,
      // Before the body is read: a stranger's upload is not worth its memory.
      onRequest: async (request, reply) => {
        try {
          callers.set(request, checkAccess(route, request.headers, settings.access))
        } catch (error) {
          if (!isForeignHost(error) || !isForReader(route, request.headers)) throw error
          return sendForeignHostPage(reply, error)
        }
        if (route.admit !== undefined) admitted.set(request, await route.admit(headOf(request, route)))
        return undefined
      },
      handler: async (request, reply) => {
        let given: GivenRequest | undefined
        let isStream = false
        const body = bodyOf(request)
        const caller = callers.get(request) ?? NOBODY
        // The answer's side: the request's own `close` also comes when its body has merely been read.
        reply.raw.once('close', () => {
          body.release()
          // A stream goes on until somebody says so: the answer to HEAD is finished without it.
          if (isStream || !reply.raw.writableFinished) given?.leave()
        })
        const large = route.readsLarge === true && (body.bytes?.length ?? 0) > LARGE_BYTES ? body.bytes : undefined
        const query = checkQuery(route, request.query as Record<string, unknown>)
        // A route that has the question as its own answers it by itself.
        const isOwn = route.query?.['ids'] !== undefined && query['ids'] !== undefined
        const textIds = !isOwn && wantsTextIds(request.headers, query['ids'])
        const rules = route.showsAll === true ? null : settings.secretRules
        const isUnread = route.rawBody === true || large !== undefined
        const parts: GivenParts = {
          head: headOf(request, route),
          query,
          body: isUnread ? undefined : await readJson(route, body.bytes, settings.readFlatBody),
          large,
          rawBody: body.bytes,
          upload: body.upload,
          admitted: admitted.get(request),
          caller,
        }
        const asked = new GivenRequest(parts, () => isAllowed(route, request, settings.access), reply.raw)
        given = asked
        const answerOf = async (): Promise<ApiReply> => {
          const made = await (isAct(route, asked)
            ? settings.acts.around(
                actOf(route, asked),
                () => route.handler(asked),
                ({ about }) => about,
              )
            : route.handler(asked))
          return textIds ? withTextIds(made, route.responses[made.status ?? 200]) : made
        }
        const answer = await (route.isLarge === true
          ? largeAnswers.make(answerOf, rules, asked.signal)
          : route.isSearch === true
            ? searches(answerOf, asked.signal)
            : answerOf())
        isStream = answer.events !== undefined
        return answers.send(reply, answer, rules)
      },
    })
  }
}

function isAllowed(route: RouteSpec, { headers }: FastifyRequest, access: AccessSettings): boolean {
  try {
    checkAccess(route, headers, access)
    return true
  } catch (error) {
    if (error instanceof CpError) return false
    throw error
  }
}

interface Mounted {
  spec: RouteSpec
}

/** The router takes slashes only in what ends a path. */
function mountPoint(path: string): string {
  return path.replace(/:\w+\+.*$/, '*')
}

function headOf(request: FastifyRequest, { path }: RouteSpec): RequestHead {
  const { '*': rest, ...params } = request.params as Record<string, string>
  if (Object.values(request.params as Record<string, string>).some((value) => value.includes('\0')))
    throw new CpError('invalid_input', 'the path holds a zero byte (%00), which no name or id has')
  if (rest === undefined) return { params, headers: request.headers }
  const [, name, tail] = /:(\w+)\+(.*)$/.exec(path) as unknown as [string, string, string]
  if (!rest.endsWith(tail) || rest.length === tail.length) {
    throw new CpError('not_found', `there is no such ${request.method}; see /openapi.json`)
  }
  return { params: { ...params, [name]: rest.slice(0, rest.length - tail.length) }, headers: request.headers }
}

interface GivenBody {
  bytes?: Buffer
  upload?: AsyncIterable<Uint8Array>
  release(): void
}

const NO_BODY: GivenBody = { release: () => undefined }

function bodyOf({ body }: FastifyRequest): GivenBody {
  if (typeof body !== 'object' || body === null) return NO_BODY
  if (Symbol.asyncIterator in body) return { ...NO_BODY, upload: body as AsyncIterable<Uint8Array> }
  return body as Body
}

async function readJson(
  route: RouteSpec,
  bytes: Buffer | undefined,
  readFlat: ReadFlatBody,
): Promise<JsonValue | undefined> {
  if (route.body === undefined) return undefined
  if (bytes === undefined || bytes.length === 0) {
    if (route.bodyOptional === true) return undefined
    throw new CpError('invalid_input', 'a JSON body is needed')
  }
  if (bytes.length > LARGE_BYTES && isFlat(route.body)) return readFlat(bytes, route.body)
  return readJsonBody(bytes, route.body)
}

/**
 * Texts, numbers and flags are all that a route takes from it, so that reading it elsewhere leaves nothing to do here. What
 * its schema does not name is left out there.
 */
function isFlat({ properties, additionalProperties }: Schema): boolean {
  if (properties === undefined || additionalProperties === true) return false
  const isScalar = ({ type, format }: Schema): boolean =>
    (type ?? format) !== undefined && type !== 'object' && type !== 'array'
  return Object.values(properties).every(isScalar)
}
