/**
 * Explains the refusal of a bearer token that no key verifies: the issuer that the token names, and the
 * accepted issuer with the most similar name. Nothing in such a token is proven: it decides on the text of
 * the refusal alone.
 */

import type { TenantConfig } from '../../config/config.ts'
import { Refusal } from '../../model/errors.ts'
import { shownIssuer } from '../../model/issuer-user.ts'
import { readPayload } from './jws.ts'

/**
 * The most issuers that are compared with a token's, and the most characters of it: they bound the time of a
 * refusal.
 */
const [MAX_COMPARED, MAX_LENGTH] = [200, 300]
/**
 * The most characters of an accepted issuer that a similar text may lack: a final slash, a scheme, a
 * misspelled name.
 */
const NEAR = 3

export class KnownIssuers {
  readonly #accepted: ReadonlySet<string>
  /** The accepted issuers as written → in lower case. */
  readonly #compared: ReadonlyMap<string, string>
  /** The providers that are for sign-in alone. */
  readonly #forSignIn: ReadonlySet<string>
  readonly #isOfOneTenant: boolean

  constructor(tenants: ReadonlyMap<string, Pick<TenantConfig, 'issuers' | 'oidc'>>) {
    const origins = [...tenants.values()].map(({ issuers = [], oidc }) => ({
      accepted: [
        ...issuers.map(({ issuer }) => issuer),
        ...(oidc?.acceptProviderTokens === true ? [oidc.issuer] : []),
      ],
      forSignIn: oidc === null ? [] : [oidc.issuer],
    }))
    this.#accepted = new Set(origins.flatMap(({ accepted }) => accepted))
    const compared = [...this.#accepted].slice(0, MAX_COMPARED)
    this.#compared = new Map(compared.map((each) => [each, each.toLowerCase()]))
    this.#forSignIn = new Set(origins.flatMap(({ forSignIn }) => forSignIn))
    this.#isOfOneTenant = origins.filter(({ accepted }) => accepted.length > 0).length === 1
  }

  /** The refusal with the issuer. Null: the token names no issuer. */
  refusalOf(token: string): Refusal | null {
    const iss = readPayload(token)?.['iss']
    return typeof iss === 'string' && iss !== '' ? new Refusal('token_invalid', this.#detailOf(iss)) : null
  }

  #detailOf(iss: string): string {
    const named = `The token names the issuer ${shownIssuer(iss)}`
    if (this.#accepted.has(iss))
      return `${named}, but its aud is not one that is accepted of that issuer, or it is not a JWT in canonical form.`
    if (this.#forSignIn.has(iss))
      return `${named}, which is accepted for sign-in alone, not for bearer tokens.`
    const nearest = this.#nearest(iss)
    const hint = nearest === null ? '' : ` The nearest accepted one is ${shownIssuer(nearest)}.`
    return `${named}, which is not accepted.${hint}`
  }

  /**
   * The accepted issuer to name; null: none. If there are several tenants, it is named only to a sender whose
   * token has almost all of its text. A stranger would otherwise learn which issuers the tenants have. A
   * common host is not enough, as a provider has the issuers of all its customers on one host.
   */
  #nearest(iss: string): string | null {
    const named = iss.slice(0, MAX_LENGTH).toLowerCase()
    let [best, least, lacking]: [string | null, number, number] = [null, Infinity, Infinity]
    for (const [each, lower] of this.#compared) {
      const shared = sharedBy(named, lower)
      const distance = Math.max(named.length, lower.length) - shared
      if (distance < least) [best, least, lacking] = [each, distance, lower.length - shared]
    }
    return this.#isOfOneTenant || lacking <= NEAR ? best : null
  }
}

/** Characters of the beginning and the end that both texts share. */
function sharedBy(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  const isSame = (i: number, j: number) => a.charCodeAt(i) === b.charCodeAt(j)
  let head = 0
  while (head < most && isSame(head, head)) head++
  let tail = 0
  while (tail < most - head && isSame(a.length - 1 - tail, b.length - 1 - tail)) tail++
  return head + tail
}
