/** Seat names to entries: one entry for each space of each existing Seat, within bounds. */

import t from 'tap'
import { mapSeats } from '../../src/oidc/tokens/seat-mapping.ts'
import type { SpacesReading } from '../../seats-admin/model/readings.ts'
import type { OidcLog, SeatDirectory } from '../../src/oidc/ports.ts'

function given() {
  const known = new Map<string, SpacesReading>()
  const add = (tenant: string, name: string, spaces: readonly string[]) =>
    known.set(`${tenant} ${name}`, { id: String(known.size), name, spaces })
  const seats: Pick<SeatDirectory, 'seatsByName'> = {
    seatsByName: async (tenant, names) => names.flatMap((name) => known.get(`${tenant} ${name}`) ?? []),
  }
  const lines: Record<string, unknown>[] = []
  const write = (fields: Readonly<Record<string, unknown>>) => void lines.push(fields)
  const log: OidcLog = { info: write, warn: write, error: write }
  return { add, seats, lines, log }
}

t.test('one entry for each space of each Seat, in the order of the claim', async (t) => {
  const { add, seats, lines, log } = given()
  add('acme', 'B', ['s2', 's1'])
  add('acme', 'a:b', ['s1'])
  add('acme', 'nowhere', [])
  const mapped = await mapSeats({ seats, log }, 'acme', ['a:b', 'B', 'nowhere'])
  t.same(mapped.hashPerm, ['s1:a:b', 's2:B', 's1:B'])
  t.same(mapped.names, ['a:b', 'B', 'nowhere'])
  t.equal(mapped.ids.length, 3)
  t.equal(lines.length, 0)
})

t.test('names match exactly, within the tenant', async (t) => {
  const { add, seats, lines, log } = given()
  add('acme', 'Viewer', ['s1'])
  add('globex', 'Editor', ['s1'])
  const mapped = await mapSeats({ seats, log }, 'acme', ['viewer', 'Viewer ', 'VIEWER', 'Editor', ''])
  t.same(mapped, { ids: [], names: [], hashPerm: [] })
  t.match(lines, [{ event: 'seats_unknown', tenant: 'acme', count: 5 }])
})

t.test('unrequested Seats and malformed spaces from a store grant nothing', async (t) => {
  const { log } = given()
  const seats = {
    seatsByName: async () => [
      { id: '1', name: 'Viewer', spaces: ['s1', 'a:b', ''] },
      { id: '2', name: 'Admin', spaces: ['s1'] },
    ],
    recordSignIn: async () => {},
  }
  t.same(await mapSeats({ seats, log }, 'acme', ['Viewer']), {
    ids: ['1'],
    names: ['Viewer'],
    hashPerm: ['s1:Viewer'],
  })
})

t.test('the number of entries is bounded', async (t) => {
  const { add, seats, lines, log } = given()
  const spaces = Array.from({ length: 100 }, (_, i) => `s${i}`)
  const names = Array.from({ length: 2000 }, (_, i) => `seat ${i}`)
  for (const name of names) add('acme', name, spaces)
  const mapped = await mapSeats({ seats, log }, 'acme', names)
  t.equal(mapped.ids.length, 1000)
  t.equal(mapped.hashPerm.length, 5000)
  t.same(
    lines.map(({ event }) => event),
    ['seats_unknown', 'seats_cut'],
  )
})

t.test('no names, no look-up', async (t) => {
  const { log } = given()
  const seats = { seatsByName: () => Promise.reject(new Error('away')), recordSignIn: async () => {} }
  t.same(await mapSeats({ seats, log }, 'acme', []), { ids: [], names: [], hashPerm: [] })
  await t.rejects(mapSeats({ seats, log }, 'acme', ['a']))
})
