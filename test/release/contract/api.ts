/** Compares the OpenAPI documents of two versions. */

import { type Break, type ContractSchema, SchemaComparison } from './schemas.ts'

type Members<V> = Readonly<Record<string, V>>
type Content = Members<{ readonly schema: ContractSchema } | undefined>

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: ContractSchema
}

interface Response {
  readonly headers?: Members<unknown>
  readonly content?: Content
}

interface Reference {
  readonly $ref: string
}

export interface Operation {
  readonly operationId: string
  readonly 'x-seatgate-permission': string
  readonly security?: readonly unknown[]
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Members<Response | Reference>
}

export interface Api {
  readonly paths: Members<Members<Operation>>
  readonly components: Members<Members<unknown>>
}

export function compareApis(before: Api, after: Api): Break[] {
  return new ApiComparison(before, after).compare()
}

class ApiComparison {
  readonly #before: Api
  readonly #after: Api
  readonly #input: SchemaComparison
  readonly #output: SchemaComparison

  constructor(before: Api, after: Api) {
    this.#before = before
    this.#after = after
    const resolvers = [before, after].map((api) => (schema: ContractSchema) => resolved(api, schema))
    this.#input = new SchemaComparison('input', ...resolvers)
    this.#output = new SchemaComparison('output', ...resolvers)
  }

  compare(): Break[] {
    return Object.entries(this.#before.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]) => {
        const name = `api: ${method.toUpperCase()} ${path}`
        const now = this.#after.paths[path]?.[method]
        return now === undefined ? gone(name) : this.#operation(name, operation, now)
      }),
    )
  }

  #operation(name: string, before: Operation, after: Operation): Break[] {
    const same = (['operationId', 'x-seatgate-permission', 'security'] as const).flatMap((key) => {
      const [old, now] = [before, after].map((operation) => JSON.stringify(operation[key]) ?? 'none')
      return old === now ? [] : [{ name, what: `its ${key} ${old} is now ${now}` }]
    })
    return [
      ...same,
      ...this.#parameters(name, before, after),
      ...this.#body(`${name} body`, before.requestBody, after.requestBody),
      ...this.#responses(name, before.responses, after.responses),
    ]
  }

  #parameters(operation: string, before: Operation, after: Operation): Break[] {
    const named = (api: Api, { parameters = [] }: Operation) =>
      new Map(
        parameters
          .map((each) => resolved<Parameter>(api, each))
          .map((each) => [`${each.in} ${each.name}`, each]),
      )
    const [old, current] = [named(this.#before, before), named(this.#after, after)]
    const kept = [...old].flatMap(([key, parameter]) => {
      const now = current.get(key)
      const name = `${operation} ${key}`
      return now === undefined ? gone(name) : this.#input.compare(name, parameter.schema, now.schema)
    })
    const required = [...current].filter(
      ([key, each]) => each.required === true && old.get(key)?.required !== true,
    )
    return [...kept, ...required.map(([key]) => ({ name: `${operation} ${key}`, what: NOW_REQUIRED }))]
  }

  #body(name: string, before: Operation['requestBody'], after: Operation['requestBody']): Break[] {
    if (before === undefined) return after?.required === true ? [{ name, what: NOW_REQUIRED }] : []
    if (after === undefined) return gone(name)
    const required = after.required === true && before.required !== true ? [{ name, what: NOW_REQUIRED }] : []
    return [...required, ...contents(this.#input, name, before.content, after.content)]
  }

  #responses(operation: string, before: Operation['responses'], after: Operation['responses']): Break[] {
    return Object.entries(before).flatMap(([status, each]) => {
      const name = `${operation} ${status}`
      const now = after[status]
      if (now === undefined) return gone(name)
      const [old, current] = [resolved<Response>(this.#before, each), resolved<Response>(this.#after, now)]
      const headers = Object.keys(old.headers ?? {}).filter((header) => !(header in (current.headers ?? {})))
      return [
        ...headers.flatMap((header) => gone(`${name} ${header}`)),
        ...contents(this.#output, name, old.content ?? {}, current.content ?? {}),
      ]
    })
  }
}

const NOW_REQUIRED = 'it is required, which it was not'

function gone(name: string): Break[] {
  return [{ name, what: 'it is gone' }]
}

function contents(comparison: SchemaComparison, name: string, before: Content, after: Content): Break[] {
  return Object.entries(before).flatMap(([type, content]) => {
    const now = after[type]
    if (now === undefined) return gone(`${name} ${type}`)
    return comparison.compare(`${name}`, content?.schema ?? {}, now.schema)
  })
}

/** What a reference such as `#/components/schemas/Seat` refers to. */
function resolved<T extends object>(api: Api, object: T | Reference): T {
  if (!('$ref' in object)) return object
  const [, , kind = '', name = ''] = String(object.$ref).split('/')
  return api.components[kind]?.[name] as T
}
