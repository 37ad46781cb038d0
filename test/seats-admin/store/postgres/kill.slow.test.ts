/** `kill -9` of writers and of the server: acknowledged writes are complete, and other writers continue. */

import { once } from 'node:events'
import { createInterface } from 'node:readline'
import t from 'tap'
import { isRefusal, StoreUnavailable } from '../../../../seats-admin/index.ts'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { done, writer } from '../conformance.ts'
import { auditFaults, lostWrites, incompleteSeats, startWriter, writeUntilKilled } from '../killed.ts'
import { emptyDatabase, open } from './support.ts'

const server = await startPostgres(t)
const LANES = 2
const ROUNDS = 20

t.test(`${LANES * ROUNDS} writers killed beside a running one`, async (t) => {
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
    for (let round = 0; round < ROUNDS; round++) {
      const location = { kind: 'postgres', url, timeout: 10_000 } as const
      all.push(...(await writeUntilKilled(location, `${number}-${round}`, Math.random() * 100)))
    }
    t.same(await lostWrites(store, all), [], `lane ${number}: ${all.length} acknowledged`)
    t.ok(all.length >= ROUNDS, 'at least one in each round')
    return all
  }
  const all = (await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)))).flat()
  dying = false
  const { seq } = await others
  t.same(await auditFaults(store, all), [])
  t.same(await incompleteSeats(store), [])
  const { changes } = await store.changesSince(null)
  t.same(
    changes?.map((each) => each.seq),
    changes?.map((_, at) => seq - changes.length + 1 + at),
    'no gap where a writer died',
  )
})

t.test('the server is killed during many writes', async (t) => {
  const url = await emptyDatabase(server)
  const store = await open(t, { url })
  for (let round = 0; round < 2; round++) {
    const children = [0, 1, 2].map((at) =>
      startWriter({ kind: 'postgres', url, timeout: 10_000 }, `${round}-${at}`),
    )
    const acknowledged: string[] = []
    const ends = children.map(async (child) => {
      for await (const line of createInterface(child.stdout)) acknowledged.push(line)
    })
    t.teardown(() => children.map((child) => child.kill('SIGKILL')))
    await Promise.all(children.map((child) => once(child.stdout, 'data')))
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 200))
    await server.kill()
    await Promise.all(ends)
    await server.restart()
    t.ok(acknowledged.length >= 3)
    t.same(await lostWrites(store, acknowledged), [], `${acknowledged.length} acknowledged`)
    t.same(await auditFaults(store, acknowledged), [])
  }
  t.same(await incompleteSeats(store), [])
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
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
      }
    })
    const enough = async (count: number) => {
      while (acknowledged.length < count) await new Promise((resolve) => setTimeout(resolve, 5))
    }
    for (let round = 1; round <= 2; round++) {
      const { length } = acknowledged
      await enough(length + 20)
      await server.restart()
    }
    await enough(acknowledged.length + 20)
    writing = false
    await Promise.all(lanes)
    for (const name of acknowledged) t.ok((await store.seatByName('acme', name)).value.seat, name)
    t.ok(unknown.length > 0, 'some writes met the restart')
    const { head } = await store.changesSince(null)
    const made = await Promise.all(
      unknown.map(async (name) => (await store.seatByName('acme', name)).value.seat),
    )
    const committed = acknowledged.length + made.filter((seat) => seat !== null).length
    t.equal(head.seq, 2 * committed, 'nothing else was written')
  },
)
