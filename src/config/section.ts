/** One map of a document, read setting by setting; what can't be read becomes a fault at its place. */

import { InvalidValue, quote, type Read } from './invalid-value.ts'
import type { Data, Document, Spot, Value } from './document.ts'

export class Section {
  readonly #document: Document
  readonly #data: Data

  constructor(document: Document, data: Data) {
    this.#document = document
    this.#data = data
  }

  has(key: string): boolean {
    return key in this.#data
  }

  /** The value as parsed; undefined when it is left out or was reported already. */
  value(key: string): Value | undefined {
    return this.#sound(this.#data, key)
  }

  /** @returns undefined when it is left out or faulty */
  text<T>(key: string, read: Read<T>): T | undefined {
    return this.#read(this.#data, key, key, read)
  }

  /** A list of texts, without the faulty ones; empty when it is left out. */
  texts<T>(key: string, read: Read<T>): T[] {
    const list = this.value(key)
    if (!Array.isArray(list)) return []
    return list.flatMap((_, index) => {
      const item = this.#read(list, String(index), `${key}[${index}]`, read)
      return item === undefined ? [] : [item]
    })
  }

  /** As the schema has it. */
  number(key: string): number | undefined {
    const value = this.value(key)
    return typeof value === 'number' ? value : undefined
  }

  flag(key: string): boolean {
    return this.value(key) === true
  }

  /** The map under a key; an empty one when it is left out or no map. */
  section(key: string): Section {
    const value = this.value(key)
    const data: Data =
      value !== null && typeof value === 'object' && !Array.isArray(value) ? value : Object.create(null)
    return new Section(this.#document, data)
  }

  keys(): string[] {
    return Object.keys(this.#data)
  }

  /** About the value of a key, or the whole list. */
  fault(key: string, message: string): void {
    const spot = this.#document.spot(this.#data, key)
    if (spot !== undefined) spot.faulty = true
    this.#document.fault(spot?.value ?? 0, message)
  }

  faultOfKey(key: string, message: string): void {
    this.#document.fault(this.offsetOf(key), message)
  }

  /** Where the key stands. */
  offsetOf(key: string): number {
    return this.#document.spot(this.#data, key)?.key ?? 0
  }

  #sound(container: Data | Value[], key: string): Value | undefined {
    if (this.#document.spot(container, key)?.faulty !== false) return undefined
    return (container as Data)[key]
  }

  #read<T>(container: Data | Value[], key: string, label: string, read: Read<T>): T | undefined {
    const value = this.#sound(container, key)
    const spot = this.#document.spot(container, key)
    if (typeof value !== 'string' || spot === undefined) return undefined
    const result = read(value)
    if (!(result instanceof InvalidValue)) return result
    spot.faulty = true
    this.#document.fault(spot.value, `${label}: ${subject(result, value, spot)} ${result.message}`)
    return undefined
  }
}

/** The value as the file has it. What a variable gave is never shown: the wrong one may hold a secret. */
function subject(complaint: InvalidValue, value: string, spot: Spot): string {
  return complaint.confidential ? 'the value' : quote(spot.written ?? value)
}
