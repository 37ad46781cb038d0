/** `attributes` and `excludedAttributes`: which parts of a resource an answer has (RFC 7644, section 3.9). */

import type { Json, JsonObject } from '../model/canonical-json.ts'
import { ENTERPRISE_URN } from './scim-attributes.ts'
import { isInput } from './scim-values.ts'

/** Attributes of every answer (RFC 7643, section 7, `returned`). */
const ALWAYS: ReadonlySet<string> = new Set(['schemas', 'id'])

/** Attribute → the names of its members, both in lower case; null: the whole attribute. */
type Names = ReadonlyMap<string, ReadonlySet<string> | null>

export class Projection {
  readonly #names: Names | null
  readonly #excludes: boolean

  private constructor(names: Names | null, excludes: boolean) {
    this.#names = names
    this.#excludes = excludes
  }

  static readonly whole = new Projection(null, false)

  /** @param urn of the schema of the resource, with which names may begin */
  static of(attributes: string | null, excluded: string | null, urn: string): Projection {
    if (attributes !== null) return new Projection(namesIn(attributes, urn), false)
    return excluded === null ? Projection.whole : new Projection(namesIn(excluded, urn), true)
  }

  get isWhole(): boolean {
    return this.#names === null
  }

  /** Whether an answer may have the attribute. */
  has(name: string): boolean {
    if (this.#names === null) return true
    const members = this.#names.get(name.toLowerCase())
    return this.#excludes ? members !== null : members !== undefined
  }

  applied(resource: JsonObject): JsonObject {
    if (this.#names === null) return resource
    const entries = Object.entries(resource).flatMap(([name, value]): [string, Json][] => {
      if (ALWAYS.has(name)) return [[name, value]]
      if (!this.has(name)) return []
      const members = this.#names?.get(name.toLowerCase()) ?? null
      return [[name, members === null ? value : this.#part(value, members)]]
    })
    return Object.fromEntries(entries)
  }

  #part(value: Json, members: ReadonlySet<string>): Json {
    if (Array.isArray(value)) return value.map((each: Json) => this.#part(each, members))
    if (!isInput(value)) return value
    const kept = Object.entries(value as JsonObject).filter(
      ([name]) => members.has(name.toLowerCase()) !== this.#excludes,
    )
    return Object.fromEntries(kept)
  }
}

function namesIn(list: string, urn: string): Names {
  const names = new Map<string, Set<string> | null>()
  for (const each of list.split(',')) {
    const [name, member] = partsOf(each.trim().toLowerCase(), urn.toLowerCase())
    const members = names.get(name)
    if (member === undefined || members === null) names.set(name, null)
    else names.set(name, (members ?? new Set()).add(member))
  }
  return names
}

/** An attribute of the extension is a member of it. */
function partsOf(name: string, urn: string): readonly [string, string?] {
  const enterprise = ENTERPRISE_URN.toLowerCase()
  if (name === enterprise) return [name]
  if (name.startsWith(`${enterprise}:`))
    return [enterprise, name.slice(enterprise.length + 1).split('.', 1)[0] ?? '']
  const [first = '', second] = (name.startsWith(`${urn}:`) ? name.slice(urn.length + 1) : name).split('.')
  return second === undefined ? [first] : [first, second]
}
