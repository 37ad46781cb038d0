/** Tokens of other issuers, of all tenants of one configuration: the public interface of this folder. */

import type { TenantConfig } from '../../config/config.ts'
import { Refusal } from '../../model/errors.ts'
import type { VerifiedToken } from '../../model/principal.ts'
import { PendingWork } from '../pending-work.ts'
import type { OidcLog } from '../ports.ts'
import type { HttpLimits } from '../provider/http.ts'
import { ofRequest } from '../context.ts'
import { sanitizeName } from '../provider/log-text.ts'
import { type AcceptedIssuer, IssuerOutage, verifyIssuerToken } from './issuer-token.ts'
import { type IssuerKeys, issuerKeys } from './token-issuer.ts'

const unavailable = new Refusal(
  'unavailable',
  "The keys of the token's issuer are not available. Send the request again later.",
)

interface IssuersOptions {
  readonly log: OidcLog
  /** ms since the epoch */
  readonly now: () => number
  readonly limits?: HttpLimits
  /** Monotonic ms. */
  readonly clock?: () => number
}

export class Issuers {
  readonly #accepted: readonly AcceptedIssuer[]
  readonly #keys: readonly IssuerKeys[]
  readonly #options: IssuersOptions
  readonly #work = new PendingWork()

  constructor(tenants: Iterable<Pick<TenantConfig, 'id' | 'issuers'>>, options: IssuersOptions) {
    const shared = new Map<string, IssuerKeys>()
    const accepted: AcceptedIssuer[] = []
    for (const { id: tenant, issuers = [] } of tenants)
      for (const config of issuers) {
        const key = JSON.stringify([config.issuer, config.jwksUri, config.allowInsecure])
        const own = shared.get(key) ?? issuerKeys(config, options.limits, options.clock)
        shared.set(key, own)
        accepted.push({ tenant, config, keys: own.keys, algorithms: async () => config.algorithms })
      }
    this.#accepted = accepted
    this.#keys = [...shared.values()]
    this.#options = options
  }

  /**
   * The verified token. Null: none of the issuers has issued it. `otherAudience`: it is for none of their
   * entries.
   *
   * @param requestId the id of the request that has the token
   * @param resource the audience that it must have; null: that of its issuer
   */
  async verify(
    text: string,
    requestId: string | null = null,
    resource: string | null = null,
  ): Promise<VerifiedToken | Refusal | null> {
    const verified = await this.#work.track(
      verifyIssuerToken(text, this.#accepted, this.#options.now(), resource),
    )
    if (!(verified instanceof IssuerOutage)) return verified
    const { tenant, config } = verified.issuer
    const fields = { event: 'issuer_token_unknown', tenant, issuer: sanitizeName(config.issuer) }
    ofRequest(this.#options.log, requestId).warn(
      { ...fields, reason: verified.cause.message },
      'a token of another issuer could not be verified',
    )
    return unavailable
  }

  /** Waits for the requests in flight: after a reload they complete with the old configuration. */
  async close(): Promise<void> {
    await this.#work.ended()
    await Promise.all(this.#keys.map((each) => each.close()))
  }
}
