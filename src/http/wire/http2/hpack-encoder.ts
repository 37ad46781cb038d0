/**
 * Encodes field blocks of HTTP/2 (RFC 7541) by the static table. There is no dynamic table: no field leaves a trace in
 * the length of a later block, and no secret stays in the memory of a connection.
 */

import { BlockWriter } from './field-block-writer.ts'
import { INITIAL_TABLE_BYTES } from './dynamic-table.ts'
import { encodeLines } from './line-encoder.ts'
import { CREDENTIALS, INDEXED, JSON_OBJECT, LITERAL, NEVER_INDEXED, SIZE_UPDATE } from './representations.ts'
import { exactStaticIndex, staticIndex } from './static-table.ts'

/** Requests and responses: the static table has values of `:status` only up to this index, which most fields exceed. */
const LAST_WITH_VALUE = 16

export class HpackEncoder {
  readonly #writer = new BlockWriter()
  /** The peer has to be told the size of the table, 0, as it reduced the size that it had assumed. */
  #updateDue = false

  /** @param bytes the peer's SETTINGS_HEADER_TABLE_SIZE. The next block announces a reduction. */
  setTableSize(bytes: number): void {
    if (bytes < INITIAL_TABLE_BYTES) this.#updateDue = true
  }

  /** Starts a block, and drops one without an end. @param reserve bytes before the block that `end` leaves free */
  begin(reserve = 0): void {
    this.#writer.begin(reserve)
    if (!this.#updateDue) return
    this.#writer.integer(SIZE_UPDATE, 0x1f, 0)
    this.#updateDue = false
  }

  /**
   * Credentials are never indexed, as by {@link sensitiveField}. Throws a RangeError if the field is not latin1.
   *
   * @param name in lower case
   */
  field(name: string, value: string): void {
    const index = staticIndex(name)
    const exact = index !== 0 && index <= LAST_WITH_VALUE ? exactStaticIndex(index, value) : 0
    if (exact !== 0) this.#writer.integer(INDEXED, 0x7f, exact)
    else this.#literal(isSensitive(index, name, value) ? NEVER_INDEXED : LITERAL, index, name, value)
  }

  /** Adds fields that are lines of HTTP/1.1. @param lines as for {@link encodeLines} */
  lines(lines: string): void {
    encodeLines(this.#writer, lines)
  }

  /** A field that no intermediary may index (RFC 7541, section 7.1.3), as its value is secret. */
  sensitiveField(name: string, value: string): void {
    this.#literal(NEVER_INDEXED, staticIndex(name), name, value)
  }

  #literal(kind: number, index: number, name: string, value: string): void {
    this.#writer.integer(kind, 0x0f, index)
    if (index === 0) this.#writer.string(name)
    this.#writer.string(value)
  }

  /** The block, after the reserved bytes. It belongs to the caller. */
  end(): Buffer {
    return this.#writer.end()
  }
}

/** @param index of the name in the static table */
function isSensitive(index: number, name: string, value: string): boolean {
  return CREDENTIALS.includes(name) || (index === 0 && value.startsWith(JSON_OBJECT))
}
