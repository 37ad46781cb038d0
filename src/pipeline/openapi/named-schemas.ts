/** Moves schemas with a title to `components/schemas`, and leaves references in their places. */

import type { JsonSchema } from '../../../seats-admin/model/json-schema.ts'

/** A schema with references. */
type ReferringSchema = { readonly $ref: string } | Readonly<Record<string, unknown>>

export class NamedSchemas {
  readonly #originals = new Map<string, JsonSchema>()
  readonly #byName = new Map<string, ReferringSchema>()

  /** @throws where two different schemas have the same title */
  refer(schema: JsonSchema): ReferringSchema {
    const { title } = schema
    if (title === undefined) return this.#within(schema)
    const original = this.#originals.get(title)
    if (original === undefined) {
      this.#originals.set(title, schema)
      this.#byName.set(title, this.#within(schema))
    } else if (original !== schema) throw new Error(`two schemas have the title ${title}`)
    return { $ref: `#/components/schemas/${title}` }
  }

  /** The schemas in order of their names. */
  components(): Record<string, ReferringSchema> {
    return Object.fromEntries([...this.#byName].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }

  #within(schema: JsonSchema): ReferringSchema {
    const { items, properties, additionalProperties: others, anyOf } = schema
    const referring = ([name, each]: [string, JsonSchema]) => [name, this.refer(each)]
    return {
      ...schema,
      ...(items === undefined ? {} : { items: this.refer(items) }),
      ...(properties === undefined
        ? {}
        : { properties: Object.fromEntries(Object.entries(properties).map(referring)) }),
      ...(typeof others === 'object' ? { additionalProperties: this.refer(others) } : {}),
      ...(anyOf === undefined ? {} : { anyOf: anyOf.map((each) => this.refer(each)) }),
    }
  }
}
