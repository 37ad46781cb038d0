/** The estimated size of memory covers its real size, because operators set a bound by it. */

import type { GrantReading } from '../../../seats-admin/model/readings.ts'
import t from 'tap'
import { SeatQuestion } from '../../../src/model/decision-seat.ts'
import { SeatMemory } from '../../../src/decision/seats/memory.ts'
import { collected } from '../../support/garbage.ts'
import { NO_RESTRICTIONS } from './no-restrictions.ts'

const TIMES = 1000
const QUERY = new SeatQuestion('s1', 'a:b')

const list = (count: number, text: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => text(at))

/** Unshared strings, as from a store. */
const own = <V>(value: V): V => structuredClone(value)

function seat(id: string, spaces: string[], permissions: string[]): GrantReading {
  return { id, name: `Seat ${id}`, spaces, permissions, complete: true }
}

/** Words are unique to a Seat, because V8 shares equal strings in a Set. */
const SEATS: Record<string, (id: string) => GrantReading> = {
  bare: (id) => seat(id, [], []),
  'of shared words': (id) => seat(id, ['s1', 's2'], ['trainings:list', 'trainings:read']),
  'of its own words': (id) =>
    seat(
      id,
      [`s1-${id}`],
      list(4, (at) => `trainings-${id}:do-${at}`),
    ),
  'of many': (id) =>
    seat(
      id,
      list(100, (at) => `${at}-${id}`),
      list(33, (at) => `permission-${at}-${id}:read`),
    ),
  'of long words': (id) =>
    seat(
      id,
      [id],
      list(3, (at) => `${'e'.repeat(90)}${id}${at}:*`),
    ),
  'of words with two-byte characters': (id) =>
    seat(
      id,
      [id],
      list(3, (at) => `${'☃'.repeat(90)}${id}${at}:*`),
    ),
}

/** As database drivers return it: a slice of the pool for small buffers, with others in between. */
function hash(): Uint8Array {
  Buffer.from('x'.repeat(3000))
  return Buffer.from('a'.repeat(64), 'hex')
}

function memoryOf(row: (id: string) => GrantReading): SeatMemory {
  const asOf = async <V>(value: V) => ({ seq: 1, value })
  const entries = (id: string) => row(id).spaces.map((space) => `${space}:Seat ${id}`)
  const person = { user: 'alice', email: 'alice@acme.example', endedAt: null, revoked: false, voidUntil: 0 }
  const times = { issuedAt: 1_800_000_000, renewAt: 1_800_000_000_500, expiresAt: 1_800_000_000_500 }
  const key = { seatIds: ['a', 'b'], expiresAt: 1_800_000_000_500, revokedAt: null, owner: null }
  const session = (id: string) => own({ id, tenant: 'acme', hashPerm: entries(id), ...person, ...times })
  return new SeatMemory(
    {
      grantByName: (_tenant, name) => asOf({ seat: own(row(name)), givenUpAt: 1_800_000_000_500 }),
      spacesByName: () => asOf(null),
      seatById: () => asOf(null),
      grantById: (_tenant, id) => asOf(id.startsWith('gone') ? null : own(row(id))),
      apiKeyById: (_tenant, id) =>
        asOf(id.startsWith('gone') ? null : { ...own({ id, tenant: 'acme', ...key }), hash: hash() }),
    },
    { ...NO_RESTRICTIONS, readSession: (_tenant, id) => asOf({ ...session(id), cookieHash: hash() }) },
    2 ** 40,
  )
}

const READS: Record<string, (memory: SeatMemory, id: string) => unknown> = {
  'by name': (memory, id) => memory.seatByName('acme', id, QUERY),
  'by id': (memory, id) => memory.seatById('acme', id, QUERY),
  'a deleted Seat': (memory, id) => memory.seatById('acme', `gone ${id}`, QUERY),
  'a deleted key': (memory, id) => memory.apiKeyById('acme', `gone ${id}`),
  'an API key': (memory, id) => memory.apiKeyById('acme', id),
  'a session': (memory, id) => memory.sessionById('acme', id),
}

// What the engine keeps for code that has run often belongs to no memory, and to no first measurement.
for (const row of Object.values(SEATS))
  for (const read of Object.values(READS)) {
    const memory = memoryOf(row)
    for (let i = 0; i < TIMES; i++) await read(memory, `first ${i}`)
  }

for (const [kind, row] of Object.entries(SEATS)) {
  t.test(`a Seat ${kind}`, async (t) => {
    // Deleted ones and keys take the same for each Seat.
    const ways = Object.entries(READS).filter(([way]) => kind === 'bare' || !/deleted|key/.test(way))
    for (const [way, read] of ways) {
      const memory = memoryOf(row)
      await read(memory, 'first')
      const [heap, counted] = [await held(), memory.bytes]
      for (let i = 0; i < TIMES; i++) await read(memory, `01JZ00000000000000000${i}`)
      const [took, said] = [((await held()) - heap) / TIMES, (memory.bytes - counted) / TIMES]
      t.ok(took > 50, `${way}: it is cached`)
      t.ok(took <= said, `${way}: ${took} bytes of ${said}`)
      // The estimate includes the values that requests derive from a session or a key, and no request runs here.
      t.ok(
        said < (/^a session|API key$/.test(way) ? 8 : 4) * took,
        `${way}: ${said} bytes estimated, ${took} measured`,
      )
    }
  })
}

/** Small byte arrays lie outside the heap. Garbage is collected first. */
async function held(): Promise<number> {
  const { heapUsed, arrayBuffers } = await collected()
  return heapUsed + arrayBuffers
}
