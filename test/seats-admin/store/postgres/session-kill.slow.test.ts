/** `kill -9` of gateways, and of the server, during sign-ins, refreshes and sign-outs. */

import { once } from 'node:events'
import { createInterface } from 'node:readline'
import t from 'tap'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { startWriter, writeUntilKilled } from '../killed.ts'
import { lostSessionSteps, sessionScript } from '../session-killed.ts'
import { emptyDatabase, open } from './support.ts'

t.test('gateways are killed', async (t) => {
  const server = await startPostgres(t)
  const url = await emptyDatabase(server)
  const store = await open(t, { url, timeout: 10_000 })
  const lane = async (number: number) => {
    const all: string[] = []
    for (let round = 0; round < 2; round++) {
      const location = { kind: 'postgres', url, timeout: 10_000 } as const
      all.push(
        ...(await writeUntilKilled(location, `${number}-${round}`, Math.random() * 100, sessionScript)),
      )
    }
    t.same(await lostSessionSteps(store, all), [], `lane ${number}: ${all.length} acknowledged`)
    t.ok(all.length >= 2, 'at least one in each round')
  }
  await Promise.all([lane(0), lane(1)])
})

t.test('the server is killed', async (t) => {
  const server = await startPostgres(t)
  const url = await emptyDatabase(server)
  const store = await open(t, { url, timeout: 10_000 })
  for (let round = 0; round < 2; round++) {
    const location = { kind: 'postgres', url, timeout: 10_000 } as const
    const children = [0, 1].map((at) => startWriter(location, `${round}-${at}`, sessionScript))
    t.teardown(() => children.map((child) => child.kill('SIGKILL')))
    const acknowledged: string[] = []
    const ends = children.map(async (child) => {
      for await (const line of createInterface(child.stdout)) acknowledged.push(line)
    })
    await Promise.all(children.map((child) => once(child.stdout, 'data')))
    await server.kill()
    await Promise.all(ends)
    await server.restart()
    t.ok(acknowledged.length >= 2)
    t.same(await lostSessionSteps(store, acknowledged), [], `${acknowledged.length} acknowledged`)
  }
})
