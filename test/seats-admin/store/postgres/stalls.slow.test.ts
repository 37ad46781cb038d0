/**
 * A file of Seats does not hold the event loop: with PostgreSQL, all but the statements runs in the thread of the gateway. For
 * SQLite, `test/pipeline/stalls` measures whole requests.
 */

import t from 'tap'
import type { WantedSeats } from '../../../../seats-admin/model/seat.ts'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { leastStall } from '../../../support/stalls.ts'
import { done, writer } from '../conformance.ts'
import { openEmpty } from './support.ts'

const server = await startPostgres(t, { fsync: false })

t.test('10,000 Seats, and Seats of 50 KiB', { timeout: 300_000 }, async (t) => {
  const store = await openEmpty(t, server)
  const file = (count: number, permissions: number, operation: string) => ({
    prune: true,
    seats: Array.from({ length: count }, (_, at) => ({
      name: `Seat ${at}`,
      spaces: ['main'],
      permissions: Array.from(
        { length: permissions },
        (_unused, each) => `resource-${each}:${operation}-${at}`,
      ),
      was: null,
    })),
  })
  const planned = async (wanted: WantedSeats) => done(await store.planSeats(writer(), wanted)).changes.length
  const applied = async (wanted: WantedSeats) =>
    done(await store.applySeats(writer(), wanted, null)).changes.length
  let before = file(0, 0, '')
  for (const [name, wanted] of Object.entries({
    'first ones': file(10, 1, 'a'),
    'new ones': file(10_000, 5, 'a'),
    'changed ones': file(10_000, 5, 'b'),
    'large ones': file(150, 2500, 'c'),
    'small ones': file(150, 1, 'd'),
  })) {
    for (const [how, call] of Object.entries({ planned, applied })) {
      const measured = await leastStall(
        () => call(wanted),
        () => applied(before),
      )
      t.ok(measured.result > 0, name)
      t.ok(measured.isShort, `${name}, ${how}: held for ${measured.stall.toFixed(1)} ms`)
    }
    before = wanted
  }
})
