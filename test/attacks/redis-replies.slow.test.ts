/**
 * The gateway survives any bytes from Redis. A reply of a kind that SUBSCRIBE does not have (`:5`, `$-1`, `*-1`,
 * `*0`) made the client throw outside any catch, and all gateways of a fleet ended at once, also while they started.
 * Real gateways, with each kind of connection to Redis: plain, TLS, Sentinel, Cluster.
 */

import t from 'tap'
import { until } from '../support/until.ts'
import { fuzz, startModes } from '../redis/fuzz/fuzz.ts'
import { BROKEN, KINDS, RESP3 } from '../redis/fuzz/replies.ts'

/** Bytes: a few replies of 4 MiB, and garbage that is not collected yet. */
const GROWTH = 300 * 1024 * 1024
/** For each gateway; `FUZZ_CASES` and `FUZZ_SEED` choose others. */
const CASES = Number(process.env['FUZZ_CASES'] ?? 15)
const SEED = Number(process.env['FUZZ_SEED'] ?? 1)
const ALL = [...KINDS, ...RESP3, ...BROKEN].map((reply) => Buffer.from(reply, 'latin1'))

t.test('from the first command on', async (t) => {
  // Now and then one of a connection's commands gets a wrong reply, each kind in turn.
  let turn = 0
  const says = () => (turn++ % 3 === 0 ? (ALL[((turn / 3) % ALL.length) | 0] ?? null) : null)
  const { fleet, servers, viewer } = await startModes(t, says)
  const pids = fleet.gateways.map(({ pid }) => pid)

  await t.test('a reply that SUBSCRIBE does not have', async (t) => {
    for (const reply of [':5\r\n', '$-1\r\n', '*-1\r\n', '*0\r\n']) {
      const before = servers.map(({ hostile }) => hostile)
      for (const server of servers) {
        server.replaceReply = (command) => (command === 'subscribe' ? Buffer.from(reply) : null)
        server.drop()
      }
      await until(
        () => servers.every(({ hostile }, at) => hostile > (before[at] ?? 0) + 1),
        () =>
          `not all gateways subscribe again after ${JSON.stringify(reply)}: ${before.join()} ${servers.map(({ hostile }) => hostile).join()}`,
      )
      for (const gateway of fleet.gateways) t.equal(gateway.crash, null, JSON.stringify(reply))
    }
  })

  await t.test('any reply to any command', async (t) => {
    const found = await Promise.all(
      servers.map((server, at) =>
        fuzz(fleet, fleet.at(at), server, { cases: CASES, seed: SEED + at, viewer }),
      ),
    )
    for (const { faults, requests, writes, grown } of found) {
      t.same(faults, [], 'no exit, and no 503 while the store is available')
      t.ok(requests > 0 && writes > 0, `${requests} requests, ${writes} writes`)
      t.ok(grown < GROWTH, `grown by ${Math.round(grown / 1024 / 1024)} MiB`)
    }
  })

  await t.test('Redis is used again once its replies are correct', async () => {
    let parts: string[] = []
    const healthy = async () => {
      parts = await Promise.all(fleet.gateways.map(async (each) => JSON.stringify(await each.ready())))
      return parts.every((each) => each.includes('"redis":"ok"'))
    }
    await until(healthy, () => `Redis is not used again: ${parts.join('\n')}`)
  })
  t.same(
    fleet.gateways.map(({ pid, crash }) => [pid, crash]),
    pids.map((pid) => [pid, null]),
  )
})
