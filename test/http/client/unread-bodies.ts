/** What becomes of requests beside bodies that a target does not read, on connections of HTTP/2 that they share. */

import { Readable } from 'node:stream'
import type { Test } from 'tap'
import { type PoolSettings, RequestPool } from '../../../src/http/client/request-pool.ts'
import type { RequestOwner } from '../../../src/http/client/upstream-request.ts'
import { holdTime, type HeldTime } from '../../support/held-time.ts'
import { until } from '../../support/until.ts'
import { PooledRequest } from './pool-requests.ts'
import { poolSettings } from './pool-settings.ts'

const MALLORY: RequestOwner = ['acme', 'mallory']
const OTHERS: readonly RequestOwner[] = [
  ['globex', 'carol'],
  ['acme', 'bob'],
  ['', '192.0.2.1'],
]
const UNREAD_BYTES = 3 * 1024 * 1024
const SMALL = 2048
const LARGE = 1024 * 1024
/** Milliseconds that pass at each look. */
const STEP = 50

/** A target that reads no body of `/unread`, and answers any other path once it has read the body. */
export type Target = Pick<PoolSettings, 'port' | 'tls'>

function bodyOf(bytes: number): Readable {
  const chunks = Array.from({ length: Math.ceil(bytes / SMALL) }, () => Buffer.alloc(SMALL, 'x'))
  return Readable.from(chunks, { objectMode: false })
}

function poolAt(t: Test, target: Target, connections: number): RequestPool {
  const pool = new RequestPool({
    ...poolSettings(target.port),
    ...target,
    http2: true,
    connections,
    uploads: 200,
  })
  t.teardown(() => pool.destroy())
  return pool
}

/** Unread bodies of these owners, once nothing more of them is taken. */
async function unread(pool: RequestPool, owners: readonly RequestOwner[]): Promise<PooledRequest[]> {
  const asked = owners.map((owner) => new PooledRequest(pool, owner, '/unread', bodyOf(UNREAD_BYTES)))
  let before = -1
  const progress = () => asked.reduce((sum, each) => sum + each.progress, 0)
  const stands = () => {
    const stood = progress() === before && asked.every(({ begun }) => begun)
    before = progress()
    return stood
  }
  await until(stands, 'unread bodies that fill the windows', { pause: 20 })
  return asked
}

/** Bodies of all others are read and answered. */
async function serves(
  t: Test,
  pool: RequestPool,
  bytes: number,
  time: HeldTime | null = null,
): Promise<void> {
  for (const owner of OTHERS) {
    const asked = new PooledRequest(pool, owner, '/', bodyOf(bytes))
    const isOver = () => {
      time?.pass(STEP)
      return asked.isOver
    }
    await until(isOver, `the response to ${bytes} bytes of ${owner}`)
    t.match(asked, { status: 200, error: null })
  }
}

const ended = (bodies: readonly PooledRequest[]) => bodies.filter(({ isOver }) => isOver)

export async function testUnreadBodies(t: Test, target: Target): Promise<void> {
  for (const count of [1, 90])
    await t.test(`${count} unread bodies of a caller leave room for the bodies of all others`, async (t) => {
      holdTime(t)
      const pool = poolAt(t, target, 1)
      const bodies = await unread(pool, Array(count).fill(MALLORY))
      for (let i = 0; i < 10; i++) await serves(t, pool, SMALL)
      await serves(t, pool, LARGE)
      t.same(ended(bodies), [])
    })
  const tenants = Array.from({ length: 16 }, (_, i): RequestOwner => [`tenant ${i}`, 'mallory'])
  await t.test('where tenants have used the window up, the unread bodies with the most go', async (t) => {
    const time = holdTime(t)
    const pool = poolAt(t, target, 1)
    const bodies: PooledRequest[] = []
    // One after the other: together they would leave each other more.
    for (const owner of tenants) bodies.push(...(await unread(pool, [owner])))
    await serves(t, pool, SMALL, time)
    t.match(bodies[0]?.error, { code: 'DISPLACED' }, 'the first one had the largest part')
    t.ok(ended(bodies).length < bodies.length, 'some stay')
    await serves(t, pool, LARGE, time)
  })
  await t.test('bodies of others take another connection where one may be opened', async (t) => {
    holdTime(t)
    const pool = poolAt(t, target, 8)
    const bodies = await unread(pool, tenants)
    for (let i = 0; i < 10; i++) await serves(t, pool, SMALL)
    await serves(t, pool, LARGE)
    t.same(ended(bodies), [])
  })
}
