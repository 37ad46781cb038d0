/** Every key and channel name that Seatgate uses in Redis, one prefix a kind. A tenant id has no `:`. */

export class Keys {
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  /** What a Seat name means; the Seat of an id; the API key of an id. */
  value(kind: 'seat-name' | 'seat' | 'api-key', tenant: string, key: string): string {
    return `${this.#prefix}${kind}:${tenant}:${key}`
  }

  /** A sign-in under way. */
  ephemeral(key: string): string {
    return `${this.#prefix}sign-in:${key}`
  }

  /** What has been written, for all instances. */
  get announcements(): string {
    return `${this.#prefix}changes`
  }

  /** What others say to one instance about what it has announced. */
  acknowledgements(instance: string): string {
    return `${this.#prefix}heard:${instance}`
  }
}
