/** `kill -9` of writers and of the server: acknowledged writes are complete, and other writers continue. */

import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { isRefusal, StoreUnavailable } from '../../../../seats-admin/index.ts'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { until } from '../../../support/until.ts'
import { done, writer } from '../conformance.ts'
import { lost, startWriter, writeUntilKilled } from '../killed.ts'
import { KILLED } from '../killed-records.ts'
import { emptyDatabase, open } from './support.ts'

const server = await startPostgres(t)
const LANES = 2

for (const kind of KILLED) {
  const { what, rounds, faults } = kind
  t.test(`${LANES * rounds} writers of ${what} are killed beside a running one`, async (t) => {
    const url = await emptyDatabase(server)
    const store = await open(t, { url })
    let dying = true
    const others = (async () => {
      const { id } = done(await store.createSeat(writer(), { name: 'x', spaces: [], permissions: [] })).value
      for (let round = 0; dying; round++) done(await store.updateSeat(writer(), id, { spaces: [`${round}`] }))
      return done(await store.deleteSeat(writer(), id))
    })()
    const lane = async (number: number) => {
      const all: string[] = []
      for (let round = 0; round < rounds; round++) {
        const location = { kind: 'postgres', url, timeout: 60_000 } as const
        all.push(...(await writeUntilKilled(location, `${number}-${round}`, what)))
      }
      t.same(await lost(store, all, kind), [], `lane ${number}: ${all.length} acknowledged`)
      t.ok(all.length >= rounds, 'at least one in each round')
      return all
    }
    const all = (await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)))).flat()
    dying = false
    const { seq } = await others
    t.same(await faults(store, all), [])
    const { changes } = await store.changesSince(null)
    t.same(
      changes?.map((each) => each.seq),
      changes?.map((_, at) => seq - changes.length + 1 + at),
      'no gap where a writer was killed',
    )
  })
}

t.test('the server is killed during many writes', async (t) => {
  const url = await emptyDatabase(server)
  const store = await open(t, { url })
  const all = KILLED.map((): string[] => [])
  for (let round = 0; round < 2; round++) {
    const ends = await Promise.all(
      KILLED.flatMap(({ what }, kind) =>
        [0, 1].map(async (at) => {
          const child = startWriter({ kind: 'postgres', url, timeout: 10_000 }, `${round}-${at}`, what)
          t.teardown(() => child.kill('SIGKILL'))
          const lines = createInterface(child.stdout).on('line', (line) => all[kind]?.push(line))
          const end = once(lines, 'close')
          await once(lines, 'line')
          return { end }
        }),
      ),
    )
    await sleep(Math.random() * 200)
    await server.kill()
    await Promise.all(ends.map(({ end }) => end))
    await server.restart()
  }
  for (const [at, kind] of KILLED.entries()) {
    const acknowledged = all[at] ?? []
    t.same(await lost(store, acknowledged, kind), [], `${kind.what}: ${acknowledged.length} acknowledged`)
    t.same(await kind.faults(store, acknowledged), [])
  }
})

t.test(
  'the server is restarted during writes: each write is applied, or its outcome is unknown',
  async (t) => {
    const store = await open(t, { url: await emptyDatabase(server) })
    const acknowledged: string[] = []
    const unknown: string[] = []
    let writing = true
    const lanes = [0, 1, 2, 3].map(async (lane) => {
      for (let count = 0; writing; count++) {
        const name = `${lane}-${count}`
        try {
          const made = await store.createSeat(writer(), { name, spaces: [], permissions: [] })
          if (isRefusal(made)) throw new Error(made.detail)
          acknowledged.push(name)
        } catch (cause) {
          if (!(cause instanceof StoreUnavailable)) throw cause
          unknown.push(name)
          await sleep(20)
        }
      }
    })
    const enough = (more: number, all: readonly string[]) => {
      const least = all.length + more
      return until(() => all.length >= least, `${least} outcomes of writes`)
    }
    for (let round = 1; round <= 2; round++) {
      await enough(20, acknowledged)
      const met = enough(1, unknown)
      await server.stop()
      await met
      await server.restart()
    }
    await enough(20, acknowledged)
    writing = false
    await Promise.all(lanes)
    for (const name of acknowledged) t.ok((await store.seatByName('acme', name)).value.seat, name)
    const { head } = await store.changesSince(null)
    const made = await Promise.all(
      unknown.map(async (name) => (await store.seatByName('acme', name)).value.seat),
    )
    const committed = acknowledged.length + made.filter((seat) => seat !== null).length
    t.equal(head.seq, 2 * committed, 'nothing else was written')
  },
)
