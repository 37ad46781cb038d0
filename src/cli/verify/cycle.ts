/** The writes of a run: each cycle makes a Seat and a key, changes them in every way, and deletes them. */

import type { ApiKeyView, BlockView, RevocationView, SeatView } from '../remote/endpoint-answers.ts'
import { GatewayRefusal } from '../remote/problem-text.ts'
import { type Credential, type CycleState, named, NOTHING, useOf } from './expected-answers.ts'
import type { CycleRequest } from './cycle-request.ts'
import type { MadeObject } from './made-objects.ts'
import type { OpenStreams } from './open-streams.ts'
import type { RunRecord } from './run-record.ts'
import { BLOCK_OPERATIONS, REVOCATION_OPERATIONS } from './cycle-operations.ts'
import { type CanaryEntry, flipEntry } from './canary-entry.ts'
import { CLOCKS, type GatewayTime, type TrialSessions, type TrialTokens } from './trial-tokens.ts'
import { pause, RunEnded, type Writer } from './change-writer.ts'

/** The time in ms between checks whether the streams have ended. */
const STREAM_POLL = 20

export interface CycleParts {
  readonly writer: Writer<CycleRequest>
  readonly record: RunRecord
  /** The tokens; null if there are no tokens, no sessions and no blocks. */
  readonly tokens: TrialTokens | null
  /** The sessions to end; null if there are none. */
  readonly sessions: TrialSessions | null
  readonly time: GatewayTime
  readonly space: string
  /** The beginning of all names of the run: the prefix, and the id of the run. */
  readonly prefix: string
  /** The name of a Seat without permissions, which each key holds too. */
  readonly anchor: string
  /** The time in RFC 3339, by the gateway's clock, when keys and blocks expire if nothing else ends them. */
  readonly until: () => string
  readonly signal: AbortSignal
  /** The objects that exist and must be deleted. */
  readonly made: Map<string, MadeObject>
  /** The entry of the route tables; null if the run pushes none. */
  readonly entry: CanaryEntry | null
  /** The optional tests: null or false from the first refusal by the gateway or the caller's rights on. */
  readonly optional: { streams: OpenStreams | null; blocks: boolean; revocations: boolean }
  readonly revocation: RunRevocation
}

/**
 * The revocations of a run. The store keeps the newest of each user for good, so that all of a run are of one
 * user.
 */
export interface RunRevocation {
  user: string
  /** The time of the newest one in ms since the epoch, by the gateway's clock. */
  at: number
  /** The users that may be revoked, which stay so. */
  readonly users: Set<string>
}

export class Cycle {
  /** The parts; `user` is the `sub` of the tokens of this cycle. */
  readonly #parts: CycleParts & { readonly user: string }
  readonly #name: string
  readonly #number: number
  /** The last time that a name was given up, by the gateway's clock. */
  #givenUpAt = 0

  constructor(parts: CycleParts, number: number) {
    const user = `${parts.prefix}user-${number}`
    // A block of unknown result must not affect the tokens of later cycles.
    this.#parts = { ...parts, user, tokens: parts.tokens?.of(user) ?? null }
    this.#name = `${parts.prefix}${number}`
    this.#number = number
  }

  /**
   * Runs the cycle.
   *
   * @throws Unanswered, RunEnded, GatewayRefusal
   */
  async run(): Promise<void> {
    const name = this.#name
    const renamed = `${name}-renamed`
    const first = await this.#makeSeat('make Seat', name, false)
    const key = await this.#makeKey(`${name}-key`, name)
    await this.#expectToken('token', name, (tokens) => tokens.mint(name))
    await this.#grant()
    await flipEntry(this.#parts, `${name}-entry`, key)
    await this.#openStreams(key)
    await this.#revoke()
    await this.#grant()
    await this.#endSession(name)
    await this.#blockAndUnblock()
    await this.#rename(renamed)
    const sameSecond = this.#givenUpAt
    await this.#expectToken('token of the old name', name, (tokens) => tokens.mintOf(name, sameSecond))
    await this.#expectToken('token of the new name', renamed, (tokens) => tokens.mint(renamed))
    await this.#rename(name)
    await this.#expectLaterToken('token after the renames', name)
    await this.#deleteSeat(first)
    const second = await this.#makeSeat('make again', name, true)
    await this.#expectLaterToken('token of the new Seat', name)
    await this.#revokeUser(name)
    const other = await this.#makeKey(`${name}-key-again`, name)
    await this.#openStreams(other)
    await this.#revokeKey(other)
    await this.#revokeKey(key)
    await this.#deleteSeat(second)
  }

  #makeSeat(operation: string, name: string, granted: boolean): Promise<SeatView> {
    const { writer } = this.#parts
    const permissions = granted ? this.#permissions : []
    return makeSeat(this.#parts, operation, { name, permissions }, (seat) => ({
      ...writer.state,
      ...named(writer.state, { id: seat?.id ?? '', name, granted }),
    }))
  }

  /** The permissions of a granted Seat. */
  get #permissions(): string[] {
    return ['canary:read', ...(this.#parts.optional.streams === null ? [] : ['decisions:list'])]
  }

  async #makeKey(name: string, seat: string, owner?: string): Promise<Extract<Credential, { kind: 'key' }>> {
    const { writer, made, anchor, until } = this.#parts
    const body = { name, seats: [seat, anchor], expires_at: until(), owner }
    const sent = request('POST', '/v1/api-keys', body)
    const { id, key: text = '' } = await writer.write<ApiKeyView>('make key', sent, () => writer.state)
    made.set(id, { kind: 'api-key', id, name })
    const credential = { kind: 'key', id, text, seatId: writer.state.seat?.id ?? '' } as const
    writer.expect(name, credential)
    return credential
  }

  async #grant(): Promise<void> {
    try {
      await this.#update('grant', { permissions: this.#permissions }, { granted: true })
    } catch (cause) {
      const { optional, record } = this.#parts
      if (!(cause instanceof GatewayRefusal) || optional.streams === null || cause.problem.status !== 403)
        throw cause
      record.notTested('open streams', `the API key may not grant decisions:list: ${cause.problem.code}`)
      optional.streams = null
      await this.#update('grant', { permissions: this.#permissions }, { granted: true })
    }
  }

  async #revoke(): Promise<void> {
    await this.#update('revoke', { permissions: [] }, { granted: false })
    await this.#streamsEnd()
  }

  /** Waits for the streams whose right the last write took: they must end before the next write. */
  async #streamsEnd(): Promise<void> {
    const { writer, optional, signal } = this.#parts
    optional.streams?.taken(writer.lastWrite)
    while (optional.streams?.areEnding === true) await pause(STREAM_POLL, signal)
  }

  async #rename(name: string): Promise<void> {
    const { made } = this.#parts
    const seat = await this.#update('rename', { name }, { name })
    made.set(seat.id, { kind: 'seat', id: seat.id, name })
  }

  async #update(
    operation: string,
    body: Readonly<Record<string, unknown>>,
    change: Partial<NonNullable<CycleState['seat']>>,
  ): Promise<SeatView> {
    const { writer, time } = this.#parts
    const { state } = writer
    if (state.seat === null) throw new Error('there is no Seat')
    const seat = { ...state.seat, ...change }
    const next = { ...state, ...(change.name === undefined ? { seat } : named(state, seat)) }
    const path = `/v1/seats/${state.seat.id}`
    const answer = await writer.write<SeatView>(operation, request('PUT', path, body), () => next)
    time.learn(answer.updated_at ?? '')
    this.#givenUpAt = Date.parse(answer.updated_at ?? '') || time.now()
    return answer
  }

  async #deleteSeat({ id }: SeatView): Promise<void> {
    const { writer, made, time } = this.#parts
    await writer.write('delete', request('DELETE', `/v1/seats/${id}`), () => ({
      ...writer.state,
      seat: null,
    }))
    made.delete(id)
    this.#givenUpAt = time.now()
  }

  async #revokeKey({ id }: { readonly id: string }): Promise<void> {
    const { writer, made } = this.#parts
    const revoked = new Set([...writer.state.revoked, id])
    await writer.write('revoke key', request('DELETE', `/v1/api-keys/${id}`), () => ({
      ...writer.state,
      revoked,
    }))
    made.delete(id)
    await this.#streamsEnd()
  }

  async #blockAndUnblock(): Promise<void> {
    const { writer, tokens, optional, user, until, made } = this.#parts
    if (tokens === null || !optional.blocks) return
    const body = { user, until: until(), reason: 'seatgate verify' }
    const sent = { ...request('POST', '/v1/blocks', body), at: 'admin' } as const
    let block: BlockView
    try {
      block = await writer.write<BlockView>('block', sent, () => ({ ...writer.state, blocked: true }))
    } catch (cause) {
      if (!(cause instanceof GatewayRefusal)) throw cause
      for (const operation of BLOCK_OPERATIONS) this.#refused(operation, 'the block', cause)
      optional.blocks = false
      return
    }
    made.set(block.id, { kind: 'block', id: block.id, name: user })
    const path = `/v1/blocks/${encodeURIComponent(block.id)}`
    await writer.write('unblock', { ...request('DELETE', path), at: 'admin' }, () => ({
      ...writer.state,
      blocked: false,
    }))
    made.delete(block.id)
  }

  /** Ends a sign-in session that was made for this: its token and an open stream end with it. */
  async #endSession(seat: string): Promise<void> {
    const { writer, record, tokens, sessions, optional } = this.#parts
    if (tokens === null || sessions === null) return
    const session = await sessions.next(tokens)
    if (session === null) return
    const credential = this.#tokenOf(seat, await tokens.mint(seat, session), session)
    writer.expect('token of a session', credential)
    await this.#openStreams(credential)
    const ended = new Set([...writer.state.ended, session])
    const sent = { ...request('DELETE', `/v1/sessions/${encodeURIComponent(session)}`), at: 'admin' } as const
    try {
      await writer.write('end session', sent, () => ({ ...writer.state, ended }))
    } catch (cause) {
      const what = `the end of session ${session}`
      if (!(cause instanceof GatewayRefusal)) {
        const why = cause instanceof RunEnded ? 'the run ended before its turn' : 'its write had no 2xx'
        record.notTested(what, why)
        throw cause
      }
      optional.streams?.drop('the gateway refused to end its session')
      return this.#refused(what, 'it', cause)
    }
    await this.#streamsEnd()
  }

  /**
   * Revokes a user: a token that was issued before, an open stream, and an API key that the user owns end; a
   * token that is issued later is accepted.
   */
  async #revokeUser(seat: string): Promise<void> {
    const { writer, tokens, optional, revocation, signal, made } = this.#parts
    if (tokens === null || !optional.revocations) return
    const { user } = revocation
    const minted = async () => {
      const moment = Math.max(revocation.at, this.#givenUpAt)
      const text = await tokens.of(user).mintLater(seat, moment, (ms) => pause(ms, signal))
      return this.#tokenOf(seat, text)
    }
    const token = await minted()
    writer.expect('token before the revocation', token)
    const key = await this.#makeKey(`${this.#name}-key-owned`, seat, user)
    await this.#openStreams(token)
    await pause(CLOCKS, signal)
    revocation.users.add(user)
    const state = {
      ...writer.state,
      voided: new Set([...writer.state.voided, token.text]),
      revoked: new Set([...writer.state.revoked, key.id]),
    }
    const at = await this.#revokedAt(user, state)
    if (at === null) return
    revocation.at = at
    made.delete(key.id)
    await this.#streamsEnd()
    writer.expect('token after the revocation', await minted())
  }

  /**
   * Writes the revocation.
   *
   * @returns its time in ms since the epoch; null if the gateway refuses it
   */
  async #revokedAt(user: string, state: CycleState): Promise<number | null> {
    const { writer, optional, revocation, prefix } = this.#parts
    const body = { subject: { user }, reason: 'seatgate verify' }
    const sent = { ...request('POST', '/v1/revocations', body), at: 'admin' } as const
    try {
      const { at } = await writer.write<RevocationView>('revoke user', sent, () => state)
      return Date.parse(at)
    } catch (cause) {
      if (!(cause instanceof GatewayRefusal)) {
        // It may take effect at any time: a later token of this user could be voided by it.
        revocation.user = `${prefix}revoked-${this.#number}`
        throw cause
      }
      this.#refused(REVOCATION_OPERATIONS[0], 'the revocation', cause)
      optional.streams?.drop('the gateway refused to revoke its user')
      optional.revocations = false
      revocation.users.delete(user)
      return null
    }
  }

  #refused(what: string, write: string, { problem: { code, requestId } }: GatewayRefusal): void {
    this.#parts.record.notTested(what, `the gateway refuses ${write}: ${code}, request ${requestId}`)
  }

  async #openStreams(credential: Credential): Promise<void> {
    const { optional, record } = this.#parts
    const why = (await optional.streams?.open(credential)) ?? null
    if (why === null) return
    record.notTested('open streams', `GET /v1/decisions gives no event stream: ${why}`)
    optional.streams = null
  }

  async #expectToken(
    name: string,
    seat: string,
    mint: (tokens: TrialTokens) => Promise<string>,
  ): Promise<void> {
    const { tokens, writer } = this.#parts
    if (tokens === null) return
    writer.expect(name, this.#tokenOf(seat, await mint(tokens)))
  }

  #tokenOf(seat: string, text: string, session: string | null = null): Credential {
    return { kind: 'token', text, name: seat, use: useOf(this.#parts.writer.state, seat), session }
  }

  async #expectLaterToken(name: string, seat: string): Promise<void> {
    const wait = (ms: number) => pause(ms, this.#parts.signal)
    await this.#expectToken(name, seat, (tokens) => tokens.mintLater(seat, this.#givenUpAt, wait))
  }
}

/** Makes the Seat without permissions that the keys of a run hold. */
export async function makeAnchor(parts: CycleParts): Promise<void> {
  await makeSeat(parts, 'make Seat', { name: parts.anchor, permissions: [] }, () => NOTHING)
}

async function makeSeat(
  { writer, space, made, time }: CycleParts,
  operation: string,
  { name, permissions }: Pick<SeatView, 'name' | 'permissions'>,
  next: (made: SeatView | null) => CycleState,
): Promise<SeatView> {
  const body = { name, spaces: [space], permissions }
  const seat = await writer.write(operation, request('POST', '/v1/seats', body), next)
  made.set(seat.id, { kind: 'seat', id: seat.id, name })
  time.learn(seat.created_at)
  return seat
}

function request(method: string, path: string, body?: unknown): CycleRequest {
  return { method, path, at: 'manage', ...(body === undefined ? {} : { body }) }
}
