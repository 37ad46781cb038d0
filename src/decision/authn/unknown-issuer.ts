/**
 * Says of a bearer token that nothing has verified which issuer it names, and the accepted one that was perhaps meant. Nothing
 * in such a token is proven: it decides on the text of the refusal alone.
 */

import type { TenantConfig } from '../../config/config.ts'
import { Refusal } from '../../model/errors.ts'
import { shownIssuer } from '../../model/issuer-user.ts'
import { readPayload } from './jws.ts'

/** Issuers that a token's is compared with, which bounds the time of a refusal. */
const MAX_COMPARED = 1000
/** Characters beside the part that two issuers share: a final slash, a scheme, a misspelled name. */
const NEAR = 3

export class KnownIssuers {
  readonly #accepted: ReadonlySet<string>
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

  /** Of several tenants, only an issuer that the token almost names: a stranger does not learn whose issuers there are. */
  #nearest(iss: string): string | null {
    let [best, least]: [string | null, number] = [null, Infinity]
    for (const each of [...this.#accepted].slice(0, MAX_COMPARED)) {
      const distance = differenceOf(iss, each)
      if (distance < least) [best, least] = [each, distance]
    }
    if (best === null || this.#isOfOneTenant || least <= NEAR) return best
    return isSameHost(iss, best) ? best : null
  }
}

/** Characters of the longer text beside the beginning and the end that both share, letter case aside. */
function differenceOf(one: string, other: string): number {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()]
  const most = Math.min(a.length, b.length)
  let head = 0
  while (head < most && a[head] === b[head]) head++
  let tail = 0
  while (tail < most - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++
  return Math.max(a.length, b.length) - head - tail
}

function isSameHost(one: string, other: string): boolean {
  const [a, b] = [URL.parse(one), URL.parse(other)]
  return a !== null && a.hostname !== '' && a.hostname === b?.hostname
}
