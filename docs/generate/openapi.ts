/** Reads the OpenAPI document of the built-in endpoints, as the manual needs it. */

import type { ErrorCode } from '../../src/model/errors.ts'
import { openApiDocument } from '../../src/pipeline/openapi/document.ts'
import { builtInOperations } from '../../src/composition.ts'

/** A Schema Object, with the keywords that the manual shows. */
export interface DocumentedSchema {
  readonly $ref?: string
  readonly title?: string
  readonly description?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly items?: DocumentedSchema
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly properties?: Readonly<Record<string, DocumentedSchema>>
  readonly required?: readonly string[]
  readonly anyOf?: readonly DocumentedSchema[]
  readonly additionalProperties?: boolean | DocumentedSchema
}

export interface DocumentedParameter {
  readonly name: string
  readonly in: string
  readonly description?: string
  readonly schema: DocumentedSchema
}

export interface DocumentedOperation {
  /** `GET /v1/seats` */
  readonly name: string
  readonly permission: string
  readonly summary: string
  /** Without `Space`, which every endpoint with a permission has. */
  readonly parameters: readonly DocumentedParameter[]
  /** Null: no body is read. */
  readonly body: DocumentedSchema | null
  readonly answers: readonly DocumentedAnswer[]
  /** Of its refusals, in order of their status. */
  readonly codes: readonly ErrorCode[]
}

export interface DocumentedAnswer {
  readonly status: string
  /** Null: without a body. */
  readonly schema: DocumentedSchema | null
  /** What a stream of events means; null: it may be none. */
  readonly events: string | null
  /** Names, without `X-Request-Id`, which every response has. */
  readonly headers: readonly string[]
}

interface Content {
  readonly [type: string]: { readonly schema: DocumentedSchema } | undefined
}

interface Response {
  readonly headers: Readonly<Record<string, unknown>>
  readonly content?: Content
}

interface Refusals {
  readonly allOf: readonly [
    unknown,
    { readonly properties: { readonly code: { readonly enum: readonly ErrorCode[] } } },
  ]
}

interface OperationObject {
  readonly 'x-seatgate-permission': string
  readonly summary: string
  readonly parameters?: readonly (DocumentedParameter | Reference)[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, Response | Reference>>
}

type Reference = { readonly $ref: string }

/** What a client reads. */
const document = JSON.parse(JSON.stringify(openApiDocument(builtInOperations()))) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** The schemas that have a name. */
export function documentedSchemas(): Readonly<Record<string, DocumentedSchema>> {
  return document.components['schemas'] as Readonly<Record<string, DocumentedSchema>>
}

export function documentedOperations(): DocumentedOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, object]) => documented(`${method.toUpperCase()} ${path}`, object)),
  )
}

function documented(name: string, object: OperationObject): DocumentedOperation {
  const { summary, parameters = [], requestBody } = object
  const responses = Object.entries(object.responses).map(
    ([status, each]) => [status, resolved<Response>(each)] as const,
  )
  return {
    name,
    permission: object['x-seatgate-permission'],
    summary,
    parameters: parameters
      .map((each) => resolved<DocumentedParameter>(each))
      .filter((each) => each.name !== 'Space'),
    body: bodyOf(requestBody?.content),
    answers: responses.flatMap(([status, response]) => answerOf(status, response)),
    codes: responses.flatMap(([, response]) => codesOf(response)),
  }
}

function bodyOf(content: Content = {}): DocumentedSchema | null {
  const schema = content['application/json']?.schema
  return schema === undefined ? null : resolved(schema)
}

/** None where the status is that of refusals alone. */
function answerOf(status: string, { headers, content }: Response): DocumentedAnswer[] {
  const schema = content?.['application/json']?.schema ?? null
  if (content !== undefined && schema === null) return []
  const events = content?.['text/event-stream']?.schema.description ?? null
  return [{ status, schema, events, headers: Object.keys(headers).filter((each) => each !== 'X-Request-Id') }]
}

function codesOf({ content }: Response): readonly ErrorCode[] {
  const refusals = content?.['application/problem+json']?.schema as Refusals | undefined
  return refusals?.allOf[1].properties.code.enum ?? []
}

/** @throws where a reference leads nowhere */
export function resolved<V extends object>(found: V | Reference): V {
  if (!('$ref' in found)) return found
  const [, , kind = '', name = ''] = found.$ref.split('/')
  const component = document.components[kind]?.[name]
  if (component === undefined) throw new Error(`${found.$ref} leads nowhere`)
  return component as V
}
