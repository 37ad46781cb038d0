/** The JSON Schemas of the configuration as plain data, references resolved. */

import gateway from '../../src/config/gateway.schema.json' with { type: 'json' }
import routes from '../../src/config/routes.schema.json' with { type: 'json' }

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
