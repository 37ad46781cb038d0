/** The dynamic table of HPACK (RFC 7541, section 4): a ring that grows with its entries. */

/** Added to the length of an entry (RFC 7541, section 4.1), in bytes. */
export const ENTRY_OVERHEAD = 32

/** SETTINGS_HEADER_TABLE_SIZE before the first SETTINGS (RFC 9113, section 6.5.2), in bytes. */
export const INITIAL_TABLE_BYTES = 4096

const FIRST_CAPACITY = 16

export class DynamicTable {
  /** A power of two each. Free places hold empty strings, so that evicted strings can be collected. */
  #names: string[] = []
  #values: string[] = []
  /** The place of the next entry. */
  #next = 0
  #count = 0
  #bytes = 0
  #maxBytes: number

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get count(): number {
    return this.#count
  }

  /** The size of all entries (RFC 7541, section 4.1). */
  get bytes(): number {
    return this.#bytes
  }

  get maxBytes(): number {
    return this.#maxBytes
  }

  /** @param i below `count`; 0 is the newest entry */
  name(i: number): string {
    return this.#names[(this.#next - 1 - i) & (this.#names.length - 1)] ?? ''
  }

  /** @param i below `count`; 0 is the newest entry */
  value(i: number): string {
    return this.#values[(this.#next - 1 - i) & (this.#names.length - 1)] ?? ''
  }

  /** Evicts what exceeds the new size. */
  resize(maxBytes: number): void {
    this.#maxBytes = maxBytes
    this.#evict(0)
  }

  /** An entry that is larger than the table clears it (RFC 7541, section 4.4). */
  add(name: string, value: string): void {
    const size = name.length + value.length + ENTRY_OVERHEAD
    this.#evict(size)
    if (size > this.#maxBytes) return
    if (this.#count === this.#names.length) this.#grow()
    this.#names[this.#next] = name
    this.#values[this.#next] = value
    this.#next = (this.#next + 1) & (this.#names.length - 1)
    this.#count++
    this.#bytes += size
  }

  clear(): void {
    this.#evict(Infinity)
  }

  /** Makes room for a number of bytes, as far as possible. */
  #evict(bytes: number): void {
    while (this.#count > 0 && this.#bytes + bytes > this.#maxBytes) {
      const oldest = (this.#next - this.#count) & (this.#names.length - 1)
      this.#bytes -= (this.#names[oldest]?.length ?? 0) + (this.#values[oldest]?.length ?? 0) + ENTRY_OVERHEAD
      this.#names[oldest] = ''
      this.#values[oldest] = ''
      this.#count--
    }
  }

  /** Only a full ring grows. */
  #grow(): void {
    const capacity = Math.max(FIRST_CAPACITY, 2 * this.#names.length)
    this.#names = regrown(this.#names, this.#next, capacity)
    this.#values = regrown(this.#values, this.#next, capacity)
    this.#next = this.#count
  }
}

/**
 * @param ring full
 * @param oldest its first entry
 */
function regrown(ring: readonly string[], oldest: number, capacity: number): string[] {
  const free = Array.from({ length: capacity - ring.length }, () => '')
  return [...ring.slice(oldest), ...ring.slice(0, oldest), ...free]
}
