/**
 * `Authorization: Bearer` (RFC 6750, section 2.1). One of the ways to say who calls; asked by `authenticator.ts`.
 *
 * Cache: verified tokens. Key: the line as it is mostly written, `Bearer` and the whole text of the token, since nothing
 * less stands for all that was verified. No other spelling of the line is a key: one token would push out all others. And
 * not the token alone: what is cut out of a line is a new text each time, and hashed anew.
 * Value: what it says, never a decision; the times are looked at again at every use. Lives as long as one
 * configuration. Tokens that fail are not remembered: many spellings are one bad token, and they would push out good
 * ones.
 */

import { LRUCache } from 'lru-cache'
import { Refusal } from '../../model/errors.ts'
import type { Principal } from '../../model/principal.ts'
import { asciiBytes, detachedText } from '../../lib/heap-size.ts'
import { untimely, verifiedBytes, type VerifiedToken } from './claims.ts'
import { type TokenIssuers, verifyToken } from './token.ts'

const unreadable = new Refusal('token_invalid', 'The Authorization header is not "Bearer" and one token.')

/**
 * Somebody else who may know a token that is none of the gateway's own. Null: nor does he. Rejects only on faults of the
 * machine.
 */
export type OtherIssuer = (token: string) => Promise<VerifiedToken | Refusal | null>

export interface BearerOptions extends TokenIssuers {
  /** Left out: there are only the gateway's own. */
  readonly otherIssuer?: OtherIssuer | null

  /** ms since the epoch */
  readonly now: () => number
  /** Bytes of what is remembered. */
  readonly memory: number
}

/**
 * A line that comes again and again. Its text becomes the very one that is remembered: that is found at a glance, whereas
 * one that is merely equal is compared with it, character by character.
 */
export class SameLine {
  readonly line: string
  /** The same, character by character. */
  text: string

  constructor(line: string) {
    this.line = line
    this.text = line
  }
}

interface Known {
  /** The key. */
  readonly line: string
  readonly verified: VerifiedToken
}

export class BearerTokens {
  readonly #options: BearerOptions
  readonly #verified: LRUCache<string, Known>
  /** Asked of the other issuer, by whole token: however many requests bring it, it is asked about once. */
  readonly #pending = new Map<string, Promise<VerifiedToken | Refusal | null>>()

  constructor(options: BearerOptions) {
    this.#options = options
    this.#verified = new LRUCache({
      maxSize: options.memory,
      sizeCalculation: ({ line, verified }) => asciiBytes(line) + verifiedBytes(verified),
    })
  }

  /**
   * Null when the line holds no bearer token but some other scheme, which is not for the gateway.
   *
   * @param same counts only where it is of this line
   */
  authenticate(
    line: string,
    same: SameLine | null = null,
  ): Principal | Refusal | Promise<Principal | Refusal> | null {
    const again = same?.line === line ? same : null
    const known = this.#verified.get(again?.text ?? line)
    if (known !== undefined) {
      if (again !== null) again.text = known.line
      return this.#admit(known.line, known.verified)
    }
    const token = readBearer(line)
    if (token === null || token instanceof Refusal) return token
    const key = `Bearer ${token}`
    return key === line ? this.#verify(key, token) : this.authenticate(key)
  }

  #verify(key: string, token: string): Principal | Refusal | Promise<Principal | Refusal> {
    const own = verifyToken(token, this.#options)
    if (!(own instanceof Refusal)) return this.#remember(key, own)
    const { otherIssuer = null } = this.#options
    if (otherIssuer === null) return own
    const verdict = this.#pending.get(token) ?? this.#ask(otherIssuer, key, token)
    // What is said of the gateway's own token stands, unless another issuer knows it.
    return verdict.then((it) => {
      if (it === null) return own
      return it instanceof Refusal ? it : this.#admit(key, it)
    })
  }

  #admit(key: string, verified: VerifiedToken): Principal | Refusal {
    const refusal = untimely(verified, this.#options.now())
    if (refusal === null) return verified.principal
    this.#verified.delete(key)
    return refusal
  }

  #remember(key: string, verified: VerifiedToken): Principal | Refusal {
    const refusal = untimely(verified, this.#options.now())
    if (refusal !== null) return refusal
    const line = detachedText(key)
    this.#verified.set(line, { line, verified }, { ttl: verified.rememberFor ?? 0 })
    return verified.principal
  }

  async #ask(issuer: OtherIssuer, key: string, token: string): Promise<VerifiedToken | Refusal | null> {
    const verdict = issuer(token)
    this.#pending.set(token, verdict)
    try {
      const verified = await verdict
      if (verified !== null && !(verified instanceof Refusal)) this.#remember(key, verified)
      return verified
    } finally {
      this.#pending.delete(token)
    }
  }
}

/** A scheme, spaces and its parameters; RFC 9110, section 11.4. */
const CREDENTIALS = /^([\w!#$%&'*+.^`|~-]+)(?: +(.*))?$/s

/** The token; null for another scheme; a Refusal for what is no credential at all, or no token. */
function readBearer(line: string): string | Refusal | null {
  if (line.startsWith('Bearer ') && line.charCodeAt(7) > SPACE) return line.slice(7)
  const match = CREDENTIALS.exec(line)
  if (match === null) return unreadable
  const [, scheme = '', token = ''] = match
  if (scheme.toLowerCase() !== 'bearer') return null
  return token === '' ? unreadable : token
}

const SPACE = 0x20
