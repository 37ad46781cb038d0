/** Each dialect gives the answer that the request itself gets: random requests, sent to the gateway and asked about. */

import fc from 'fast-check'
import type { Test } from 'tap'
import { type ClientsRequest, deniedResponse, Envoy, forwardedHeaders } from './envoy-grpc/envoy.ts'
import { type Asking, forwardFields, nginxFields, startAsking } from './support.ts'

const IDENTITY = ['tenant', 'user', 'email', 'space', 'seats', 'seats-count', 'permission', 'auth']
const HOST = 'api.example.com'
const ROUTES = [
  'GET /v1/trainings/{id}: trainings:read',
  'DELETE /v1/trainings/{id}: trainings:delete',
  'GET /o/{org}/files/*: { permission: trainings:read, space: { param: org } }',
  'GET /q: { permission: trainings:read, space: { query: in } }',
  'GET /v1/me: authenticated',
  'ANY /docs/*: public',
]

const path = fc.tuple(
  fc.constantFrom(
    ...['/v1/trainings/7', '/v1/trainings', '/v1/me', '/docs/a', '/docs/', '/nowhere', '/q'],
    ...['/o/main/files/a/b', '/o/north/files/', '/o/%6Dain/files/x', '/v1/trainings/%37', '/v1/trainings/7/'],
    ...['/v1/trainings/a%2Fb', '/docs//a', '/docs/../v1/me', '/docs/%2e%2e/a', '/docs/a;b', '/docs/%zz'],
    ...['/docs/%00', '/docs/%c3%28', '/docs/a%5cb', '/docs/a\\b', '/DOCS/a', '/v1/trainings/%C3%A4'],
  ),
  fc.constantFrom('', '', '?', '?in=main', '?in=other', '?in=main&in=north', '?a=%2F..', '?%69n=main'),
)
async function credentialsOf({ world, key }: Asking) {
  const token = await world.token(['main:reader', 'north:reader'])
  const expired = await world.token(['main:reader'], { now: Date.now() - 7_200_000 })
  return fc.constantFrom<Record<string, string>[]>(
    {},
    { 'x-api-key': key },
    { 'x-api-key': `${key}x` },
    { 'x-api-key': '' },
    { authorization: `Bearer ${token}` },
    { authorization: `bearer ${token}` },
    { authorization: `Bearer ${expired}` },
    { authorization: `Bearer ${token}, Bearer ${token}` },
    { authorization: 'Basic YTpi' },
    { 'x-api-key': key, authorization: `Bearer ${expired}` },
    { cookie: 'a=1; __Host-seatgate_session=none' },
  )
}

const space = fc.constantFrom<Record<string, string>[]>(
  ...[{}, { space: 'main' }, { space: 'main' }, { space: 'north' }, { space: 'other' }],
  ...[{ space: 'a:b' }, { space: 'main, main' }, { space: '' }],
)
const method = fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'POST', 'DELETE', 'PATCH', 'PURGE')

/** Sends so many random requests, and asks about each in all dialects. */
export async function checkSameAnswers(t: Test, runs: number): Promise<void> {
  const asking = await startAsking(t, { routes: ROUTES })
  const { world } = asking
  const envoy = new Envoy(t, asking.port)
  const credentials = await credentialsOf(asking)
  let allowed = 0
  let refused = 0
  await fc.assert(
    fc.asyncProperty(method, path, credentials, space, async (method, [pattern, query], by, within) => {
      const target = pattern + query
      const fields = { ...by, ...within }
      const before = world.upstream.seen.length
      const direct = await world.client.send(method, target, { host: HOST, ...fields })
      const forwarded = world.upstream.seen.length > before
      if (forwarded) allowed++
      else refused++
      const identity = forwarded ? identityOf(world.upstream.seen.at(-1)?.headers) : null
      const answers: Record<string, Asked> = {
        nginx: await asking.ask('/auth/nginx', { ...nginxFields(method, target, HOST), ...fields }),
        forward: await asking.ask('/auth/forward', { ...forwardFields(method, target, HOST), ...fields }),
        envoy: await asking.ask(`/auth/envoy${target}`, { host: HOST, ...fields }, method),
        'envoy-grpc': await askOverGrpc(envoy, {
          method,
          path: target,
          host: HOST,
          headers: Object.entries(fields),
        }),
      }
      for (const [dialect, answer] of Object.entries(answers)) {
        const what = `${dialect}: ${method} ${target} ${JSON.stringify(fields)}`
        t.equal(answer.status, forwarded ? 200 : direct.status, what)
        if (identity !== null) t.same(identityOf(answer.headers), identity, what)
        else if (direct.body !== '' && answer.body !== '')
          t.equal(JSON.parse(answer.body).code, direct.json.code, what)
      }
    }),
    {
      numRuns: runs,
      examples: [
        ['GET', ['/docs/a', ''], {}, {}],
        ['GET', ['/nowhere', ''], {}, {}],
      ],
    },
  )
  t.ok(allowed > 0 && refused > 0)
}

interface Asked {
  readonly status: number
  readonly body: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

async function askOverGrpc(envoy: Envoy, request: ClientsRequest): Promise<Asked> {
  const answer = await envoy.check(request)
  const forwarded = forwardedHeaders(request, answer)
  if (forwarded === null) return deniedResponse(answer)
  return { status: 200, body: '', headers: Object.fromEntries(forwarded) }
}

function identityOf(headers: Readonly<Record<string, string | string[] | undefined>> = {}): string[] {
  return IDENTITY.map((name) => String(headers[`x-seatgate-${name}`] ?? ''))
}
