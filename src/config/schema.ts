/** The JSON Schemas of the configuration. They are the only source of default values. */

import gatewaySchema from './gateway.schema.json' with { type: 'json' }
import routesSchema from './routes.schema.json' with { type: 'json' }
import type { Value } from './positioned-document.ts'

/** The keywords of JSON Schema (draft 7) that this file reads. */
interface Schema {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly definitions?: Readonly<Record<string, Schema>>
  readonly default?: Value
}

export const schemas = { gateway: gatewaySchema, routes: routesSchema } as const
export type SchemaName = keyof typeof schemas

const REFERENCE = '#/definitions/'

/** The schema of one map of a document. */
export class MapSchema {
  readonly #root: Schema
  readonly #map: Schema

  static of(name: SchemaName): MapSchema {
    const root = schemas[name] as Schema
    return new MapSchema(root, root)
  }

  private constructor(root: Schema, map: Schema) {
    this.#root = root
    this.#map = map
  }

  /** The schema of the map under a key. */
  map(key: string): MapSchema {
    const value = this.#valueOf(key)
    const reference = value.$ref?.startsWith(REFERENCE) === true ? value.$ref.slice(REFERENCE.length) : null
    const map = reference === null ? value : this.#root.definitions?.[reference]
    return new MapSchema(this.#root, map ?? {})
  }

  /** The default value of a key; undefined when it has none. */
  default(key: string): Value | undefined {
    return this.#valueOf(key).default
  }

  #valueOf(key: string): Schema {
    const { properties, additionalProperties } = this.#map
    if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key] ?? {}
    return typeof additionalProperties === 'object' ? additionalProperties : {}
  }
}
