/** The JSON Schema of a file, and the schemas of the values in it. */

import type { JsonSchema } from '../../seats-admin/model/json-schema.ts'

/** The schema of a whole file. */
export interface FileSchema extends JsonSchema {
  readonly $schema: string
  readonly required: readonly string[]
}

/** The schema of the value at a path of keys and indexes. */
export function schemaAt(whole: JsonSchema, path: readonly string[]): JsonSchema {
  return path.reduce((container, key) => container.items ?? valueSchema(container, key), whole)
}

function valueSchema({ properties, additionalProperties }: JsonSchema, key: string): JsonSchema {
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key] ?? {}
  return typeof additionalProperties === 'object' ? additionalProperties : {}
}
