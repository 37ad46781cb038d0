/**
 * Says of a bearer token that nothing has verified which issuer it names, and the accepted one that was perhaps meant. Nothing
 * in such a token is proven: it decides on the text of the refusal alone.
 */

import type { TenantConfig } from '../../config/config.ts'
import { Refusal } from '../../model/errors.ts'
import { shownIssuer } from '../../model/issuer-user.ts'
import { readPayload } from './jws.ts'

/** Issuers that a token's is compared with, and characters of it: they bound the time of a refusal. */
const [MAX_COMPARED, MAX_LENGTH] = [200, 300]
/** Characters of an accepted issuer that a token may lack which almost names it: a final slash, a scheme, a misspelled name. */
const NEAR = 3

export class KnownIssuers {
  readonly #accepted: ReadonlySet<string>
  /** As written → in lower case. */
  readonly #compared: ReadonlyMap<string, string>
  /** Providers whose tokens are no bearer tokens. */
  readonly #forSignIn: ReadonlySet<string>
  readonly #isOfOneTenant: boolean

  constructor(tenants: ReadonlyMap<string, Pick<TenantConfig, 'issuers' | 'oidc'>>) {
    const found = [...tenants.values()].map(({ issuers = [], oidc }) => ({
      accepted: [
        ...issuers.map(({ issuer }) => issuer),
        ...(oidc?.acceptProviderTokens === true ? [oidc.issuer] : []),
      ],
      forSignIn: oidc === null ? [] : [oidc.issuer],
    }))
    this.#accepted = new Set(found.flatMap(({ accepted }) => accepted))
    const compared = [...this.#accepted].slice(0, MAX_COMPARED)
    this.#compared = new Map(compared.map((each) => [each, each.toLowerCase()]))
    this.#forSignIn = new Set(found.flatMap(({ forSignIn }) => forSignIn))
    this.#isOfOneTenant = found.filter(({ accepted }) => accepted.length > 0).length === 1
  }

  /** Null: the token names no issuer. */
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
   * If there are several tenants, only an issuer whose text the token has almost whole is named: a stranger does not learn whose issuers there are.
   * The host is not enough, as providers have those of all their customers on one.
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
