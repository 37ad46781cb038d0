/**
 * One address, one client behind a proxy, or one tenant opens as many connections as it can: others still find room.
 */

import t, { type Test } from 'tap'
import { codeOf } from '../proxy/support.ts'
import { startWorld, type World } from '../support/world.ts'
import { until } from '../support/until.ts'
import { RawClient } from '../support/raw-client.ts'
import { metric } from '../support/operations.ts'

const CONNECTIONS = 32
const GREEDY = '127.0.0.66'
const OTHERS = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4']

interface Shares {
  readonly world: World
  /** Requests to `/held` that the upstream holds. */
  readonly held: (() => void)[]
}

async function startShares(t: Test, limits = '', top: readonly string[] = []): Promise<Shares> {
  const held: (() => void)[] = []
  const world = await startWorld(t, {
    top: [`limits: { connections: ${CONNECTIONS}${limits} }`, ...top],
    routes: [
      'GET /docs/*: public',
      'GET /held: public',
      'GET /held/mine: authenticated',
      'GET /mine: authenticated',
    ],
    answer: (request, response) => {
      if (request.url?.startsWith('/held')) held.push(() => response.end('done'))
      else response.end('done')
    },
  })
  t.teardown(() => held.splice(0).forEach((answer) => answer()))
  return { world, held }
}

const open = (world: World, count: number, from: string) =>
  Array.from({ length: count }, () => new RawClient(world.port, { from }))
const get = (path: string, ...lines: string[]) =>
  [`GET ${path} HTTP/1.1`, 'Host: a', ...lines, '', ''].join('\r\n')
const evicted = ({ world }: Shares, state: string) =>
  metric(world, `seatgate_connections_evicted_total{state="${state}"}`)

async function ask(wire: RawClient, ...lines: string[]): Promise<string> {
  wire.received = ''
  await wire.send(get('/docs/a', ...lines)).until(/done$|"request_id":"[^"]*"}$/)
  return wire.received
}

/** Waits until that many of the connections are closed. */
function evictedOf(clients: readonly RawClient[], count: number): Promise<void> {
  const closed = () => clients.filter(({ socket }) => socket.destroyed).length
  return until(
    () => closed() >= count,
    () => `${closed()} are evicted, and not ${count}`,
  )
}

async function becomes(world: World, name: string, wanted: number): Promise<void> {
  let found = NaN
  const isWanted = async () => (found = await metric(world, name)) === wanted
  await until(isWanted, () => `${name} is ${found}, and not ${wanted}`)
}

/** Opens connections from one address, each with a held request. */
async function hold({ world, held }: Shares, count: number, from: string, prefix = ''): Promise<RawClient[]> {
  const before = held.length
  const wires = open(world, count, from).map((wire) => wire.send(prefix + get('/held')))
  await until(() => held.length === before + count, 'the held requests')
  return wires
}

t.test(
  'requests of one address that never end: others replace them, and are not replaced by them',
  async (t) => {
    const shares = await startShares(t)
    const greedy = await hold(shares, CONNECTIONS, GREEDY)
    const others: RawClient[] = []
    for (const from of OTHERS) others.push(...(await hold(shares, 1, from)))
    t.equal(await evicted(shares, 'active'), OTHERS.length)
    await evictedOf(greedy, OTHERS.length)
    t.match(
      await new RawClient(shares.world.port, { from: GREEDY }).ended,
      /^HTTP\/1\.1 503/,
      'it replaces none of the others',
    )
    t.notOk(others.some(({ socket }) => socket.destroyed))
  },
)

t.test('idle connections of one address are evicted first, though others are idle longer', async (t) => {
  const shares = await startShares(t)
  const { world } = shares
  const honest = OTHERS.map((from) => new RawClient(world.port, { from }))
  for (const wire of honest) await ask(wire)
  const greedy = open(world, CONNECTIONS - OTHERS.length, GREEDY)
  for (const wire of greedy) await ask(wire)
  await becomes(world, 'seatgate_connections{state="idle"}', CONNECTIONS)
  for (let i = 0; i < 8; i++)
    t.match(await ask(new RawClient(world.port, { from: '127.0.0.9' })), /^HTTP\/1\.1 200/)
  for (const wire of honest) t.match(await ask(wire), /^HTTP\/1\.1 200/)
  await evictedOf(greedy, 8)
  t.equal(await evicted(shares, 'idle'), 8)
})

t.test('connections of one address without a request are evicted first', async (t) => {
  const { world } = await startShares(t)
  const honest = OTHERS.slice(0, 2).map((from) =>
    new RawClient(world.port, { from }).send('GET /docs/a HTTP/1.1\r\n'),
  )
  await becomes(world, 'seatgate_connections{state="opening"}', honest.length)
  const greedy = open(world, CONNECTIONS * 2, GREEDY)
  await evictedOf(greedy, CONNECTIONS + 2)
  for (const wire of honest) t.match(await wire.send('Host: a\r\n\r\n').until('done'), /^HTTP\/1\.1 200/)
})

t.test('limits.connections_per_address: its own idle connections are evicted, then 503', async (t) => {
  const shares = await startShares(t, ', connections_per_address: 4')
  const { world } = shares
  const idle = open(world, 4, GREEDY)
  for (const wire of idle) await ask(wire)
  t.match(await ask(new RawClient(world.port, { from: GREEDY })), /^HTTP\/1\.1 200/)
  await evictedOf(idle, 1)
  t.equal(await evicted(shares, 'idle'), 1)
  await hold(shares, 4, GREEDY)
  const answer = await new RawClient(world.port, { from: GREEDY }).ended
  t.match(answer, /^HTTP\/1\.1 503 [\s\S]*\r\nRetry-After: 1\r\n[\s\S]*one address/)
  t.equal(await metric(world, 'seatgate_connections_refused_total{reason="address"}'), 1)
  t.match(await ask(new RawClient(world.port, { from: '127.0.0.1' })), /^HTTP\/1\.1 200/)
})

const IPV6 = (host: number) => `PROXY TCP6 2001:db8:0:7::${host} 2001:db8::1 1234 80\r\n`

t.test(
  'PROXY protocol: connections count by client, and an IPv6 /64 network counts as one client',
  async (t) => {
    const top = ['trusted_proxies: [127.0.0.1]', 'proxy_protocol: true']
    const shares = await startShares(t, ', connections_per_address: 4', top)
    const { world } = shares
    for (let host = 1; host <= 4; host++) await hold(shares, 1, '127.0.0.1', IPV6(host))
    t.match(await new RawClient(world.port).send(IPV6(5)).ended, /^HTTP\/1\.1 503 [\s\S]*one address/)
    for (const client of ['2001:db8:0:8::1', '2001:db8:1::1', '::2']) {
      const wire = new RawClient(world.port).send(`PROXY TCP6 ${client} ::1 1234 80\r\n`)
      t.match(await ask(wire), /^HTTP\/1\.1 200/, client)
    }
  },
)

t.test('behind a proxy: connections count by client, not by proxy', async (t) => {
  const shares = await startShares(t, ', connections_per_address: 4', [
    'trusted_proxies: [127.0.0.1, 10.0.0.0/8]',
  ])
  const { world, held } = shares
  const greedy = open(world, 12, '127.0.0.1')
  for (const [i, wire] of greedy.entries())
    wire.send(get('/held', `X-Forwarded-For: 198.51.100.${i}, 192.0.2.1, 10.1.1.1`))
  await until(() => held.length === 4, 'four requests')
  await until(() => greedy.filter(({ received }) => received !== '').length === 8, 'eight refusals')
  for (const { received } of greedy.filter(({ received }) => received !== '')) {
    t.match(received, /^HTTP\/1\.1 503 [\s\S]*\r\nRetry-After: 1\r\n/)
    t.equal(codeOf(received), 'unavailable')
  }
  t.equal(await metric(world, 'seatgate_requests_over_share_total{of="address"}'), 8)
  const wires = open(world, 12, '127.0.0.1')
  for (const [i, wire] of wires.entries())
    t.match(await ask(wire, `X-Forwarded-For: 192.0.2.${i + 2}`), /^HTTP\/1\.1 200/)
  for (const answer of held.splice(0)) answer()
  await becomes(world, 'seatgate_requests_in_flight', 0)
  t.match(
    await ask(new RawClient(world.port), 'X-Forwarded-For: 192.0.2.1'),
    /^HTTP\/1\.1 200/,
    'it can connect again',
  )
})

t.test(
  'behind a proxy, without a setting: a client has no more than a share while connections are scarce',
  async (t) => {
    const { world, held } = await startShares(t, '', ['trusted_proxies: [127.0.0.1]'])
    const greedy = open(world, CONNECTIONS - 4, '127.0.0.1')
    for (const wire of greedy) wire.send(get('/held', 'X-Forwarded-For: 192.0.2.1'))
    await until(
      () => held.length + greedy.filter(({ received }) => received !== '').length === greedy.length,
      'all requests or refusals',
    )
    t.equal(held.length, (CONNECTIONS * 3) / 4)
    for (let i = 0; i < 8; i++)
      t.match(await ask(new RawClient(world.port), `X-Forwarded-For: 192.0.2.${i + 2}`), /^HTTP\/1\.1 200/)
  },
)

t.test('one tenant, from many addresses', async (t) => {
  const { world, held } = await startShares(t)
  const bearer = async (tenant: string) => `Authorization: Bearer ${await world.token([], { tenant })}`
  const [acme, globex] = [await bearer('acme'), await bearer('globex')]
  const greedy = Array.from(
    { length: CONNECTIONS },
    (_, i) => new RawClient(world.port, { from: `127.0.1.${i + 1}` }),
  )
  for (const wire of greedy) wire.send(get('/held/mine', acme))
  await until(
    () => held.length + greedy.filter(({ received }) => received !== '').length === greedy.length,
    'all requests or refusals',
  )
  t.equal(held.length, (CONNECTIONS * 3) / 4)
  t.match(greedy.find(({ received }) => received !== '')?.received, /^HTTP\/1\.1 503 [\s\S]*"The tenant has/)
  for (let i = 0; i < 12; i++) {
    const wire = new RawClient(world.port, { from: `127.0.2.${i + 1}` })
    t.match(await wire.send(get('/mine', globex)).until(/done|}/), /^HTTP\/1\.1 200/)
  }
  t.equal(
    await metric(world, 'seatgate_requests_over_share_total{of="tenant"}'),
    CONNECTIONS - (CONNECTIONS * 3) / 4,
  )
})
