/** The treatment of a header field by its name. */

import { type FieldName, fieldName } from '../http/wire/field-name.ts'
import type { FieldTable } from '../http/wire/field-table.ts'

/** Characters of a name that are folded in one step: the regular expression is ten times as slow. */
const MAX_SHORT = 64

/** The name as the most lenient reader sees it; see `field-name.ts`. */
export function foldName(name: string): string {
  if (name.length > MAX_SHORT) return foldLong(name)
  return name.toLowerCase().replace(/[^a-z0-9]/g, '-')
}

function foldLong(name: string): string {
  const bytes = Buffer.from(name.toLowerCase(), 'latin1')
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0
    if (!(byte >= 0x61 && byte <= 0x7a) && !(byte >= 0x30 && byte <= 0x39)) bytes[i] = 0x2d
  }
  return bytes.toString('latin1')
}

/** The treatments of a name and of its other spellings, such as `x_api_key` for `x-api-key`. */
export interface Treatments<Treatment> {
  readonly exact: Treatment
  readonly other: Treatment
}

interface Rule<Treatment> extends Treatments<Treatment> {
  readonly name: FieldName
}

/** A rule for all names that equal the prefix or begin with it and `-`. */
interface PrefixRule<Treatment> extends Treatments<Treatment> {
  readonly prefix: string
}

export class HeaderRules<Treatment> {
  /** The rules by the hash of the name. */
  readonly #rules = new Map<number, Rule<Treatment>[]>()
  readonly #prefixes: readonly PrefixRule<Treatment>[]
  readonly #unlisted: Treatment

  /**
   * @param names folded, with their treatments
   * @param unlisted the treatment of all other names
   */
  constructor(
    names: ReadonlyMap<string, Treatments<Treatment>>,
    prefixes: readonly PrefixRule<Treatment>[],
    unlisted: Treatment,
  ) {
    for (const [folded, treatments] of names) {
      const name = fieldName(folded)
      this.#rules.set(name.hash, [...(this.#rules.get(name.hash) ?? []), { name, ...treatments }])
    }
    this.#prefixes = prefixes
    this.#unlisted = unlisted
  }

  treatment(fields: FieldTable, i: number): Treatment {
    const rules = this.#rules.get(fields.hash(i))
    if (rules !== undefined)
      for (const { name, exact, other } of rules)
        if (fields.isSpelling(i, name)) return fields.isOdd(i) ? other : exact
    for (const { prefix, exact, other } of this.#prefixes)
      if (fields.hasPrefix(i, prefix)) return fields.isOdd(i) ? other : exact
    return this.#unlisted
  }
}

/**
 * Adds the names in a Connection line (RFC 9110, section 7.6.1), folded, to the names of earlier lines. Null
 * while there are only `close` and `keep-alive`, as nearly always. The parser bounds the list.
 */
export function connectionNames(value: string, before: Set<string> | null): Set<string> | null {
  if (value === 'keep-alive' || value === 'close') return before
  let names = before
  for (const option of value.split(',')) {
    const name = foldName(option.trim())
    if (name === '' || name === 'close' || name === 'keep-alive') continue
    names ??= new Set()
    names.add(name)
  }
  return names
}
