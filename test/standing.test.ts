/** What is remembered of callers is what would be worked out now, and keeps nothing that memory has let go of. */

import fc from 'fast-check'
import t from 'tap'
import { decide } from '../src/authz/decide.ts'
import { standingBytes } from '../src/heap-size.ts'
import type { Principal, Trace } from '../src/exchange.ts'
import { SeatMemory, type SeatRow } from '../src/seats/memory.ts'
import { resolve } from '../src/seats/resolve.ts'
import { type Standing, Standings } from '../src/standing.ts'
import { collected } from './support/garbage.ts'

const BYTES = 2 ** 20
const NAMES = ['Viewer', 'Editor', 'Owner', 'Guest']
const SPACES = ['s1', 's2']
const PERMISSIONS = ['trainings:list', 'trainings:write']

/** A store whose Seats the test changes, and the memory that is told of it. */
class World {
  readonly seats = new Map<string, SeatRow>()
  readonly givenUp = new Map<string, number>()
  readonly memory: SeatMemory
  readonly standings: Standings
  #seq = 1

  constructor(bytes = BYTES) {
    const asOf = async <V>(value: V) => ({ seq: this.#seq, value })
    const byName = (name: string) => [...this.seats.values()].find((row) => row.name === name) ?? null
    this.memory = new SeatMemory(
      {
        seatByName: (_tenant, name) =>
          asOf({ seat: byName(name), givenUpAt: this.givenUp.get(name) ?? null }),
        seatById: (_tenant, id) => asOf(this.seats.get(id) ?? null),
        apiKeyById: () => asOf(null),
      },
      { readSession: () => asOf(null) },
      bytes,
    )
    this.standings = new Standings(this.memory)
  }

  put(name: string, spaces: readonly string[], permissions: readonly string[]): void {
    this.seats.set(`id of ${name}`, { id: `id of ${name}`, name, spaces, permissions })
    this.#changed(name)
  }

  drop(name: string, givenUpAt: number): void {
    this.seats.delete(`id of ${name}`)
    this.givenUp.set(name, givenUpAt)
    this.#changed(name)
  }

  #changed(name: string): void {
    const change = { seq: ++this.#seq, tenant: 'acme' }
    this.memory.hear([
      { ...change, kind: 'seat', key: `id of ${name}` },
      { ...change, kind: 'seat-name', key: name },
    ])
  }

  /** As the judge asks, and asks again once memory knows. */
  async standing(principal: Principal, space = 's1', trace: Trace = { source: 'memory' }): Promise<Standing> {
    await this.standings.of(principal, space, trace)
    const standing = this.standings.of(principal, space, trace)
    if (standing instanceof Promise) throw new Error('memory could not answer')
    return standing
  }
}

function bearer(entries: Record<string, readonly string[]>, issuedAt = 100): Principal {
  const claims = { by: 'name', entries: new Map(Object.entries(entries)), issuedAt } as const
  return {
    method: 'bearer',
    tenant: 'acme',
    user: 'alice',
    email: null,
    claims,
    session: null,
    validUntil: null,
  }
}

function apiKey(names: readonly string[]): Principal {
  const claims = { by: 'id', seats: names.map((name) => `id of ${name}`) } as const
  return { ...bearer({}), method: 'api-key', claims }
}

t.test('it is worked out once, and so is the outcome for the permission asked for last', async (t) => {
  const world = new World()
  world.put('Viewer', ['s1'], ['trainings:list'])
  const alice = bearer({ s1: ['Viewer'] })
  const standing = await world.standing(alice)
  t.equal(world.standings.of(alice, 's1', { source: 'memory' }), standing)
  const outcome = standing.decide('trainings:list')
  t.equal(outcome.code, 'allow')
  t.equal(standing.decide('trainings:list'), outcome)
  t.equal(standing.decide('trainings:write').code, 'permission_denied')
  t.same(standing.decide('trainings:list'), outcome)
})

t.test('not while the store is asked: by then it may have changed', async (t) => {
  const world = new World()
  world.put('Viewer', ['s1'], ['trainings:list'])
  const alice = bearer({ s1: ['Viewer'] })
  const trace: Trace = { source: 'memory' }
  const asked = world.standings.of(alice, 's1', trace)
  t.ok(asked instanceof Promise)
  const answered = await asked
  t.equal(trace.source, 'store')
  t.not(world.standings.of(alice, 's1', trace), answered)
})

t.test('a change of anything in memory ends it', async (t) => {
  const alice = bearer({ s1: ['Viewer'] })
  const key = apiKey(['Viewer'])
  for (const caller of [alice, key]) {
    const world = new World()
    world.put('Viewer', ['s1'], ['trainings:list'])
    t.equal((await world.standing(caller)).decide('trainings:list').code, 'allow')
    world.put('Viewer', ['s1'], ['trainings:read'])
    t.equal((await world.standing(caller)).decide('trainings:list').code, 'permission_denied')
    world.put('Viewer', ['s2'], ['trainings:list'])
    t.not((await world.standing(caller)).decide('trainings:list').code, 'allow')
    world.put('Viewer', ['s1'], ['*'])
    t.equal((await world.standing(caller)).decide('trainings:list').code, 'allow')
    const before = await world.standing(caller)
    world.memory.take(null)
    t.not(await world.standing(caller), before, 'all was forgotten')
    world.drop('Viewer', 200)
    t.not((await world.standing(caller)).decide('trainings:list').code, 'allow')
  }
})

t.test('a name that was given up and taken again gives nothing to an older token', async (t) => {
  const world = new World()
  world.put('Viewer', ['s1'], ['trainings:list'])
  const [older, newer] = [bearer({ s1: ['Viewer'] }, 150), bearer({ s1: ['Viewer'] }, 250)]
  t.equal((await world.standing(older)).decide('trainings:list').code, 'allow')
  world.drop('Viewer', 200)
  world.put('Viewer', ['s1'], ['trainings:list'])
  t.equal((await world.standing(older)).decide('trainings:list').code, 'permission_denied')
  t.equal((await world.standing(newer)).decide('trainings:list').code, 'allow')
})

t.test('what is pushed out ends it as well, though nothing has changed', async (t) => {
  const world = new World()
  world.put('Viewer', ['s1'], ['trainings:list'])
  const alice = bearer({ s1: ['Viewer'] })
  const standing = await world.standing(alice)
  world.memory.resize(0)
  world.memory.resize(BYTES)
  t.ok(world.standings.of(alice, 's1', { source: 'memory' }) instanceof Promise)
  t.not(await world.standing(alice), standing)
})

t.test('each caller and each space has its own', async (t) => {
  const world = new World()
  world.put('Viewer', ['s1'], ['trainings:list'])
  world.put('Editor', ['s2'], ['trainings:write'])
  const alice = bearer({ s1: ['Viewer'], s2: ['Editor'] })
  const bob = bearer({ s1: ['Editor'], s2: ['Viewer'] })
  for (let turn = 0; turn < 2; turn++) {
    t.equal((await world.standing(alice, 's1')).decide('trainings:list').code, 'allow')
    t.equal((await world.standing(alice, 's2')).decide('trainings:list').code, 'permission_denied')
    t.equal((await world.standing(alice, 's2')).decide('trainings:write').code, 'allow')
    t.equal((await world.standing(bob, 's1')).decide('trainings:list').code, 'permission_denied')
    t.equal((await world.standing(alice, 's3')).decide('trainings:list').code, 'no_seat_in_space')
  }
})

const names = fc.subarray(NAMES)
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      caller: fc.nat(5),
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
  fc.record({ do: fc.constant('forget' as const) }),
)
const caller = fc.oneof(
  fc.record({ s1: names, s2: names }).map((entries) => bearer(entries)),
  names.map(apiKey),
)

t.test('whatever happens in between, the answer is that of a memory that remembers nothing', async () => {
  const callers = fc.array(caller, { minLength: 6, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(callers, fc.array(step, { maxLength: 60 }), async (principals, steps) => {
      const world = new World()
      for (const it of steps) {
        if (it.do === 'put') world.put(it.name, it.spaces, it.permissions)
        else if (it.do === 'drop') world.drop(it.name, it.at)
        else if (it.do === 'resize') world.memory.resize(it.bytes)
        else if (it.do === 'forget') world.memory.take(null)
        else {
          const principal = principals[it.caller] ?? bearer({})
          const { outcome, expected } = await ask(world, principal, it.space, it.permission)
          if (JSON.stringify(outcome) !== JSON.stringify(expected)) return false
        }
      }
      return true
    }),
    { numRuns: 500 },
  )
})

async function ask(world: World, principal: Principal, space: string, permission: string) {
  const trace: Trace = { source: 'memory' }
  const standing = await world.standings.of(principal, space, trace)
  const outcome = standing.decide(permission)
  // It has the store's state as it is, as nothing else happens meanwhile.
  const fresh = new World()
  for (const [id, row] of world.seats) fresh.seats.set(id, row)
  for (const [name, at] of world.givenUp) fresh.givenUp.set(name, at)
  const expected = decide(await resolve(fresh.memory, principal, space, trace), space, permission)
  return { outcome, expected }
}

t.test('callers that stay keep no Seats that memory has pushed out', async (t) => {
  const world = new World(BYTES)
  // As large as can be held: many are pushed out.
  const words = (at: number) => Array.from({ length: 200 }, (_, i) => `p${at}-${i}:${'x'.repeat(60)}`)
  const callers = Array.from({ length: 300 }, (_, at) => bearer({ s1: [`Seat ${at}`] }))
  for (let at = 0; at < callers.length; at++) world.put(`Seat ${at}`, ['s1'], words(at))
  const before = (await collected()).heapUsed
  for (const principal of callers) (await world.standing(principal)).decide('trainings:list')
  const grown = (await collected()).heapUsed - before
  t.ok(world.memory.sizes.names < callers.length / 4, `${world.memory.sizes.names} are held`)
  t.ok(grown < 1.5 * BYTES, `${grown} bytes`)
  t.equal(callers.length, 300)
})

t.test('it takes what it is said to take, or less', async (t) => {
  for (const seats of [0, 1, 20, 150]) {
    const world = new World(2 ** 30)
    const names = Array.from({ length: seats }, (_, at) => `Seat ${at}`)
    for (const name of names) world.put(name, ['s1'], ['trainings:list'])
    const callers = Array.from({ length: 2000 }, () => bearer({ s1: names }))
    await world.standing(bearer({ s1: names }))
    const before = (await collected()).heapUsed
    for (const principal of callers) (await world.standing(principal)).decide('trainings:list')
    const took = ((await collected()).heapUsed - before) / callers.length
    t.ok(took > 50 && took <= standingBytes(seats), `${took} bytes of ${standingBytes(seats)}`)
    t.ok(standingBytes(seats) < 3 * took, `${standingBytes(seats)} bytes are said to be ${took}`)
    t.equal(callers.length, 2000)
  }
})
