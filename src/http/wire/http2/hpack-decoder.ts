/** Decodes field blocks of HTTP/2 (RFC 7541), strictly and with bounded work and memory. */

import { BlockReader } from './block-reader.ts'
import { DynamicTable, ENTRY_OVERHEAD, INITIAL_TABLE_BYTES } from './dynamic-table.ts'
import { HpackError } from './http2-errors.ts'
import { STATIC_ENTRIES, STATIC_NAMES, STATIC_VALUES } from './static-table.ts'

/** An update to the lowest size in between, and one to the last size (RFC 7541, section 4.2). */
const MAX_UPDATES = 2

/** Representations (RFC 7541, section 6), by the highest bit that is set in their first byte. */
const INDEXED = 0x80
const INDEXING = 0x40
const SIZE_UPDATE = 0x20
const UPDATE_BITS = 0xe0
const UPDATE_MASK = 0x1f
/** The bits of the index. A literal with 0x10, which forbids indexing, is decoded like any other. */
const LITERAL_MASK = 0x0f

interface FieldListLimits {
  /** The bytes of names and values, and 32 more for each field (RFC 9113, section 10.5.1). */
  readonly maxBytes: number
  readonly maxFields: number
}

/**
 * @param name
 * @param value latin1, as received: neither is validated
 */
type FieldListener = (name: string, value: string) => void

export class HpackDecoder {
  readonly #table = new DynamicTable(INITIAL_TABLE_BYTES)
  readonly #reader = new BlockReader()
  #maxBytes = 0
  #maxFields = 0
  /** The list so far. */
  #bytes = 0
  #fields = 0
  #within = true

  /**
   * Decodes a complete field block. Fields are passed on in order until the list exceeds a limit; the rest is
   * still decoded to keep the dynamic table in step.
   *
   * Throws an HpackError if the block is malformed. The decoder is of no use afterwards.
   *
   * @param field may not throw
   * @returns whether the list is within the limits
   */
  decode(block: Buffer, { maxBytes, maxFields }: FieldListLimits, field: FieldListener): boolean {
    this.#maxBytes = maxBytes
    this.#maxFields = maxFields
    this.#bytes = 0
    this.#fields = 0
    this.#within = true
    const reader = this.#reader
    reader.begin(block)
    this.#updateSizes(reader)
    while (!reader.done) {
      const first = reader.byte()
      if (first >= INDEXED) this.#indexed(reader.integer(first & 0x7f, 0x7f), field)
      else if (first >= INDEXING) this.#indexing(reader.integer(first & 0x3f, 0x3f), field)
      else if (first >= SIZE_UPDATE) throw new HpackError('The table size is updated after a field.')
      else this.#literal(reader.integer(first & LITERAL_MASK, LITERAL_MASK), field)
    }
    reader.end()
    return this.#within
  }

  #updateSizes(reader: BlockReader): void {
    let updates = 0
    while ((reader.peek & UPDATE_BITS) === SIZE_UPDATE) {
      if (++updates > MAX_UPDATES) throw new HpackError('The table size is updated more than twice.')
      const size = reader.integer(reader.byte() & UPDATE_MASK, UPDATE_MASK)
      // Our SETTINGS leave the initial size.
      if (size > INITIAL_TABLE_BYTES) throw new HpackError('The table size exceeds the announced one.')
      this.#table.resize(size)
    }
  }

  #indexed(index: number, field: FieldListener): void {
    const name = this.#name(index)
    if (!this.#within) return
    const value =
      index <= STATIC_ENTRIES ? (STATIC_VALUES[index] ?? '') : this.#table.value(index - STATIC_ENTRIES - 1)
    this.#pass(name, value, field)
  }

  #indexing(index: number, field: FieldListener): void {
    // A longer string fits neither the list nor the table.
    const longest = Math.max(this.#within ? this.#maxBytes : 0, this.#table.maxBytes)
    const name = index === 0 ? this.#reader.string(longest) : this.#name(index)
    const value = this.#reader.string(longest)
    if (name === null || value === null) {
      this.#within = false
      this.#table.clear()
      return
    }
    this.#table.add(name, value)
    this.#pass(name, value, field)
  }

  #literal(index: number, field: FieldListener): void {
    const longest = this.#within ? this.#maxBytes : 0
    const name = index === 0 ? this.#reader.string(longest) : this.#name(index)
    const value = this.#reader.string(longest)
    if (name === null || value === null) this.#within = false
    else this.#pass(name, value, field)
  }

  #name(index: number): string {
    if (index > STATIC_ENTRIES + this.#table.count || index === 0)
      throw new HpackError('An index is out of range.')
    return index <= STATIC_ENTRIES
      ? (STATIC_NAMES[index] ?? '')
      : this.#table.name(index - STATIC_ENTRIES - 1)
  }

  /** Passes the field on unless the list exceeds a limit. */
  #pass(name: string, value: string, field: FieldListener): void {
    this.#bytes += name.length + value.length + ENTRY_OVERHEAD
    this.#fields++
    if (this.#bytes > this.#maxBytes || this.#fields > this.#maxFields) this.#within = false
    if (this.#within) field(name, value)
  }
}
