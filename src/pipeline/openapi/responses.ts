/** The responses of operations: answers, and refusals by status. Operations share equal refusals. */

import type { JsonSchema } from '../../../seats-admin/model/json-schema.ts'
import { STATUS_CODES } from '../../lib/node-http.ts'
import { type ErrorCode, errors } from '../../model/errors.ts'
import { type Header, problem } from './components.ts'
import type { NamedSchemas } from './named-schemas.ts'
import { codesOf, type Operation } from './operation.ts'

interface Response {
  readonly description: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly content?: Readonly<Record<string, unknown>>
}

const MORE_HEADERS: Readonly<Record<number, readonly Header[]>> = {
  401: ['WWW-Authenticate'],
  503: ['Retry-After'],
}

const HTML = { 'text/html': { schema: { type: 'string' } } }

export class Responses {
  readonly #schemas: NamedSchemas
  /** Its content → the name of a refusal. */
  readonly #names = new Map<string, string>()
  readonly #refusals: Record<string, Response> = {}

  constructor(schemas: NamedSchemas) {
    this.#schemas = schemas
  }

  /** The responses by status. */
  of(operation: Operation): Record<string, Response | { readonly $ref: string }> {
    const { answers, pages = false } = operation
    const own = Object.entries(answers).map(([status, schema]) => [
      status,
      this.#answer(+status, schema, operation),
    ])
    const byStatus = Map.groupBy(codesOf(operation), (code) => errors[code].status)
    const refusals = [...byStatus].map(([status, codes]) => {
      const refused = this.#refusal(status, codes, pages)
      const answer = answers[status]
      return [status, answer === undefined ? this.#shared(status, refused) : this.#both(refused, answer)]
    })
    return Object.fromEntries([...own, ...refusals])
  }

  /** Those that operations refer to. */
  components(): Record<string, Response> {
    return this.#refusals
  }

  #answer(status: number, schema: JsonSchema | null, operation: Operation): Response {
    const { events, page, tagged = false } = operation
    const isRedirect = status >= 300 && status < 400
    const hasTag = tagged && status === 200
    return {
      description: schema?.description ?? `${STATUS_CODES[status]}.`,
      headers: headersOf([
        ...(isRedirect ? (['Location'] as const) : []),
        ...(hasTag ? (['ETag'] as const) : []),
      ]),
      ...(schema === null
        ? {}
        : {
            content: {
              ...this.#json(schema),
              ...eventContent(status, events),
              ...(page === status ? HTML : {}),
            },
          }),
    }
  }

  #json(schema: JsonSchema) {
    return { 'application/json': { schema: this.#schemas.refer(schema) } }
  }

  #refusal(status: number, codes: readonly ErrorCode[], pages: boolean): Response {
    const narrowed = { properties: { status: { const: status }, code: { enum: codes } } }
    return {
      description: codes.map((code) => `\`${code}\`: ${errors[code].title}.`).join('\n\n'),
      headers: headersOf(MORE_HEADERS[status] ?? []),
      content: {
        'application/problem+json': { schema: { allOf: [this.#schemas.refer(problem), narrowed] } },
        ...(pages ? HTML : {}),
      },
    }
  }

  /** An answer of the same status as refusals. */
  #both(refused: Response, schema: JsonSchema | null): Response {
    return schema === null ? refused : { ...refused, content: { ...this.#json(schema), ...refused.content } }
  }

  #shared(status: number, response: Response): { readonly $ref: string } {
    const key = JSON.stringify(response)
    let name = this.#names.get(key)
    if (name === undefined) {
      name = this.#freeName((STATUS_CODES[status] ?? '').replaceAll(/\W/g, ''))
      this.#names.set(key, name)
      this.#refusals[name] = response
    }
    return { $ref: `#/components/responses/${name}` }
  }

  #freeName(name: string): string {
    for (let number = 1; ; number++) {
      const free = number === 1 ? name : `${name}${number}`
      if (!(free in this.#refusals)) return free
    }
  }
}

/** @param events what they mean */
function eventContent(status: number, events: string | undefined): Readonly<Record<string, unknown>> {
  if (status !== 200 || events === undefined) return {}
  return { 'text/event-stream': { schema: { type: 'string', description: events } } }
}

function headersOf(names: readonly Header[]): Record<string, unknown> {
  const all: readonly Header[] = ['X-Request-Id', ...names]
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
