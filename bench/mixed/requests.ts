/**
 * The requests of the mixed workload: many callers share the connections, so that consecutive requests on a
 * connection differ in caller, route and header lines. The same in every run except for signatures and times.
 */

import { routeEntry, SEATS, SPACE, seatName } from '../names.ts'
import { NEW_TOKEN, type PlannedRequest, type Requests, type Status, writeRequests } from '../requests.ts'
import { token, type TokenSetup, type World } from '../world.ts'
import { type Caller, callerOf, linesOf } from './callers.ts'
import { Random } from '../../test/support/random.ts'
import { sizeOf, Zipf } from './random.ts'

const SEED = 17
/** Length of the list before it repeats: five requests for each token. */
const LENGTH = 25_000
const TOKENS = 5000
/** Callers of each kind that is refused. */
const REFUSED = 200
/** One request in a hundred uses one: enough for two million. */
const NEW_TOKENS = 20_000

/** The shares of all requests. */
const SHARE = { apiKey: 0.1, newToken: 0.01, unauthorized: 0.01, forbidden: 0.01 }
const WRITES = 0.05
const DELETIONS = 0.01

/** @param apiKeys false: tokens replace API keys */
export function mixedRequests(world: World, folder: string, apiKeys: boolean): Requests {
  const random = new Random(SEED)
  const groups = groupsOf(random, world, apiKeys)
  const requests = numbers(LENGTH).map(() => {
    const { callers, status } = groupFor(random, groups)
    return { ...requestOf(random, callers[random.below(callers.length)]), status }
  })
  const newTokens = numbers(NEW_TOKENS).map((i) => token(world, userOf(TOKENS + i)))
  return writeRequests(folder, 'mixed', requests, newTokens)
}

/** Callers with the same treatment. */
interface Group {
  /** Share of all requests. */
  readonly share: number
  readonly status: Status
  readonly callers: readonly Caller[]
}

/** The last one takes the remaining share. */
function groupsOf(random: Random, world: World, apiKeys: boolean): Group[] {
  const bearer = (setup: TokenSetup) => `authorization: Bearer ${token(world, setup)}`
  const people = (count: number, credentialOf: (number: number) => string) =>
    numbers(count).map((i) => callerOf(random, credentialOf(i), false))
  const services = world.apiKeys.map((key, i) =>
    callerOf(random, apiKeys ? `x-api-key: ${key}` : bearer({ user: `service-${i}` }), true),
  )
  return [
    { share: SHARE.apiKey, status: 200, callers: services },
    {
      share: SHARE.newToken,
      status: 200,
      callers: people(REFUSED, () => `authorization: Bearer ${NEW_TOKEN}`),
    },
    { share: SHARE.unauthorized, status: 401, callers: people(REFUSED, (i) => bearer(badToken(i))) },
    { share: SHARE.forbidden, status: 403, callers: people(REFUSED, (i) => bearer(elsewhere(i))) },
    { share: 1, status: 200, callers: people(TOKENS, (i) => bearer(userOf(i, i % 5))) },
  ]
}

function groupFor(random: Random, groups: readonly Group[]): Group {
  let left = random.next()
  for (const group of groups) {
    if (left < group.share) return group
    left -= group.share
  }
  throw new Error('shares of less than all')
}

/** @param more entries of its Seats beside the one in use */
function userOf(number: number, more = 0): TokenSetup {
  const seats = numbers(more).map(
    (i) => `${i % 2 === 0 ? 's2' : SPACE}:${seatName((number + 7 * i + 1) % SEATS)}`,
  )
  return { user: `user-${number}`, hashPerm: [`${SPACE}:${seatName(number % SEATS)}`, ...seats] }
}

/** Three of four are signed by another key, the fourth is expired. */
function badToken(number: number): TokenSetup {
  return { ...userOf(number), ...(number % 4 === 0 ? { expiresIn: -30 } : { secret: 'x'.repeat(64) }) }
}

function elsewhere(number: number): TokenSetup {
  return { user: `user-${number}`, hashPerm: [`s2:${seatName(number)}`] }
}

/** Indexes of the entries of Seatgate's route table in use: 240 of reads, 60 of writes. */
const entries = {
  reads: numbers(240).map((i) => 41 * i - ((41 * i) % 10 === 9 ? 1 : 0)),
  writes: numbers(60).map((i) => 150 * i + 9),
}
const isDeletion = (number: number) => routeEntry(number).method === 'DELETE'
const routes = {
  reads: new Zipf(entries.reads),
  writes: new Zipf(entries.writes.filter((number) => !isDeletion(number))),
  deletions: new Zipf(entries.writes.filter(isDeletion)),
}

function requestOf(random: Random, caller: Caller | undefined): PlannedRequest {
  if (caller === undefined) throw new Error('an empty group')
  const kind = random.next()
  const isWrite = kind < WRITES
  const isDeletion = !isWrite && kind < WRITES + DELETIONS
  const { method, path: parent } = routeEntry(
    (isWrite ? routes.writes : isDeletion ? routes.deletions : routes.reads).pick(random),
  )
  const query =
    method === 'GET' && random.chance(0.3)
      ? `?page=${random.below(50)}&limit=${random.pick([20, 50, 100])}`
      : ''
  const path = `${parent}/${random.below(1e6)}${query}`
  const lines = linesOf(random, caller, parent)
  if (!isWrite) return { method, path, headers: lines }
  return {
    method,
    path,
    headers: [...lines, 'content-type: application/json'],
    body: sizeOf(random, 100, 8000),
  }
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i)
}
