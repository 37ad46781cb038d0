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

  /** A sign-in that was finished. */
  usedSignIn(tenant: string, id: string): string {
    return `${this.#prefix}sign-in:${tenant}:${id}`
  }

  /** Names the memory of finished sign-ins; see `ephemeral.ts`. A tenant id has no upper-case letters. */
  get signInEpoch(): string {
    return `${this.#prefix}sign-in:EPOCH`
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
