/**
 * Fuzzed headers and paths: no 5xx, no crash, and only what the decision allows upstream. An oracle of a few lines,
 * written from the specification and not from the code, gives the most that may be allowed.
 */

import fc from 'fast-check'
import type { Test } from 'tap'
import { served } from '../../support/served.ts'
import { startWorld } from '../../support/world.ts'

/** @param runs number of requests */
export async function fuzzHeads(t: Test, runs: number): Promise<void> {
  const world = await startWorld(t)
  await world.seat('Viewer', ['s1'], ['trainings:list', 'trainings:read'])
  const good = await world.token(['s1:Viewer'])
  const key = world.keys.acme ?? ''
  const mutated = fc
    .tuple(fc.nat(good.length - 1), fc.constantFrom('A', '.', '=', '-', '~', ''))
    .map(([at, by]) => good.slice(0, at) + by + good.slice(at + 1))
  const text = fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
    maxLength: 20,
  })
  const token = fc.oneof({ weight: 3, arbitrary: fc.constant(good) }, mutated, text, fc.constant('a.b.c'))
  const apiKey = fc.oneof(
    fc.constant(key),
    text.map((each) => `sk_${each}`),
    text,
  )
  const segment = fc.constantFrom(
    ...['v1', 'trainings', 'docs', 'seats', '7', '..', '%2e', '%2F', '%00', ';a', '', 'x', '%C3%A9', '*'],
  )
  const path = fc.oneof(
    fc.constantFrom('/v1/trainings', '/v1/trainings/7', '/docs/a', '/v1/me', '/v1/seats', '/v1/api-keys'),
    fc.array(segment, { maxLength: 5 }).map((parts) => `/${parts.join('/')}`),
  )
  const body = fc.oneof(fc.constant(undefined), fc.json(), text, fc.constant('{"name":"a","name":"b"}'))
  const request = fc.record({
    method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'PATCH', 'OPTIONS', 'PROPFIND'),
    path,
    query: fc.oneof(
      fc.constant(''),
      text.map((each) => `?${each.replaceAll('#', '')}`),
    ),
    space: fc.option(fc.oneof({ weight: 3, arbitrary: fc.constantFrom('s1', 's2', 'admin') }, text), {
      nil: undefined,
    }),
    credential: fc.oneof(
      fc.constant({}),
      token.map((each) => ({ authorization: `Bearer ${each}` })),
      apiKey.map((each) => ({ 'x-api-key': each })),
      text.map((each) => ({ authorization: each })),
    ),
    extra: fc.dictionary(
      fc.constantFrom('x-a', 'cookie', 'x-seatgate-user', 'expect', 'te', 'x-forwarded-for'),
      text,
    ),
    type: fc.constantFrom('application/json', 'text/plain', 'application/json; charset=latin1', ''),
    body,
  })
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path, query, space, credential, extra, type, body }) => {
      const before = world.upstream.seen.length
      const headers: Record<string, string> = {
        ...extra,
        ...credential,
        ...(space === undefined ? {} : { space }),
      }
      if (body !== undefined && type !== '') headers['content-type'] = type
      const answer = await served(() => world.client.send(method, path + query, headers, body))
      if (answer.status >= 500) throw new Error(`${answer.status} ${answer.body}`)
      const forwarded = world.upstream.seen.length - before
      if (forwarded > (mayPass(method, path, space, credential, { good, key }) ? 1 : 0))
        throw new Error('forwarded a request that is not allowed')
      if (forwarded === 0 && answer.status === 200 && !/^\/v1\/(seats|api-keys)/.test(path))
        throw new Error('200 without a forwarded request')
    }),
    { numRuns: runs },
  )
  t.pass(`${runs} requests`)
}

interface Sent {
  readonly authorization?: string
  readonly 'x-api-key'?: string
}

/** The most that the specification allows: the token reads in s1, the key may do everything in admin. */
function mayPass(
  method: string,
  path: string,
  space: string | undefined,
  sent: Sent,
  { good, key }: { good: string; key: string },
): boolean {
  const reads = method === 'GET' || method === 'HEAD'
  if (path.startsWith('/docs/')) return reads
  const byKey = sent['x-api-key'] === key
  const byToken = sent['x-api-key'] === undefined && sent.authorization === `Bearer ${good}`
  if (path === '/v1/me') return reads && (byKey || byToken)
  const known = path === '/v1/trainings' ? /^(GET|HEAD|POST)$/ : /^(GET|HEAD|DELETE)$/
  if (path.startsWith('/v1/files/')) return reads && byKey && space === 'admin'
  if (!/^\/v1\/trainings(\/[^/]+)?$/.test(path) || !known.test(method)) return false
  return (byKey && space === 'admin') || (byToken && reads && space === 's1')
}
