/** The JSON Schemas of the configuration: as plain data, references resolved, and as files for editors. */

import { fileURLToPath } from 'node:url'
import type { JsonSchema } from '../../seats-admin/model/json-schema.ts'
import gateway from '../../src/config/gateway.schema.json' with { type: 'json' }
import { policyFile } from '../../src/config/policy-file.ts'
import { seatsFile } from '../../src/config/seats-file.ts'
import { routesFile } from '../../src/config/table-settings.ts'

export interface Schema extends JsonSchema {
  readonly $ref?: string
  readonly definitions?: Readonly<Record<string, Schema>>
}

/** The path of each file, and its text. */
export const editorSchemas = Object.entries({ policy: policyFile, routes: routesFile, seats: seatsFile }).map(
  ([name, { schema }]) =>
    [
      fileURLToPath(new URL(`../../src/config/${name}.schema.json`, import.meta.url)),
      `${JSON.stringify(schema, null, 2)}\n`,
    ] as const,
)

export const gatewaySchema = gateway as unknown as Schema
export const routesSchema = routesFile.schema

/** The name of a `$ref` into `definitions`; null without one. */
export function referenceOf({ $ref }: Schema): string | null {
  return $ref?.replace('#/definitions/', '') ?? null
}

/** The schema with what it refers to; its own keywords win. */
export function resolved(schema: Schema, root: Schema): Schema {
  const name = referenceOf(schema)
  return name === null ? schema : { ...root.definitions?.[name], ...schema }
}
