/**
 * Checks answers of built-in endpoints against the OpenAPI document. The clients of the tests call it with each answer, so
 * that every test of such an endpoint is a test of the document.
 *
 * Stricter than the document: an object has no other members than its schema names, unless the schema says that it has.
 */

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { builtInOperations } from '../../src/runtime/built-in-endpoints.ts'
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

type Json = Readonly<Record<string, unknown>>

/** The schemas themselves are checked once, in test/pipeline/openapi/document.test.ts. */
const FOR_SPEED = { validateSchema: false, code: { optimize: false } }

/** RFC 3339. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i

export class Conformance {
  readonly #components: Readonly<Record<string, Json>>
  readonly #operations: { readonly method: string; readonly path: RegExp; readonly object: Json }[] = []
  readonly #ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true, ...FOR_SPEED })
  readonly #compiled = new Map<unknown, ValidateFunction>()

  constructor(document: ReturnType<typeof openApiDocument>) {
    this.#components = document.components
    this.#ajv.addFormat('date-time', DATE_TIME)
    for (const [name, schema] of Object.entries(mapOf(this.#components['schemas'])))
      this.#ajv.addSchema(closed(schema) as Json, name)
    for (const [path, methods] of Object.entries(document.paths)) {
      const pattern = new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{[^}]*\}/g, '[^/]+')}$`)
      for (const [method, object] of Object.entries(methods))
        this.#operations.push({ method: method.toUpperCase(), path: pattern, object: object as Json })
    }
  }

  /** What is wrong with the answer; null: nothing, or the request is for no operation. */
  fault(exchanged: Exchanged): string | null {
    const { method, target, status } = exchanged
    const [, query = ''] = target.split('?', 2)
    const operation = this.#find(method, target)
    // A path does not take every method: that is no operation of it.
    if (operation === null || status === 405) return null
    const found = mapOf(operation['responses'])[status]
    if (found === undefined) return `status ${status} is not declared`
    return (
      this.#answerFault(this.#resolved(found), exchanged) ??
      (status < 300 ? this.#requestFault(operation, query, exchanged.sent) : null)
    )
  }

  /** The `operationId`; null: the request is for no operation. */
  operationOf({ method, target }: Exchanged): unknown {
    return this.#find(method, target)?.['operationId'] ?? null
  }

  #find(asked: string, target: string): Json | null {
    const method = asked === 'HEAD' ? 'GET' : asked
    const [path = ''] = target.split('?', 1)
    const found = this.#operations.filter((each) => each.method === method && each.path.test(path))
    // A path without a variable segment takes precedence.
    return (found.find((each) => !each.path.source.includes('[^/]+')) ?? found[0])?.object ?? null
  }

  #answerFault(response: Json, { method, headers, body }: Exchanged): string | null {
    for (const name of Object.keys(mapOf(this.#components['headers']))) {
      const isDeclared = name in mapOf(response['headers'])
      const isPresent = headers[name.toLowerCase()] !== undefined
      if (isDeclared && !isPresent) return `the header ${name} is missing`
      if (isPresent && !isDeclared) return `the header ${name} is not declared`
    }
    if (method === 'HEAD') return null
    const content = response['content']
    if (content === undefined) return body === '' ? null : 'a body is not declared'
    const type = String(headers['content-type']).split(';')[0] ?? ''
    const media = mapOf(content)[type]
    if (media === undefined) return `the media type ${type} is not declared`
    return type.endsWith('json') ? this.#bodyFault(mapOf(media)['schema'], body, closed) : null
  }

  /** A request that was accepted is one that the document describes. */
  #requestFault(operation: Json, query: string, sent: Exchanged['sent']): string | null {
    const parameters = [operation['parameters'] ?? []].flat().map((each) => this.#resolved(each))
    for (const [name, value] of new URLSearchParams(query)) {
      const parameter = parameters.find((each) => each['in'] === 'query' && each['name'] === name)
      if (parameter === undefined) continue
      const { type, items } = mapOf(parameter['schema'])
      const schema = type === 'array' ? items : parameter['schema']
      const isNumber = type === 'integer'
      const fault = this.#schemaFault(schema, isNumber ? Number(value) : value, (each) => each)
      if (fault !== null) return `accepted, although parameter ${name} ${fault}`
    }
    const type = sent?.type.split(';')[0]?.trim().toLowerCase() ?? ''
    const media = mapOf(mapOf(operation['requestBody'])['content'])[type]
    if (sent === undefined || media === undefined || !type.endsWith('json')) return null
    const fault = this.#bodyFault(mapOf(media)['schema'], sent.body, (each) => each)
    return fault === null ? null : `accepted, although the body of the request ${fault}`
  }

  #bodyFault(schema: unknown, text: string, adapt: (schema: unknown) => unknown): string | null {
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      return 'is not JSON'
    }
    return this.#schemaFault(schema, value, adapt)
  }

  #schemaFault(schema: unknown, value: unknown, adapt: (schema: unknown) => unknown): string | null {
    let validate = this.#compiled.get(schema)
    if (validate === undefined)
      this.#compiled.set(schema, (validate = this.#ajv.compile(withoutPointers(adapt(schema)) as Json)))
    return validate(value) ? null : `is not valid: ${this.#ajv.errorsText(validate.errors)}`
  }

  #resolved(found: unknown): Json {
    const reference = mapOf(found)['$ref']
    if (typeof reference !== 'string') return mapOf(found)
    const [, , kind = '', name = ''] = reference.split('/')
    return mapOf(mapOf(this.#components[kind])[name])
  }
}

let shared: Conformance | null = null

/** `operationId` and status of each answer that was compared in this process. */
export const compared = new Set<string>()

/** @throws Error where the answer is not what the OpenAPI document says */
export function assertConforms(exchanged: Exchanged): void {
  shared ??= new Conformance(openApiDocument(builtInOperations()))
  const fault = shared.fault(exchanged)
  const { method, target, status, body } = exchanged
  if (fault === null) return void compared.add(`${shared.operationOf(exchanged)} ${status}`)
  throw new Error(`OpenAPI: ${method} ${target} answered ${status}: ${fault}\n${body}`)
}

/** As `fetch`, for a test that takes no client of its own. @throws as `assertConforms` */
export async function fetchConforming(url: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, init)
  const { status, headers } = response
  const { pathname, search } = new URL(url)
  const body = await response.clone().text()
  const method = init.method ?? 'GET'
  assertConforms({ method, target: pathname + search, status, headers: Object.fromEntries(headers), body })
  return response
}

/** With `additionalProperties: false` at each object that names its members, and `#/components/schemas/X` as `X`. */
function closed(schema: unknown): unknown {
  return withoutPointers(
    mappedObjects(schema, (each) => {
      const isObject = each['type'] === 'object' && 'properties' in each && !('additionalProperties' in each)
      return isObject ? { ...each, additionalProperties: false } : each
    }),
  )
}

function withoutPointers(schema: unknown): unknown {
  return mappedObjects(schema, (each) => {
    const { $ref } = each
    return typeof $ref === 'string' ? { ...each, $ref: $ref.replace('#/components/schemas/', '') } : each
  })
}

function mappedObjects(value: unknown, change: (object: Json) => Json): unknown {
  if (Array.isArray(value)) return value.map((each) => mappedObjects(each, change))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, each]) => [name, mappedObjects(each, change)])
  return change(Object.fromEntries(members))
}

function mapOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {}
}
