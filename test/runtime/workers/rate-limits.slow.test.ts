/** Workers without Redis share a budget through their primary. */

import t from 'tap'
import { Client } from '../../support/client.ts'
import { startWithWorkers } from './support.ts'

t.test('one budget for three workers', async (t) => {
  const world = await startWithWorkers(t, 3, {
    routes: ['GET /mine: { permission: authenticated, rate_limit: [calls] }'],
    top: ['rate_limits: { calls: { limit: 1/h, burst: 60 } }'],
  })
  const headers = { authorization: `Bearer ${await world.token([])}` }
  const statuses: number[] = []
  // The kernel spreads connections over the workers.
  const ask = async () => {
    const client = new Client(world.port)
    for (let i = 0; i < 5; i++) {
      const { status, headers: given } = await client.send('GET', '/mine', headers)
      statuses.push(status)
      t.equal(given['ratelimit-policy'], '"calls";q=1;w=3600')
    }
    client.close()
  }
  await Promise.all(Array.from({ length: 16 }, ask))
  t.equal(statuses.filter((status) => status === 200).length, 60)
  t.equal(statuses.filter((status) => status === 429).length, 20)
})
