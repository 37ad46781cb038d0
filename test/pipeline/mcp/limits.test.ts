/** Rate limits and metrics by tool, and what unknown names cost. */

import t from 'tap'
import { metricsOf } from '../../support/operations.ts'
import { send, startMcp, tool, valueOf } from './support.ts'

const lines = [
  'tools: { get_weather: { permission: weather:read, rate_limit: [once] }, other: weather:read, ping: public }',
]

t.test('a limit of one tool', async (t) => {
  const top = ['rate_limits: { once: { limit: 1/h, per: caller } }']
  const world = await startMcp(t, { lines, top })
  const token = await world.token(['main:Reader'])
  t.equal((await send(world, tool('get_weather'), { token })).status, 200)
  const limited = await send(world, tool('get_weather'), { token })
  t.match(limited, { status: 429, json: { id: 1, error: { code: -32001, data: { code: 'rate_limited' } } } })
  t.ok(Number(valueOf(limited.fields, 'retry-after')) > 0)
  t.equal((await send(world, tool('other'), { token })).status, 200)
  for (let n = 0; n < 20; n++) await send(world, tool(`unknown_${n}`), { token })
  const metrics = await metricsOf(world)
  t.match(metrics, 'seatgate_requests_total{route="tool /mcp#get_weather",status="200"} 1')
  t.match(metrics, 'seatgate_requests_total{route="tool /mcp#get_weather",status="429"} 1')
  t.match(metrics, 'seatgate_requests_total{route="tool /mcp#other",status="200"} 1')
  t.notMatch(metrics, 'unknown_')
})

t.test('a call that several lines decide takes a token of each limit, or none', async (t) => {
  const world = await startMcp(t, {
    lines: [
      'resources:',
      '  docs://few/*: { permission: docs:read, rate_limit: [few, each] }',
      '  docs://more/*: { permission: docs:read, rate_limit: [more, each] }',
      '  docs://free/*: docs:read',
      '  docs://pay: pay:read',
    ],
    top: [
      'rate_limits:',
      '  few: { limit: 2/h, per: caller }',
      '  more: { limit: 3/h, per: caller }',
      '  each: { limit: 10/h, per: route }',
    ],
  })
  const token = await world.token(['main:Reader'])
  const listen = async (...resourceSubscriptions: string[]) => {
    const params = { notifications: { resourceSubscriptions } }
    const answer = await send(world, { method: 'subscriptions/listen', params }, { token })
    return `${answer.status} ${valueOf(answer.fields, 'ratelimit')?.replaceAll(/;t=\d+/g, '')}`
  }
  t.equal(
    await listen('docs://few/a', 'docs://more/a', 'docs://few/b'),
    '200 "few";r=1, "each";r=9, "more";r=2',
  )
  t.equal(await listen('docs://few/a', 'docs://free/a'), '200 "few";r=0, "each";r=8')
  t.equal(await listen('docs://few/a', 'docs://free/a'), '429 "few";r=0, "each";r=8')
  t.equal(
    await listen('docs://more/a', 'docs://few/a', 'docs://free/a'),
    '429 "more";r=2, "each";r=8, "few";r=0',
  )
  t.equal(await listen('docs://more/a'), '200 "more";r=1, "each";r=8')
  t.equal(await listen('docs://more/a', 'docs://pay'), '403 undefined')
  t.equal(await listen('docs://free/a'), '200 undefined')
})

t.test('a call that needs each of many lines', async (t) => {
  const uris = Array.from({ length: 10_000 }, (_, n) => `docs://handbook/${n}`)
  const many = uris.map((uri) => `"${uri}": docs:read`).join()
  const world = await startMcp(t, { lines: [`resources: { ${many}, "docs://pay": pay:read }`] })
  const token = await world.token(['main:Reader'])
  const listen = (...more: string[]) =>
    send(
      world,
      {
        method: 'subscriptions/listen',
        params: { notifications: { resourceSubscriptions: [...uris, ...more] } },
      },
      { token },
    )
  t.equal((await listen()).status, 200)
  t.equal((await listen('docs://pay')).status, 403)
})
