/** The JSON Schemas of the configuration: as plain data, references resolved, and as files for editors. */

import { fileURLToPath } from 'node:url'
import gateway from '../../src/config/gateway.schema.json' with { type: 'json' }
import routes from '../../src/config/routes.schema.json' with { type: 'json' }
import { policyFile } from '../../src/config/policy-file.ts'
import { seatsFile } from '../../src/config/seats-file.ts'

/** The keywords that the two schemas use. */
export interface Schema {
  readonly $ref?: string
  readonly description?: string
  readonly type?: string | readonly string[]
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: Schema
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly definitions?: Readonly<Record<string, Schema>>
}

/** The path of each file, and its text. */
export const editorSchemas = Object.entries({ policy: policyFile, seats: seatsFile }).map(
  ([name, { schema }]) =>
    [
      fileURLToPath(new URL(`../../src/config/${name}.schema.json`, import.meta.url)),
      `${JSON.stringify(schema, null, 2)}\n`,
    ] as const,
)

export const gatewaySchema: Schema = gateway
export const routesSchema: Schema = routes

/** The name of a `$ref` into `definitions`; null without one. */
export function referenceOf({ $ref }: Schema): string | null {
  return $ref?.replace('#/definitions/', '') ?? null
}

/** The schema with what it refers to; its own keywords win. */
export function resolved(schema: Schema, root: Schema): Schema {
  const name = referenceOf(schema)
  return name === null ? schema : { ...root.definitions?.[name], ...schema }
}
