/** What holds behind every proxy that asks. */

import t from 'tap'
import { OVERRIDES } from '../../src/proxy/request-header-rules.ts'
import { verified } from '../identity/support.ts'
import { type FilesOf, startBeside, startBesideHung, startBesideSignIn } from './beside.ts'
import { largeCases, startLarge } from './beside-large.ts'
import { signInCases } from './beside-sign-in.ts'
import { roundTrip } from '../support/raw-client.ts'

const IDENTITY = ['tenant', 'user', 'email', 'space', 'seats', 'seats-count', 'permission', 'auth', 'jwt']

/** Fields by which a client claims another method, path, address or identity. */
const FORGED: Record<string, string> = {
  'x-original-method': 'GET',
  'x-original-url': 'https://a/docs/a',
  'x-original-uri': '/docs/a',
  'x-forwarded-method': 'GET',
  'x-forwarded-uri': '/docs/a',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'ftp',
  'x-forwarded-for': '192.0.2.1',
  forwarded: 'for=192.0.2.1;host=evil.example',
  'x-seatgate-tenant': 'globex',
  'x-seatgate-user': 'root',
  'x-seatgate-email': 'root@globex.example',
  'x-seatgate-permission': '*',
  'x-seatgate-jwt': 'eyJmb3JnZWQ.e30.',
}

/** @param asked the value of `asked_by` */
export async function besideCases(files: FilesOf, asked: string): Promise<void> {
  const { world, send, seen, key, keyId, proxyPort } = await startBeside(t, files)
  const signIn = await startBesideSignIn(t, files)
  const large = await startLarge(files)
  const hung = await startBesideHung(t, files)
  const caller = { 'x-api-key': key, space: 'main' }
  const last = (name: string) => seen.at(-1)?.headersDistinct[name]
  const line = () => world.log().findLast((each) => each['asked_by'] === asked)

  /** The JWT that the service got is Seatgate's, for this caller. */
  const signedFor = async (user: string) => {
    const keySet = (await world.client.send('GET', '/.well-known/seatgate/jwks.json')).body
    const [token = '', ...more] = last('x-seatgate-jwt') ?? []
    t.strictSame([(await verified(token, keySet, 'main')).sub, more], [user, []])
  }

  t.test('200: the service gets the request and the identity', async (t) => {
    const answer = await send('GET', '/v1/trainings/7?a=%2f', caller)
    t.equal(answer.status, 200)
    t.equal(answer.body, 'from the service')
    t.match(seen.at(-1), { method: 'GET', url: '/v1/trainings/7?a=%2f' })
    t.strictSame(last('x-seatgate-tenant'), ['acme'])
    t.strictSame(last('x-seatgate-user'), [keyId])
    t.strictSame(last('x-seatgate-space'), ['main'])
    t.strictSame(last('x-seatgate-seats'), ['reader'])
    t.strictSame(last('x-seatgate-permission'), ['trainings:read'])
    t.strictSame(last('x-seatgate-auth'), ['api-key'])
    await signedFor(keyId)
    t.strictSame(last('x-api-key'), undefined)
    t.match(line(), { method: 'GET', path: '/v1/trainings/7', status: 200, client: '127.0.0.1' })
    t.strictSame(last('x-request-id'), [line()?.['request_id']])
  })

  t.test('a refusal reaches the client whole, and the service nothing', async (t) => {
    const before = seen.length
    const refusals: [
      method: string,
      path: string,
      headers: Record<string, string>,
      status: number,
      code: string,
    ][] = [
      ['GET', '/v1/trainings/7', {}, 401, 'credentials_missing'],
      ['GET', '/v1/trainings/7', { ...caller, 'x-api-key': 'sk_wrong' }, 401, 'api_key_invalid'],
      ['DELETE', '/v1/trainings/7', caller, 403, 'permission_denied'],
      ['POST', '/v1/trainings', { ...caller, space: 'other' }, 403, 'no_seat_in_space'],
      ['GET', '/nowhere', caller, 404, 'route_not_found'],
      ['PATCH', '/v1/trainings/7', caller, 405, 'method_not_allowed'],
      ['GET', '/v1/trainings/a%2Fb', caller, 400, 'path_ambiguous'],
    ]
    for (const [method, path, headers, status, code] of refusals) {
      const answer = await send(method, path, headers)
      t.equal(answer.status, status, code)
      t.equal(answer.headers['content-type'], 'application/problem+json')
      t.equal(answer.json.code, code)
      if (status === 401) t.match(answer.headers['www-authenticate'], /^Bearer [^,]*(?:, error="[^"]*")?$/)
    }
    t.equal(seen.length, before)
  })

  t.test('what a client forges changes nothing', async (t) => {
    const allowed = await send('GET', '/v1/trainings/7', { ...caller, ...FORGED })
    t.equal(allowed.status, 200)
    t.strictSame(last('x-seatgate-user'), [keyId])
    t.strictSame(last('x-seatgate-tenant'), ['acme'])
    t.match(last('x-seatgate-email')?.join() ?? '', /^$/, 'an email that the caller does not have')
    t.strictSame(last('x-seatgate-permission'), ['trainings:read'])
    await signedFor(keyId)
    for (const name of [
      'x-original-url',
      'x-original-uri',
      'x-forwarded-uri',
      'x-forwarded-method',
      'forwarded',
    ])
      t.strictSame(last(name), undefined, name)
    t.strictSame(last('x-forwarded-for'), ['127.0.0.1'])
    t.strictSame(last('x-forwarded-proto'), ['http'])
    t.match(last('x-forwarded-host'), [/^127\.0\.0\.1/])
    t.match(line(), { path: '/v1/trainings/7', host: '127.0.0.1', client: '127.0.0.1' })
    const before = seen.length
    t.equal((await send('DELETE', '/v1/trainings/7', { ...caller, ...FORGED })).status, 403)
    t.equal((await send('GET', '/v1/trainings/7', FORGED)).status, 401)
    t.equal(seen.length, before)
  })

  t.test('a public route has no identity, whatever the client claims', async (t) => {
    t.equal((await send('GET', '/docs/a', FORGED)).status, 200)
    for (const name of IDENTITY) t.match(last(`x-seatgate-${name}`)?.join() ?? '', /^$/, name)
  })

  t.test('no spelling of an identity passes, nor the session, and Connection names none away', async (t) => {
    const answer = await send('GET', '/v1/trainings/7', {
      ...caller,
      connection: 'keep-alive, X-Seatgate-User, X-Seatgate-Tenant, X-Forwarded-For',
      X_Seatgate_User: 'root',
      'X-Seatgate_Tenant': 'globex',
      'X-HTTP-Method-Override': 'DELETE',
      'X-Rewrite-URL': '/admin',
      cookie: 'a=1; __Host-seatgate_session=secret; b=2',
    })
    t.equal(answer.status, 200)
    t.strictSame(last('x-seatgate-user'), [keyId])
    t.strictSame(last('x-seatgate-tenant'), ['acme'])
    const names = Object.keys(seen.at(-1)?.headersDistinct ?? {})
    t.same(
      names.filter((name) => /^x.seatgate/.test(name) && name.includes('_')),
      [],
    )
    t.same(
      names.filter((name) => /override|rewrite/.test(name)),
      [],
    )
    t.equal(last('cookie')?.join().replaceAll(' ', ''), 'a=1;b=2')
  })

  t.test('all cookies of the gateway are removed, wherever they are, and the others stay', async (t) => {
    const own = [
      '__Host-seatgate_session=s',
      '__Host-seatgate_signin_AbC-d_0=acme.t.x',
      '__host-Seatgate_moved=1',
    ]
    const [session = '', signIn = '', moved = ''] = own
    const cookies: [sent: string | string[], others: string][] = [
      [session, ''],
      [own.join('; '), ''],
      [own.join(';'), ''],
      [['a=1', ...own, 'b=2'].join('; '), 'a=1; b=2'],
      [['a=1', session, 'b=2', signIn, 'c=3', moved, 'd="4;x"'].join('; '), 'a=1; b=2; c=3; d="4;x"'],
      [
        `${signIn}; a=__Host-seatgate; =${session}; not__Host-seatgate_x=1`,
        'a=__Host-seatgate; not__Host-seatgate_x=1',
      ],
      [
        Array.from({ length: 40 }, (_, at) => `${signIn}${at}; a${at}=1`).join('; '),
        Array.from({ length: 40 }, (_, at) => `a${at}=1`).join('; '),
      ],
      [[session, 'a=1', `b=2; ${signIn}`], 'a=1; b=2'],
      ['a=1;  b=2', 'a=1;  b=2'],
    ]
    for (const [sent, others] of cookies) {
      t.equal((await send('GET', '/docs/a', { cookie: sent })).status, 200)
      t.equal(
        last('cookie')
          ?.join('; ')
          .replace(/^[; ]+/, '') ?? '',
        others,
        String(sent),
      )
    }
  })

  t.test('no header that replaces the path or the method reaches the service', async (t) => {
    const overrides = Object.fromEntries(OVERRIDES.map((name) => [name, 'DELETE']))
    t.equal((await send('GET', '/v1/trainings/7', { ...caller, ...overrides })).status, 200)
    for (const name of OVERRIDES) t.strictSame(last(name), undefined, name)
  })

  t.test('a path that readers see differently is refused', async (t) => {
    const before = seen.length
    for (const path of ['/docs/../v1/trainings/7', '/docs//a', '/docs/%2e%2e/v1/trainings/7']) {
      const head = `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`
      t.match(await roundTrip(proxyPort, head), /^HTTP\/1\.1 400 [^]*path_ambiguous/, path)
    }
    t.equal(seen.length, before)
  })

  t.test(
    'a Host that readers see differently is refused: the decision would be about another one',
    async (t) => {
      const before = seen.length
      for (const host of ['evil.example,127.0.0.1', '127.0.0.1,evil.example', 'evil.example, 127.0.0.1']) {
        const head = `GET /docs/a HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
        t.match(await roundTrip(proxyPort, head), /^HTTP\/1\.1 400 /, host)
      }
      t.equal(seen.length, before)
    },
  )

  t.test('a WebSocket opens for a caller, and for nobody else', async (t) => {
    const handshake = (headers: Record<string, string>) => {
      const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      return roundTrip(
        proxyPort,
        `GET /v1/trainings/7 HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${fields.join('')}\r\n`,
        /\r\n\r\n/,
      )
    }
    t.match(await handshake(caller), /^HTTP\/1\.1 101 [^]*s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/)
    t.strictSame(last('x-seatgate-user'), [keyId])
    const before = seen.length
    t.match(await handshake({}), /^HTTP\/1\.1 401 /)
    t.equal(seen.length, before)
  })

  t.test('no other protocol opens: its requests would not be asked about', async (t) => {
    for (const upgrade of ['h2c', 'websocket, h2c', 'TLS/1.0', 'h2c\r\nUpgrade: websocket']) {
      const fields = `Host: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: ${upgrade}\r\nHTTP2-Settings: AAMAAABk\r\n`
      const answer = await roundTrip(proxyPort, `GET /docs/a HTTP/1.1\r\n${fields}\r\n`, /\r\n\r\n/)
      t.notMatch(answer, /^HTTP\/1\.1 101/, upgrade)
    }
    for (const { headers } of seen) t.match(headers.upgrade ?? 'websocket', /^websocket$/)
  })

  t.test('a revoked key is refused from the next request on', async (t) => {
    for (let round = 0; round < 3; round++) {
      const made = await world.admin('POST', '/v1/api-keys', { name: `round ${round}`, seats: ['reader'] })
      const headers = { 'x-api-key': made.json.key, space: 'main' }
      t.equal((await send('GET', '/v1/trainings/7', headers)).status, 200)
      t.equal((await world.admin('DELETE', `/v1/api-keys/${made.json.id}`)).status, 204)
      const refused = await send('GET', '/v1/trainings/7', headers)
      t.equal(refused.status, 401)
      t.equal(refused.json.code, 'api_key_revoked')
    }
  })

  t.test('a gateway that hangs is not asked over and over, and nothing passes', async (t) => {
    const { status } = await hung.send('GET', '/docs/a')
    t.ok(status >= 500 && status <= 504, `${status}`)
    // nginx asks for the refusal as well.
    t.equal(hung.asked(), asked === 'nginx' ? 2 : 1)
    t.equal(hung.seen.length, 0)
  })

  largeCases(large)
  signInCases(signIn)
}
