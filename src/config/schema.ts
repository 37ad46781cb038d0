/** The JSON Schemas of the configuration. They are the only source of default values. */

import type { JsonSchema } from '../../seats-admin/model/json-schema.ts'
import gatewaySchema from './gateway.schema.json' with { type: 'json' }

/** The schema of a whole file. */
export interface FileSchema extends JsonSchema {
  readonly $schema: string
  readonly required: readonly string[]
}

export interface Schema extends JsonSchema {
  readonly $ref?: string
}

export const schemas = { gateway: gatewaySchema } as const

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

/** The schema of the value at a path of keys and indexes. */
export function schemaAt(whole: Schema, path: readonly string[]): Schema {
  let schema = whole
  for (const key of path) {
    const container = resolved(schema)
    schema = container.items ?? valueSchema(container, key)
  }
  return schema
}

/** What the schema refers to, or itself. */
export function resolved(schema: Schema): Schema {
  return definitions.get(schema.$ref ?? '') ?? schema
}
