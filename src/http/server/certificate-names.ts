/**
 * Selects a certificate by the name that a client asks for (SNI, RFC 6066, section 3). Names are compared without case and
 * without a final dot. An exact name precedes a wildcard, which stands for exactly one label (RFC 6125, section 6.4.3).
 */

export class CertificateNames<V> {
  readonly #exact = new Map<string, V>()
  /** By the name without its first label. */
  readonly #wildcards = new Map<string, V>()

  /** Names that are there already keep their value. */
  add(names: readonly string[], value: V): void {
    for (const name of names) {
      const wildcard = name.startsWith('*.')
      const [map, key] = wildcard ? [this.#wildcards, name.slice(2)] : [this.#exact, name]
      if (!map.has(key)) map.set(key, value)
    }
  }

  /** @returns null for an unknown name */
  find(name: string): V | null {
    const wanted = name.toLowerCase().replace(/\.$/, '')
    const dot = wanted.indexOf('.')
    const rest = dot > 0 ? wanted.slice(dot + 1) : ''
    return this.#exact.get(wanted) ?? (rest === '' ? null : (this.#wildcards.get(rest) ?? null))
  }
}
