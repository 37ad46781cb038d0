/** Whom a request counts as behind trusted proxies: the last address that is not one of them, in whichever field they name it. */

import t from 'tap'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t, { top: ['trusted_proxies: [127.0.0.0/8, 10.0.0.0/8]'] })

const HOPS = ['192.0.2.1', '203.0.113.9', '10.1.2.3', '', 'unknown', '<script>']
const CHAINS = HOPS.flatMap((a) => HOPS.flatMap((b) => HOPS.map((c) => [a, b, c])))

/** By the definition, and nothing else. */
function clientOf(hops: readonly string[]): string {
  const last = hops.findLast((hop) => hop !== '' && !hop.startsWith('10.'))
  return last !== undefined && /^\d/.test(last) ? last : '127.0.0.1'
}

/** The clients in the lines of the log, in the order of the requests. */
async function loggedClients(requests: readonly Record<string, string>[]): Promise<unknown[]> {
  const ids: unknown[] = []
  for (const headers of requests)
    ids.push((await world.client.send('GET', '/docs/a', headers)).headers['x-request-id'])
  const clients = new Map(world.log().map((line) => [line['request_id'], line['client']]))
  return ids.map((id) => clients.get(id))
}

const inForwarded = (hops: readonly string[]) =>
  hops.map((hop) => (hop === '' ? '' : `proto=https;for="${hop}"`)).join(', ')

t.test('X-Forwarded-For, with empty elements', async (t) => {
  const found = await loggedClients(CHAINS.map((hops) => ({ 'x-forwarded-for': hops.join(',') })))
  for (const [at, hops] of CHAINS.entries()) t.equal(found[at], clientOf(hops), hops.join(','))
})

t.test('Forwarded alone', async (t) => {
  const found = await loggedClients(CHAINS.map((hops) => ({ forwarded: inForwarded(hops) })))
  for (const [at, hops] of CHAINS.entries()) t.equal(found[at], clientOf(hops), inForwarded(hops))
  const beside = { 'x-forwarded-proto': 'https', forwarded: 'for=192.0.2.1' }
  t.same(await loggedClients([beside]), ['127.0.0.1'], 'not alone')
})

t.test('the service gets the scheme of the client, whatever the proxy calls it', async (t) => {
  for (const [name, value] of [
    ['x-forwarded-proto', 'wss'],
    ['x-forwarded-proto', 'HTTPS'],
    ['x-forwarded-proto', 'https, https'],
    ['forwarded', 'for=203.0.113.9;proto=https'],
  ] as const) {
    t.equal((await world.client.send('GET', '/docs/a', { [name]: value })).status, 200)
    t.equal(world.upstream.seen.at(-1)?.headers['x-forwarded-proto'], 'https', value)
  }
})
