/**
 * Access to the values of one map of a document. A value that a parser refuses becomes a fault at its place.
 */

import type { Place } from '../model/route.ts'
import type { WarningCode } from './faults.ts'
import { isVariable, variablesIn } from './environment.ts'
import { InvalidValue, quote, Undetermined, type ValueParser } from './invalid-value.ts'
import type { Data, Document, Spot, Value } from './positioned-document.ts'

/** The place of a setting, for messages about faults that appear only when the setting is used. */
export type SettingSource = ReturnType<Section['source']>

export class Section {
  /** The base of relative paths in the file. */
  readonly folder: string
  readonly #document: Document
  readonly #data: Data
  /** The prefix of the names of the keys, such as `tenants.acme.`; '' for the whole file. */
  readonly #path: string
  /** The offset of the map in the text. */
  readonly #offset: number

  constructor(document: Document, data: Data, folder = '', path = '', offset = 0) {
    this.#document = document
    this.#data = data
    this.folder = folder
    this.#path = path
    this.#offset = offset
  }

  get place(): Place {
    return this.#document.place(this.#offset)
  }

  has(key: string): boolean {
    return key in this.#data
  }

  /** The value; undefined: it is absent, or its fault is reported. */
  value(key: string): Value | undefined {
    return this.#validValue(this.#data, key)
  }

  /** @returns undefined if the value is absent or has a fault */
  text<T>(key: string, read: ValueParser<T>): T | undefined {
    return this.#read(this.#data, key, key, read)
  }

  /** The values of a list of strings, without those that have a fault; empty if the list is absent. */
  texts<T>(key: string, read: ValueParser<T>): T[] {
    const list = this.value(key)
    if (!Array.isArray(list)) return []
    return list.flatMap((_, index) => {
      const item = this.#read(list, String(index), `${key}[${index}]`, read)
      return item === undefined ? [] : [item]
    })
  }

  /** The number, whose type and bounds the validator checks; undefined: it is absent or has a fault. */
  number(key: string): number | undefined {
    const value = this.value(key)
    return typeof value === 'number' ? value : undefined
  }

  flag(key: string): boolean {
    return this.value(key) === true
  }

  /** The map under a key; empty if it is absent or not a map. */
  section(key: string): Section {
    const value = this.value(key)
    const data: Data =
      value !== null && typeof value === 'object' && !Array.isArray(value) ? value : Object.create(null)
    const offset = this.#document.spot(this.#data, key)?.value ?? 0
    return new Section(this.#document, data, this.folder, `${this.#path}${key}.`, offset)
  }

  /** The maps of a list. The faults of other elements are reported already. */
  sections(key: string): Section[] {
    const list = this.value(key)
    if (!Array.isArray(list)) return []
    return list.flatMap((item, index) => {
      if (item === null || typeof item !== 'object' || Array.isArray(item)) return []
      const offset = this.#document.spot(list, String(index))?.value ?? 0
      return [new Section(this.#document, item, this.folder, `${this.#path}${key}[${index}].`, offset)]
    })
  }

  keys(): string[] {
    return Object.keys(this.#data)
  }

  /** Reports a fault at the value of the key. */
  fault(key: string, message: string): void {
    const spot = this.#document.spot(this.#data, key)
    if (spot !== undefined) spot.faulty = true
    this.#document.fault(spot?.value ?? 0, message)
  }

  /** Reports a warning at the value of the key. */
  warn(key: string, code: WarningCode, message: string): void {
    this.#document.warning(this.#document.spot(this.#data, key)?.value ?? 0, code, message)
  }

  /**
   * Warns of secrets that the file itself contains, and of secrets that other programs may read differently:
   * the value, or the elements of the list. No message contains a secret.
   */
  warnOfSecrets(key: string): void {
    const value = this.value(key)
    const [container, keys] = Array.isArray(value)
      ? [value, value.map((_, index) => String(index))]
      : [this.#data, typeof value === 'string' ? [key] : []]
    for (const each of keys) {
      const spot = this.#document.spot(container, each)
      if (spot === undefined || spot.faulty) continue
      const literal = `${key}: a secret stands in this file: take it from a variable, as \${NAME}`
      if (spot.written === null) this.#document.warning(spot.value, 'secret_literal', literal)
      const wrapping = wrappingOf(String(Array.isArray(value) ? value[Number(each)] : value))
      if (wrapping === null) continue
      const [has, it] = wrapping
      const message = `${key}: the secret ${has} as part of it here: remove ${it}, or check that the other programs with this secret keep ${it}`
      this.#document.warning(spot.value, 'secret_wrapped', message)
    }
  }

  /** Reports a fault at the map itself. */
  faultAtMap(message: string): void {
    this.#document.fault(this.#offset, message)
  }

  /** Reports a fault at the key itself. */
  faultAtKey(key: string, message: string): void {
    this.#document.fault(this.offsetOf(key), message)
  }

  /** The offset of the key in the text. */
  offsetOf(key: string): number {
    return this.#document.spot(this.#data, key)?.key ?? 0
  }

  /** The place of a setting. */
  source(key: string) {
    return this.#sourceOf(this.#data, key, key)
  }

  /** The places of the elements of a list. */
  sources(key: string): SettingSource[] {
    const list = this.value(key)
    if (!Array.isArray(list)) return []
    return list.map((_, index) => this.#sourceOf(list, String(index), `${key}[${index}]`))
  }

  #sourceOf(container: Data | Value[], key: string, label: string) {
    const spot = this.#document.spot(container, key)
    const written = spot?.written ?? ''
    return Object.freeze({
      /** The name with its path, such as `limits.connections`. */
      key: this.#path + label,
      /** The place of the value; for a setting that is left out, the beginning of the file. */
      place: this.#document.place(spot?.value ?? 0),
      isDefault: spot === undefined,
      /**
       * The names of the environment variables in the value. Their values may be secrets, and are left out.
       */
      variables: Object.freeze(variablesIn(written)),
      /** Whether the value is one variable and nothing else. */
      isVariable: isVariable(written),
    })
  }

  #validValue(container: Data | Value[], key: string): Value | undefined {
    if (this.#document.spot(container, key)?.faulty !== false) return undefined
    return (container as Data)[key]
  }

  #read<T>(container: Data | Value[], key: string, label: string, read: ValueParser<T>): T | undefined {
    const value = this.#validValue(container, key)
    const spot = this.#document.spot(container, key)
    if (typeof value !== 'string' || spot === undefined) return undefined
    const result = read(value)
    if (!(result instanceof InvalidValue)) return result
    spot.faulty = true
    if (!this.#document.anywhere || !(result instanceof Undetermined))
      this.#document.fault(
        spot.value,
        `${label}: ${displayValue(result, value, spot)} ${result.message}${correctionOf(result, spot)}`,
      )
    return undefined
  }
}

/** The correction contains parts of the value, so it is not shown for the value of a variable. */
function correctionOf(invalid: InvalidValue, spot: Spot): string {
  return invalid.confidential || spot.written !== null ? '' : invalid.correction
}

/**
 * The value as it is in the file. The value of a variable is never shown, because a wrong variable may
 * contain a secret.
 */
function displayValue(invalid: InvalidValue, value: string, spot: Spot): string {
  return invalid.confidential ? 'the value' : quote(spot.written ?? value)
}

/** Characters around or inside a secret that may not be intended as a part of it; null: none. */
function wrappingOf(secret: string): readonly [has: string, it: 'it' | 'them'] | null {
  if (/^\s|\s$/.test(secret)) return ['begins or ends with white space, which counts', 'it']
  if (/^(["'`]).*\1$/s.test(secret)) return ['is in quotes, which count', 'them']
  // oxlint-disable-next-line no-control-regex -- it looks for them
  return /[\0-\x1f\x7f]/.test(secret) ? ['has a control character, which counts', 'it'] : null
}
