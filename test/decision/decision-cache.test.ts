/** A cached authorization equals one computed now. */

import type { GrantReading } from '../../seats-admin/model/readings.ts'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { Credentials } from '../../src/model/authorization-request.ts'
import type { Decision } from '../../src/model/decision.ts'
import type { Principal } from '../../src/model/principal.ts'
import type { Seat } from '../../src/model/decision-seat.ts'
import { DecisionEngine } from '../../src/decision/engine.ts'
import { NO_EXCEPTIONS } from '../../src/decision/router/pattern.ts'
import { compileTable } from '../../src/decision/router/table.ts'
import { SeatMemory } from '../../src/decision/seats/memory.ts'
import { collected } from '../support/garbage.ts'
import { NO_RESTRICTIONS } from './seats/no-restrictions.ts'

const BYTES = 2 ** 20
const NAMES = ['Viewer', 'Editor', 'Owner', 'Guest']
const SPACES = ['s1', 's2']
const PERMISSIONS = ['trainings:list', 'trainings:write']

const upstreams = new Map([['main', { allowSemicolons: false, allowEncodedSlashes: false }]])
const entries = PERMISSIONS.map((requirement, at) => ({
  ...{ method: 'GET', path: `/${requirement}`, requirement, upstream: 'main' },
  ...{ responseTimeout: null, maxBody: 0, signIn: null },
  place: { file: 'routes.yaml', line: at + 1, column: 1 },
}))
const { table } = compileTable(entries, upstreams, [])

/**
 * A store whose Seats the test changes, the memory that receives the changes, and a decision engine with a given
 * caller.
 */
class World {
  readonly seats = new Map<string, GrantReading>()
  readonly givenUp = new Map<string, number>()
  readonly memory: SeatMemory
  /** Reads of the store. */
  reads = 0
  /** Look-ups in memory, and the Seats that it returned synchronously. */
  lookUpCount = 0
  readonly returned: WeakRef<Seat>[] = []
  readonly #engine: DecisionEngine
  #caller: Principal = bearer({})
  #seq = 1

  constructor(bytes = BYTES) {
    const asOf = async <V>(value: V) => {
      this.reads++
      return { seq: this.#seq, value: structuredClone(value) }
    }
    const byName = (name: string) => [...this.seats.values()].find((row) => row.name === name) ?? null
    const source = {
      grantByName: (_tenant: string, name: string) =>
        asOf({ seat: byName(name), givenUpAt: this.givenUp.get(name) ?? null }),
      grantById: (_tenant: string, id: string) => asOf(this.seats.get(id) ?? null),
      spacesByName: (_tenant: string, name: string) => asOf(byName(name)),
      seatById: (_tenant: string, id: string) => asOf(this.seats.get(id) ?? null),
      apiKeyById: () => asOf(null),
    }
    const memory = new SeatMemory(source, { ...NO_RESTRICTIONS, readSession: () => asOf(null) }, bytes)
    this.memory = memory
    const count = () => {
      this.lookUpCount++
      return memory
    }
    this.#engine = new DecisionEngine({
      table,
      authenticator: { authenticate: () => this.#caller },
      seats: {
        received: memory.received,
        seatByName: (...query) => {
          const named = count().seatByName(...query)
          if (!(named instanceof Promise) && named.seat !== null) this.returned.push(new WeakRef(named.seat))
          return named
        },
        seatById: (...query) => count().seatById(...query),
        wholeSeat: (...query) => memory.wholeSeat(...query),
        groupsOf: (...query) => memory.groupsOf(...query),
        grantsOf: (...query) => memory.grantsOf(...query),
      },
      fewSeats: 0,
      restrictions: memory,
      lease: { live: () => true, renewed: async () => {} },
      targetBytes: 8000,
      exceptions: () => NO_EXCEPTIONS,
    })
  }

  put(name: string, spaces: readonly string[], permissions: readonly string[]): void {
    this.seats.set(`id of ${name}`, { id: `id of ${name}`, name, spaces, permissions, complete: true })
    this.#changed(name)
  }

  drop(name: string, givenUpAt: number): void {
    this.seats.delete(`id of ${name}`)
    this.givenUp.set(name, givenUpAt)
    this.#changed(name)
  }

  #changed(name: string): void {
    const change = { seq: ++this.#seq, tenant: 'acme' }
    this.memory.applyAnnouncement([
      { ...change, kind: 'seat', key: `id of ${name}` },
      { ...change, kind: 'seat-name', key: name },
    ])
  }

  async decide(caller: Principal, space = 's1', permission = 'trainings:list'): Promise<Decision> {
    this.#caller = caller
    const credentials: Credentials = { apiKey: [], authorization: [], cookie: [], space: [space] }
    const browser = { method: 'GET', rawHeaders: [], upgrade: false }
    const ask = { method: 'GET', target: `/${permission}`, host: null, credentials, browser }
    return (await this.#engine.evaluate(ask)).decision
  }

  async code(caller: Principal, space = 's1', permission = 'trainings:list'): Promise<string> {
    return (await this.decide(caller, space, permission)).code
  }
}

function bearer(names: Record<string, readonly string[]>, issuedAt = 100): Principal {
  const claims = { by: 'name', entries: new Map(Object.entries(names)), issuedAt } as const
  const subject = { tenant: 'acme', user: 'alice', email: null, owner: 'alice', issuedAt: 100 }
  return { method: 'bearer', ...subject, claims, session: null, validUntil: null }
}

function apiKey(names: readonly string[]): Principal {
  const claims = { by: 'id', seats: names.map((name) => `id of ${name}`) } as const
  return { ...bearer({}), method: 'api-key', claims }
}

/** The number of look-ups in memory for these requests in sequence. */
async function lookUps(world: World, ...turns: [caller: Principal, space?: string, permission?: string][]) {
  const before = world.lookUpCount
  for (const turn of turns) await world.code(...turn)
  return world.lookUpCount - before
}

async function known(t: Test, caller: Principal): Promise<World> {
  const world = new World()
  world.put('Viewer', ['s1'], ['trainings:list'])
  for (let i = 0; i < 2; i++) t.equal(await world.code(caller), 'allow')
  t.equal(await lookUps(world, [caller]), 0)
  return world
}

t.test('a repeated request needs no look-up and gets the same list', async (t) => {
  const alice = bearer({ s1: ['Viewer'] })
  const world = await known(t, alice)
  const [one, two] = [await world.decide(alice), await world.decide(alice)]
  t.equal(one.seats, two.seats)
  t.match(one, { code: 'allow', seats: [{ name: 'Viewer', verdict: 'grants' }] })
})

t.test('a result that needed the store is not cached, because it may have changed meanwhile', async (t) => {
  const alice = bearer({ s1: ['Viewer'] })
  const world = new World()
  world.put('Viewer', ['s1'], ['trainings:list'])
  t.equal(await lookUps(world, [alice], [alice], [alice]), 2)
  t.equal(world.reads, 1)
})

t.test('a notified change invalidates it, and so does a read of the feed without changes', async (t) => {
  for (const caller of [bearer({ s1: ['Viewer'] }), apiKey(['Viewer'])]) {
    const world = await known(t, caller)
    world.put('Viewer', ['s1'], ['trainings:read'])
    t.equal(await world.code(caller), 'permission_denied')
    world.put('Viewer', ['s2'], ['trainings:list'])
    t.not(await world.code(caller), 'allow')
    world.put('Viewer', ['s1'], ['*'])
    for (let i = 0; i < 2; i++) t.equal(await world.code(caller), 'allow')
    world.memory.applyReading([], { seq: world.memory.received.position })
    t.equal(await lookUps(world, [caller]), 1, 'it counts as used in memory')
    world.memory.applyReading(null, { seq: world.memory.received.position })
    t.equal(await lookUps(world, [caller], [caller]), 2, 'all was invalidated')
    world.drop('Viewer', 200)
    t.not(await world.code(caller), 'allow')
  }
})

t.test('a change of a Seat that memory has evicted invalidates it too', async (t) => {
  const alice = bearer({ s1: ['Viewer'] })
  const world = await known(t, alice)
  world.memory.resize(0)
  world.put('Viewer', ['s1'], [])
  t.equal(await world.code(alice), 'permission_denied')
})

t.test('a name that was given up and reused grants nothing to an older token', async (t) => {
  const [older, newer] = [bearer({ s1: ['Viewer'] }, 150), bearer({ s1: ['Viewer'] }, 250)]
  const world = await known(t, older)
  world.drop('Viewer', 200)
  world.put('Viewer', ['s1'], ['trainings:list'])
  for (let i = 0; i < 2; i++) t.equal(await world.code(older), 'permission_denied')
  for (let i = 0; i < 2; i++) t.equal(await world.code(newer), 'allow')
})

t.test('each caller, space and permission has its own entry', async (t) => {
  const world = new World()
  world.put('Viewer', ['s1'], ['trainings:list'])
  world.put('Editor', ['s2'], ['trainings:write'])
  const alice = bearer({ s1: ['Viewer'], s2: ['Editor'] })
  const bob = bearer({ s1: ['Editor'], s2: ['Viewer'] })
  for (let turn = 0; turn < 3; turn++) {
    t.equal(await world.code(alice, 's1', 'trainings:list'), 'allow')
    t.equal(await world.code(alice, 's1', 'trainings:write'), 'permission_denied')
    t.equal(await world.code(alice, 's2', 'trainings:write'), 'allow')
    t.equal(await world.code(alice, 's2', 'trainings:list'), 'permission_denied')
    t.equal(await world.code(bob, 's1', 'trainings:list'), 'permission_denied')
    t.equal(await world.code(alice, 's3', 'trainings:list'), 'no_seat_in_space')
  }
})

const names = fc.subarray(NAMES)
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      caller: fc.nat(3),
      space: fc.constantFrom(...SPACES),
      permission: fc.constantFrom(...PERMISSIONS),
    }),
  },
  fc.record({
    do: fc.constant('put' as const),
    name: fc.constantFrom(...NAMES),
    spaces: fc.subarray(SPACES),
    permissions: fc.subarray([...PERMISSIONS, '*']),
  }),
  fc.record({ do: fc.constant('drop' as const), name: fc.constantFrom(...NAMES), at: fc.nat(200) }),
  fc.record({ do: fc.constant('resize' as const), bytes: fc.constantFrom(0, 6000, BYTES) }),
  fc.record({ do: fc.constant('read' as const), changes: fc.constantFrom(null, []) }),
)
const caller = fc.oneof(
  fc.record({ s1: names, s2: names }).map((named) => bearer(named)),
  names.map(apiKey),
)

t.test('after any sequence of events, the result equals that of an empty cache', async () => {
  const callers = fc.array(caller, { minLength: 4, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(callers, fc.array(step, { maxLength: 60 }), async (principals, steps) => {
      const world = new World()
      for (const it of steps) {
        if (it.do === 'put') world.put(it.name, it.spaces, it.permissions)
        else if (it.do === 'drop') world.drop(it.name, it.at)
        else if (it.do === 'resize') world.memory.resize(it.bytes)
        else if (it.do === 'read')
          world.memory.applyReading(it.changes, { seq: world.memory.received.position })
        else {
          const principal = principals[it.caller] ?? bearer({})
          const fresh = new World()
          for (const [id, row] of world.seats) fresh.seats.set(id, row)
          for (const [name, at] of world.givenUp) fresh.givenUp.set(name, at)
          const [is, should] = await Promise.all(
            [world, fresh].map((each) => each.decide(principal, it.space, it.permission)),
          )
          if (is?.code !== should?.code || JSON.stringify(is?.seats) !== JSON.stringify(should?.seats))
            return false
        }
      }
      return true
    }),
    { numRuns: 500 },
  )
})

t.test('cached callers do not retain Seats that memory has evicted', async (t) => {
  const world = new World()
  const callers = NAMES.map((name) => bearer({ s1: [name] }))
  for (const name of NAMES) world.put(name, ['s1'], [])
  const ask = async () => {
    for (const principal of callers) t.equal(await world.code(principal), 'permission_denied')
  }
  for (let i = 0; i < 3; i++) await ask()
  const held = () => world.returned.filter((ref) => ref.deref() !== undefined).length
  await collected()
  t.ok(held() >= NAMES.length, `${held()} are retained`)
  world.memory.resize(0)
  await collected()
  t.equal(held(), 0)
  t.equal(await lookUps(world, ...callers.map((each): [Principal] => [each])), 0)
})
