/** Tokens for the user of a run, signed with the tenant's secret, and the sessions of `--end-session`. */

import { performance } from 'node:perf_hooks'
import { SignJWT } from 'jose'
import { parseApiKey } from '../../../seats-admin/model/api-key.ts'
import { hashPermEntry } from '../../../seats-admin/model/hash-perm.ts'
import { InvalidValue } from '../../config/invalid-value.ts'
import { secret } from '../../config/tenant-settings.ts'
import { CommandFailed } from '../command.ts'
import { textOf } from '../remote/gateway-options.ts'
import type { ReadResult } from './place-client.ts'
import type { Credential } from './expected-answers.ts'
import type { RunRecord } from './run-record.ts'

/** The algorithms of `tenants.<id>.token.algorithm`. */
const ALGORITHMS = ['HS256', 'HS384', 'HS512'] as const
/** The leeways in seconds that are told apart. */
const LEEWAYS = [1, 2, 3, 5, 10, 20, 30, 60, 120, 300, 600]
/** The difference in ms that the clocks of the gateways may have. */
export const CLOCKS = 1000

type Ask = (credential: Credential) => Promise<ReadResult>

/**
 * The time of the gateways, according to their answers, for the times in tokens, keys and blocks. It advances
 * with the monotonic clock: if the clock of this machine jumps, tokens stay valid.
 */
export class GatewayTime {
  #offset = Date.now() - performance.now()

  /** Learns the time. @param at a date-time that a gateway has just written */
  learn(at: string): void {
    const moment = Date.parse(at)
    if (!Number.isNaN(moment)) this.#offset = moment - performance.now()
  }

  /** ms since the epoch */
  now(): number {
    return performance.now() + this.#offset
  }
}

interface TokenSettings {
  readonly secret: Uint8Array
  readonly tenant: string
  readonly user: string
  readonly space: string
  /** The lifetime in seconds. */
  readonly lifetime: number
}

export class TrialTokens {
  readonly #settings: TokenSettings
  readonly #time: GatewayTime
  readonly #algorithm: string
  /** The leeway in seconds. */
  readonly #leeway: number

  private constructor(settings: TokenSettings, time: GatewayTime, algorithm: string, leeway: number) {
    this.#settings = settings
    this.#time = time
    this.#algorithm = algorithm
    this.#leeway = leeway
  }

  /** Finds out how the tenant verifies tokens. @throws CommandFailed if not with this secret */
  static async find(settings: TokenSettings, time: GatewayTime, ask: Ask): Promise<TrialTokens> {
    for (const algorithm of ALGORITHMS) {
      const tokens = new TrialTokens(settings, time, algorithm, 0)
      const result = await tokens.#try(ask, settings.lifetime)
      if (result.answer === null) throw undecided(result.reason)
      const { answer } = result
      if (answer === 'token_invalid') continue
      if (answer === 'token_expired' || answer === 'token_not_yet_valid')
        throw new CommandFailed(
          `the gateway answers ${answer} to a fresh token: compare the clocks of the gateways`,
        )
      return new TrialTokens(settings, time, algorithm, await tokens.#findLeeway(ask))
    }
    throw new CommandFailed(
      `tenant ${settings.tenant} does not accept tokens signed with the secret in --token-secret-file: give one of tenants.${settings.tenant}.token.secrets`,
    )
  }

  /** The tokens of another user. */
  of(user: string): TrialTokens {
    return new TrialTokens({ ...this.#settings, user }, this.#time, this.#algorithm, this.#leeway)
  }

  /** A fresh token, for a name that no Seat has given up. @param session that it ends with; null: none */
  mint(seat: string, session: string | null = null): Promise<string> {
    return this.#sign([seat], this.#justNow(), { session })
  }

  /** A token that was issued a moment ago, for several Seats. */
  mintFor(seats: readonly string[]): Promise<string> {
    return this.#sign(seats, this.#justNow())
  }

  /**
   * Whether tokens of the session are accepted, which is so until it ends. The token of this request holds no
   * Seat.
   *
   * @returns null if the gateway does not decide
   */
  async isLive(session: string, ask: Ask): Promise<boolean | null> {
    const text = await this.#sign([], this.#justNow(), { session })
    const { answer } = await ask({ kind: 'token', text, name: '', use: 0, session })
    return answer === null ? null : answer !== 'token_invalid'
  }

  /** A token of the second in which a name was given up: it counts for the former Seat only. */
  mintOf(seat: string, moment: number): Promise<string> {
    return this.#sign([seat], Math.floor(moment / 1000))
  }

  /**
   * A token of a later second than the one in which the name was given up, for the Seat that has the name
   * now. It waits for that second.
   *
   * @param moment the time of the 2xx, in ms since the epoch by the gateway's clock
   */
  async mintLater(seat: string, moment: number, wait: (ms: number) => Promise<void>): Promise<string> {
    const issued = Math.floor((moment + CLOCKS) / 1000) + this.#leeway + 1
    await wait(Math.max(0, 1000 * issued + CLOCKS / 2 - this.#time.now()))
    return this.#sign([seat], issued)
  }

  /** The leeway in seconds, rounded up to one of those that are told apart. */
  async #findLeeway(ask: Ask): Promise<number> {
    for (const leeway of LEEWAYS) {
      const result = await this.#try(ask, -leeway)
      if (result.answer === null) throw undecided(result.reason)
      if (result.answer === 'token_expired') return leeway
    }
    throw new CommandFailed(
      'the leeway of the tenant for tokens is over ten minutes: a run can not wait for it',
    )
  }

  async #try(ask: Ask, lifetime: number): Promise<ReadResult> {
    const issued = Math.floor(this.#time.now() / 1000) - 3600
    const text = await this.#sign([], issued, { lifetime: 3600 + lifetime })
    return ask({ kind: 'token', text, name: '', use: 0, session: null })
  }

  /** A moment ago, in seconds since the epoch. */
  #justNow(): number {
    return Math.floor((this.#time.now() - 2 * CLOCKS) / 1000)
  }

  /** Signs a token. @param issued seconds since the epoch */
  #sign(
    seats: readonly string[],
    issued: number,
    {
      lifetime = this.#settings.lifetime,
      session = null,
    }: { lifetime?: number; session?: string | null } = {},
  ): Promise<string> {
    const { secret: key, tenant, user, space } = this.#settings
    const claims = {
      sub: user,
      tenant_id: tenant,
      is_sso: false,
      hash_perm: seats.map((seat) => hashPermEntry(space, seat)),
      iat: issued,
      nbf: issued,
      exp: issued + lifetime,
      ...(session === null ? {} : { sid: session }),
    }
    return new SignJWT(claims).setProtectedHeader({ alg: this.#algorithm, typ: 'JWT' }).sign(key)
  }
}

/** Sign-in sessions that the operator made for the run, because only a sign-in makes one. */
export class TrialSessions {
  readonly #waiting: string[]
  readonly #record: RunRecord
  readonly #ask: Ask

  constructor(sessions: readonly string[], record: RunRecord, ask: Ask) {
    this.#waiting = [...sessions]
    this.#record = record
    this.#ask = ask
  }

  /** Checks that all sessions are live. @throws CommandFailed if one is unknown or has ended */
  async requireLive(tokens: TrialTokens): Promise<void> {
    for (const session of this.#waiting)
      if ((await tokens.isLive(session, this.#ask)) === false)
        throw new CommandFailed(
          `session ${session} of --end-session is unknown or has ended: GET /v1/sessions lists those of the tenant`,
        )
  }

  /** The next session to end; null if there is none left, or if the gateway does not decide now. */
  async next(tokens: TrialTokens): Promise<string | null> {
    for (;;) {
      const [session] = this.#waiting
      if (session === undefined) return null
      const isLive = await tokens.isLive(session, this.#ask)
      if (isLive === null) return null
      this.#waiting.shift()
      if (isLive) return session
      this.#record.notTested(`the end of session ${session}`, 'it ended before its turn')
    }
  }

  /** Reports the sessions that were not ended, which stay. */
  close(): void {
    for (const session of this.#waiting)
      this.#record.notTested(`the end of session ${session}`, 'the run ended before its turn')
  }
}

function undecided(reason: string): CommandFailed {
  return new CommandFailed(
    `the gateway does not decide about a token: ${reason}. Look at /readyz and its log`,
  )
}

/** The secret in the file. @throws CommandFailed; no message contains the secret */
export function tokenSecretOf(file: string): Uint8Array {
  const text = textOf(file, 'the file of --token-secret-file')
  const read = secret(text.replace(/\r?\n$/, ''))
  if (read instanceof InvalidValue) throw new CommandFailed(`the secret in ${file} ${read.message}`)
  return read
}

/** The tenant that an API key names. @throws CommandFailed if it names none */
export function tenantOfKey(key: string): string {
  const fields = parseApiKey(key)
  if (fields === null)
    throw new CommandFailed('the API key does not name its tenant, which tokens need: give a key of Seatgate')
  return fields.tenant
}
