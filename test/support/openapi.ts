/**
 * Checks answers of built-in endpoints against the OpenAPI document. The clients of the tests call it with
 * each answer, so that every test of such an endpoint is a test of the document.
 *
 * Stricter than the document: an object has no other members than its schema names, unless the schema says
 * that it has.
 */

import { Ajv2020 } from 'ajv/dist/2020.js'
import { builtInOperations } from '../../src/composition.ts'
import { openApiDocument } from '../../src/pipeline/openapi/document.ts'

export interface Exchanged {
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
  /** The request's body, and its Content-Type. */
  readonly sent?: { readonly type: string; readonly body: string }
}

type Members<V> = Readonly<Record<string, V>>
type Content = Members<{ readonly schema: object }>

/** The members of an operation that are read. */
interface OperationObject {
  readonly operationId: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly schema: { readonly type?: string; readonly items?: object }
  }[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Members<{ readonly headers?: object; readonly content?: Content }>
}

/** Does not check the schemas, because test/pipeline/openapi/document.test.ts does. */
const FOR_SPEED = { validateSchema: false, code: { optimize: false } }

/** RFC 3339. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i

const document = openApiDocument(builtInOperations())
const { paths, components } = prepared()
const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true, ...FOR_SPEED })
ajv.addFormat('date-time', DATE_TIME)
for (const [name, schema] of Object.entries(components.schemas)) ajv.addSchema(schema, name)

/**
 * The document with `additionalProperties: false` at each object that names its members, and a schema's name
 * in place of the pointer to it. Other references are replaced by what they refer to.
 */
function prepared(): {
  readonly paths: Members<Members<OperationObject>>
  readonly components: Readonly<Record<'headers' | 'schemas', Members<object>>>
} {
  const text = JSON.stringify(document, (_, value) => {
    if (value?.type === 'object' && 'properties' in value) return { additionalProperties: false, ...value }
    if (typeof value?.$ref !== 'string') return value
    const [, , kind, name] = value.$ref.split('/')
    return kind === 'schemas' ? { ...value, $ref: name } : document.components[kind]?.[name]
  })
  return JSON.parse(text)
}

/** Returns the operation of a request; null: there is none. */
function operationOf({ method, target }: Exchanged): OperationObject | null {
  const [path = ''] = target.split('?', 1)
  const fits = (template: string) =>
    new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{[^}]*\}/g, '[^/]+')}$`).test(path)
  const name = method === 'HEAD' ? 'get' : method.toLowerCase()
  const [, variable] = Object.entries(paths).find(([each, methods]) => name in methods && fits(each)) ?? []
  // A path without a variable segment takes precedence.
  return paths[path]?.[name] ?? variable?.[name] ?? null
}

/** Returns the fault of the answer; null: there is none, or the request is for no operation. */
export function faultOf(exchanged: Exchanged): string | null {
  const { status } = exchanged
  const operation = operationOf(exchanged)
  // A path does not take every method: that is no operation of it.
  if (operation === null || status === 405) return null
  const declared = operation.responses[status]
  if (declared === undefined) return `status ${status} is not declared`
  return answerFault(declared, exchanged) ?? (status < 300 ? requestFault(operation, exchanged) : null)
}

function answerFault(
  declared: OperationObject['responses'][string],
  { method, headers, body }: Exchanged,
): string | null {
  for (const name of Object.keys(components.headers)) {
    const isDeclared = name in (declared.headers ?? {})
    const isPresent = headers[name.toLowerCase()] !== undefined
    if (isDeclared && !isPresent) return `the header ${name} is missing`
    if (isPresent && !isDeclared) return `the header ${name} is not declared`
  }
  if (method === 'HEAD') return null
  if (declared.content === undefined) return body === '' ? null : 'a body is not declared'
  const type = String(headers['content-type']).split(';')[0] ?? ''
  const media = declared.content[type]
  if (media === undefined) return `the media type ${type} is not declared`
  return type.endsWith('json') ? bodyFault(media.schema, body) : null
}

/** The fault of a request that was accepted, although the document does not describe it. */
function requestFault(
  { parameters = [], requestBody }: OperationObject,
  { target, sent }: Exchanged,
): string | null {
  for (const [name, value] of new URLSearchParams(target.split('?', 2)[1])) {
    const schema = parameters.find((each) => each.in === 'query' && each.name === name)?.schema
    if (schema === undefined) continue
    const given = schema.type === 'integer' ? Number(value) : value
    const fault = schemaFault(schema.items ?? schema, given)
    if (fault !== null) return `accepted, although parameter ${name} ${fault}`
  }
  const type = sent?.type.split(';')[0]?.trim().toLowerCase() ?? ''
  const media = requestBody?.content[type]
  if (sent === undefined || media === undefined || !type.endsWith('json')) return null
  const fault = bodyFault(media.schema, sent.body)
  return fault === null ? null : `accepted, although the body of the request ${fault}`
}

function bodyFault(schema: object, text: string): string | null {
  try {
    return schemaFault(schema, JSON.parse(text))
  } catch (error) {
    if (error instanceof SyntaxError) return 'is not JSON'
    throw error
  }
}

function schemaFault(schema: object, value: unknown): string | null {
  return ajv.validate(schema, value) ? null : `is not valid: ${ajv.errorsText()}`
}

/** `operationId` and status of each answer that was compared in this process. */
export const compared = new Set<string>()

/** @throws Error if the answer is not what the OpenAPI document says */
export function assertConforms(exchanged: Exchanged): void {
  const fault = faultOf(exchanged)
  const { method, target, status, body } = exchanged
  if (fault !== null) throw new Error(`OpenAPI: ${method} ${target} answered ${status}: ${fault}\n${body}`)
  compared.add(`${operationOf(exchanged)?.operationId} ${status}`)
}

/**
 * `fetch` for a test without a client of its own.
 *
 * @throws like `assertConforms`
 */
export async function fetchConforming(url: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, init)
  const { status, headers } = response
  const { pathname, search } = new URL(url)
  const body = await response.clone().text()
  const method = init.method ?? 'GET'
  assertConforms({ method, target: pathname + search, status, headers: Object.fromEntries(headers), body })
  return response
}
