/** The JSON Schemas of the configuration. They are the only source of default values. */

import gatewaySchema from './gateway.schema.json' with { type: 'json' }
import policySchema from './policy.schema.json' with { type: 'json' }
import routesSchema from './routes.schema.json' with { type: 'json' }
import seatsSchema from './seats.schema.json' with { type: 'json' }
import type { Value } from './positioned-document.ts'

/** The keywords of JSON Schema (draft 7) that this file reads. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  /** A secret, or a text with one. */
  readonly writeOnly?: boolean
  readonly default?: Value
  readonly examples?: readonly unknown[]
}

export const schemas = {
  gateway: gatewaySchema,
  routes: routesSchema,
  seats: seatsSchema,
  policy: policySchema,
} as const
export type SchemaName = keyof typeof schemas

/** By reference. The names of the schemas differ. */
const definitions = new Map<string, Schema>(
  Object.values(schemas).flatMap((schema) =>
    Object.entries(schema.definitions).map(([name, each]) => [`#/definitions/${name}`, each as Schema]),
  ),
)

/** The schema of the value under a key of a map. */
export function valueSchema({ properties, additionalProperties }: Schema, key: string): Schema {
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key] ?? {}
  return typeof additionalProperties === 'object' ? additionalProperties : {}
}

/** The schema of the value at a path of keys and indexes, with the default and the examples of that value itself. */
export function schemaAt(kind: SchemaName, path: readonly string[]): Schema {
  let found: Schema = schemas[kind] as Schema
  for (const key of path) {
    const container = resolved(found)
    found = container.items ?? valueSchema(container, key)
  }
  return found
}

/** What the schema refers to, or itself. */
export function resolved(schema: Schema): Schema {
  return definitions.get(schema.$ref ?? '') ?? schema
}
