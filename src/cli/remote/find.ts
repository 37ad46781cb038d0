/** Finds by name what the endpoints identify by id. */

import { parseApiKey } from '../../../seats-admin/model/api-key.ts'
import { isUlid } from '../../../seats-admin/model/ulid.ts'
import { printable } from '../../telemetry/readable.ts'
import { CommandFailed, type Terminal } from '../command.ts'
import { suggestion, quoted } from '../near-names.ts'
import type { Gateway } from './gateway-client.ts'
import { GatewayRefusal } from './problem-text.ts'
import type { ApiKeyView, BlockView, SeatView, UserView } from './endpoint-answers.ts'

interface TaggedSeat {
  readonly seat: SeatView
  /** The entity tag of the Seat. */
  readonly tag: string
}

/**
 * Finds a Seat.
 *
 * @param nameOrId a name or an id; a name takes precedence
 */
export async function findSeat(gateway: Gateway, nameOrId: string): Promise<TaggedSeat> {
  const seen = new Set<string>()
  const named = await first<SeatView>(
    gateway.pages<SeatView>('/v1/seats', idOf),
    ({ name }) => seen.add(name) && name === nameOrId,
  )
  const id = named?.id ?? (isUlid(nameOrId) ? nameOrId : null)
  if (id === null)
    throw new CommandFailed(
      `there is no Seat ${quoted(nameOrId)} that this API key may see${await suggestion(nameOrId, seen)}: "seatgate seats list" names them`,
    )
  const { value, tag } = await gateway.send<SeatView>(`/v1/seats/${id}`, { method: 'GET' })
  if (tag === null) throw new CommandFailed('the gateway sends no ETag: another change would be lost')
  return { seat: value, tag }
}

/**
 * The refusal of Seats, with suggestions for unknown names.
 *
 * @param names the list `/seats` of the body
 */
export async function withNearSeats(
  gateway: Gateway,
  refusal: GatewayRefusal,
  names: readonly string[],
): Promise<CommandFailed> {
  const unknown = refusal.problem.errors.flatMap(
    ({ path }) => names[Number(/^\/seats\/(\d+)$/.exec(path)?.[1])] ?? [],
  )
  const near: string[] = []
  for (const name of unknown) {
    // A key that may not list Seats gets the refusal without suggestions.
    const text = await suggestion(name, namesOfSeats(gateway)).catch(() => '')
    if (text !== '') near.push(`\n  ${quoted(name)}:${text}`)
  }
  return near.length === 0 ? refusal : new CommandFailed(`${refusal.message}${near.join('')}`)
}

async function* namesOfSeats(gateway: Gateway): AsyncGenerator<string> {
  for await (const page of gateway.pages<SeatView>('/v1/seats', idOf)) for (const { name } of page) yield name
}

/**
 * Finds an API key.
 *
 * @param nameOrId a name or an id. A revoked key has a name only if `includesRevoked` is set and no key in
 *   force has that name
 */
export async function findKey(
  gateway: Gateway,
  nameOrId: string,
  { includesRevoked = false } = {},
): Promise<ApiKeyView> {
  // The message does not repeat the text, which is a credential.
  const ofText = parseApiKey(nameOrId)
  if (ofText !== null)
    throw new CommandFailed(`this is the text of an API key: give its id, which is ${ofText.id}`)
  if (isUlid(nameOrId)) {
    const ofId = await gateway.get<ApiKeyView>(`/v1/api-keys/${nameOrId}`).catch((cause: unknown) => {
      if (cause instanceof GatewayRefusal && cause.problem.code === 'api_key_not_found') return null
      throw cause
    })
    if (ofId !== null) return ofId
  }
  const seen = new Set<string>()
  const namesakes = await all<ApiKeyView>(
    gateway.pages<ApiKeyView>('/v1/api-keys', idOf),
    ({ name, revoked_at }) => Boolean(revoked_at ?? seen.add(name)) && name === nameOrId,
  )
  const inForce = namesakes.filter(({ revoked_at }) => revoked_at === undefined)
  const named = inForce.length === 0 && includesRevoked ? namesakes : inForce
  const [key, ...others] = named
  if (key === undefined)
    throw new CommandFailed(
      `there is no API key ${quoted(nameOrId)} in force that this API key may see${await suggestion(nameOrId, seen)}: "seatgate keys list" names them`,
    )
  if (others.length > 0)
    throw new CommandFailed(
      `${named.length} API keys are named ${quoted(nameOrId)}: give an id\n${named.map(({ id, created_at }) => `  ${id}, created ${created_at}`).join('\n')}`,
    )
  return key
}

/**
 * Finds a user.
 *
 * @param subOrAddress a `sub`, or an email address that one user has
 * @returns null if no sign-in of the user is known
 */
export async function findUser(gateway: Gateway, subOrAddress: string): Promise<UserView | null> {
  const exact = await first<UserView>(
    gateway.pages<UserView>('/v1/users', ({ sub }) => sub, { sub: subOrAddress }),
    ({ sub }) => sub === subOrAddress,
  )
  if (exact !== null) return exact
  const near = await all<UserView>(
    gateway.pages<UserView>('/v1/users', ({ sub }) => sub, { q: subOrAddress }),
    ({ email }) => email?.toLowerCase() === subOrAddress.toLowerCase(),
  )
  if (near.length < 2) return near[0] ?? null
  throw new CommandFailed(
    `${near.length} users have the address ${quoted(subOrAddress)}: give a sub\n${near.map(({ sub }) => `  ${printable(sub)}`).join('\n')}`,
  )
}

/**
 * The `sub` of a user. An unknown one is taken with a note, because tokens from other issuers also have one.
 *
 * @throws CommandFailed for an unknown address, which no token has as its `sub`
 */
export async function findSub(gateway: Gateway, subOrAddress: string, terminal: Terminal): Promise<string> {
  const user = await findUser(gateway, subOrAddress)
  if (user !== null) return user.sub
  const near = await userSuggestion(gateway, subOrAddress)
  if (subOrAddress.includes('@'))
    throw new CommandFailed(
      `no user with the address ${quoted(subOrAddress)} has signed in${near}: with --sub it is taken as a sub`,
    )
  terminal.printError(`note: no sign-in of ${quoted(subOrAddress)} is known${near}: it is taken as a sub`)
  return subOrAddress
}

/** All users that the API key may see. */
async function* everyUser(gateway: Gateway): AsyncGenerator<UserView> {
  for await (const page of gateway.pages<UserView>('/v1/users', ({ sub }) => sub)) yield* page
}

/** A suggestion for a user without a known sign-in; see {@link suggestion}. */
function userSuggestion(gateway: Gateway, subOrAddress: string): Promise<string> {
  return suggestion(subOrAddress, namesOfUsers(gateway, subOrAddress))
}

/** A suggestion from the blocked users, who may have no known sign-in. */
export function blockedSuggestion(gateway: Gateway, subOrAddress: string): Promise<string> {
  return suggestion(subOrAddress, namesOfBlocked(gateway, subOrAddress))
}

/** Each `sub`, and each email address if the text has an `@`. */
async function* namesOfUsers(gateway: Gateway, subOrAddress: string): AsyncGenerator<string> {
  for await (const { sub, email } of everyUser(gateway)) {
    yield sub
    if (email !== null && subOrAddress.includes('@')) yield email
  }
}

async function* namesOfBlocked(gateway: Gateway, subOrAddress: string): AsyncGenerator<string> {
  for await (const page of gateway.pages<BlockView>('/v1/blocks', idOf))
    for (const { user } of page) yield user
  if (subOrAddress.includes('@'))
    for await (const { email, blocked } of everyUser(gateway)) if (email !== null && blocked) yield email
}

/** The blocks of a user, which have different origins. */
export async function findBlocks(gateway: Gateway, user: string): Promise<BlockView[]> {
  const blocks: BlockView[] = []
  for await (const page of gateway.pages<BlockView>('/v1/blocks', idOf))
    blocks.push(...page.filter((block) => block.user === user))
  return blocks
}

export function idOf({ id }: { readonly id: string }): string {
  return id
}

async function first<V>(pages: AsyncIterable<V[]>, wanted: (item: V) => boolean): Promise<V | null> {
  for await (const page of pages) {
    const match = page.find(wanted)
    if (match !== undefined) return match
  }
  return null
}

async function all<V>(pages: AsyncIterable<V[]>, wanted: (item: V) => boolean): Promise<V[]> {
  const items: V[] = []
  for await (const page of pages) items.push(...page.filter(wanted))
  return items
}
