/** Key and channel names in Redis. A tenant id contains no `:`. */

export class Keys {
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  /** A Seat by name, a Seat by id, or an API key by id. */
  value(kind: 'seat-name' | 'seat' | 'api-key', tenant: string, key: string): string {
    return `${this.#prefix}${kind}:${tenant}:${key}`
  }

  /** The mark of a completed sign-in. */
  usedSignIn(tenant: string, id: string): string {
    return `${this.#prefix}sign-in:${tenant}:${id}`
  }

  /**
   * The epoch of the completed sign-ins; see `redis-sign-ins.ts`. Distinct from tenant ids, which have no
   * upper-case letters.
   */
  get signInEpoch(): string {
    return `${this.#prefix}sign-in:EPOCH`
  }

  /**
   * The bucket of a rate limit.
   *
   * @param hash of the limit's name and the key
   */
  bucket(hash: string): string {
    return `${this.#prefix}tokens:{${hash}}`
  }

  /** A random text that Redis loses with the buckets. Hashes have 43 characters, so it is distinct. */
  get bucketEpoch(): string {
    return `${this.#prefix}tokens:{EPOCH}`
  }

  /** A key of each kind that is never written. Tenant ids have no upper-case letters, so it is distinct. */
  unused(suffix: number): readonly string[] {
    const kinds = ['seat-name', 'seat', 'api-key', 'sign-in'].map(
      (kind) => `${this.#prefix}${kind}:UNUSED:${suffix}`,
    )
    return [...kinds, this.bucket(`UNUSED:${suffix}`)]
  }

  /** The channel of written changes, for all instances. */
  get announcements(): string {
    return `${this.#prefix}changes`
  }

  /** The channel of acknowledgements to one instance. */
  acknowledgements(instance: string): string {
    return `${this.#prefix}heard:${instance}`
  }
}
