/**
 * Many users of one tenant sign in at once, and each claim names 60 Seats of 55 KiB: the reads of the change feed and
 * of other tenants do not wait for them. Before, each sign-in read 8 whole Seats at once. A read of the feed waited
 * behind 1,280 of them for 1.4 s, and every tenant lost its lease.
 */

import { join } from 'node:path'
import t, { type Test } from 'tap'
import { isRefusal } from '../../seats-admin/index.ts'
import { mapSeats } from '../../src/oidc/tokens/seat-mapping.ts'
import { SeatMemory } from '../../src/decision/seats/memory.ts'
import { seatsByName } from '../../src/runtime/sign-in.ts'
import { open, temporaryFolder } from '../seats-admin/store/sqlite/support.ts'
import { NO_RESTRICTIONS } from '../decision/seats/no-restrictions.ts'

const SIGN_INS = 12
/** Concurrent reads for sign-in, of one tenant and in total. */
const [OF_ONE, OF_ALL] = [4, 16]
const NAMES = Array.from({ length: 60 }, (_, at) => `Heavy ${at}`)
const PERMISSIONS = Array.from({ length: 2500 }, (_, at) => `resource-${at}:operation`)

async function given(t: Test) {
  const store = await open(t, { path: join(temporaryFolder(t), 'seatgate.db') })
  const scope = { space: 'admin', admin: true, all: true, permissions: ['*'] }
  for (const tenant of ['a', 'b', 'c', 'd', 'e'])
    for (const name of tenant === 'a' ? NAMES : ['Light']) {
      const permissions = tenant === 'a' ? PERMISSIONS : ['a:b']
      const writer = { tenant, by: 'eve', scope, now: Date.now() }
      const made = await store.createSeat(writer, { name, spaces: ['main'], permissions })
      if (isRefusal(made)) throw new Error(made.detail)
    }
  const seen = { started: [] as string[], answered: 0, most: 0, mostOfOne: 0 }
  const running = new Map<string, number>()
  const source = {
    grantByName: store.grantByName.bind(store),
    grantById: store.grantById.bind(store),
    seatById: store.seatById.bind(store),
    apiKeyById: store.apiKeyById.bind(store),
    async spacesByName(tenant: string, name: string) {
      seen.started.push(tenant)
      running.set(tenant, (running.get(tenant) ?? 0) + 1)
      seen.most = Math.max(
        seen.most,
        [...running.values()].reduce((sum, each) => sum + each),
      )
      seen.mostOfOne = Math.max(seen.mostOfOne, ...running.values())
      const read = await store.spacesByName(tenant, name)
      seen.answered++
      running.set(tenant, (running.get(tenant) ?? 0) - 1)
      return read
    },
  }
  const memory = new SeatMemory(
    source,
    { ...NO_RESTRICTIONS, readSession: (of, id) => store.sessions.readSession(of, id) },
    2 ** 24,
  )
  const seats = {
    seatsByName: (tenant: string, names: readonly string[]) => seatsByName(memory, tenant, names),
    recordSignIn: () => Promise.resolve(),
  }
  const log = { info: () => {}, warn: () => {}, error: () => {} }
  const signIn = (tenant: string, names: readonly string[]) => mapSeats({ seats, log }, tenant, names)
  return { store, memory, seen, signIn }
}

t.test('sign-ins of 60 Seats of 55 KiB', async (t) => {
  const { store, memory, seen, signIn } = await given(t)
  const attack = Array.from({ length: SIGN_INS }, () => signIn('a', NAMES))
  const light = await signIn('b', ['Light'])
  t.same(light.hashPerm, ['main:Light'])
  t.ok(seen.started.indexOf('b') <= OF_ONE, "another tenant's read is among the first")
  t.ok(seen.answered <= 3 * OF_ONE, `${seen.answered} reads were done before it`)

  const before = seen.answered
  await store.changesSince(null)
  t.ok(seen.answered - before <= 2 * OF_ONE, `the feed waited behind ${seen.answered - before} reads`)
  const decided = seen.answered
  t.equal((await memory.apiKeyById('a', 'none')) ?? null, null)
  t.ok(seen.answered - decided <= 2 * OF_ONE, 'a decision of the same tenant does not wait either')
  t.ok(seen.answered < SIGN_INS * NAMES.length, 'the attack is still running')

  for (const { names, hashPerm } of await Promise.all(attack)) {
    t.same(names, NAMES)
    t.same(
      hashPerm,
      NAMES.map((name) => `main:${name}`),
    )
  }
  t.equal(seen.answered, SIGN_INS * NAMES.length + 1, 'none was refused')
  t.equal(seen.mostOfOne, OF_ONE)
  t.equal(memory.waiting, 0)
})

t.test('concurrent sign-ins of many tenants', async (t) => {
  const { seen, signIn } = await given(t)
  const tenants = ['a', 'b', 'c', 'd', 'e', 'f']
  await Promise.all(tenants.flatMap((tenant) => Array.from({ length: 10 }, () => signIn(tenant, NAMES))))
  t.equal(seen.mostOfOne, OF_ONE)
  t.equal(seen.most, OF_ALL)
})
