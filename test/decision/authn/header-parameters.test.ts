/** CVE-2026-35042 (crit ignored), and keys that a token names or embeds: refused, and never used. */

import { createHmac, generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { base64url, bearer, claims, secrets, sign, signInput } from './support.ts'

const withHeader = (more: object) => sign(claims, { header: { alg: 'HS256', ...more } })

t.test('crit with any value', async (t) => {
  for (const crit of [[], ['b64'], ['exp'], ['alg'], ['x'], null, 'b64', {}, 0])
    t.equal(await bearer(withHeader({ crit })), 'token_invalid', JSON.stringify(crit))
})

t.test('the header of one token does not affect the next', async (t) => {
  const good = sign()
  const [header = '', payload, signature] = good.split('.')
  const none = base64url('{"alg":"none"}')
  for (const other of [
    '',
    header.slice(0, -1),
    `${header}A`,
    header.toLowerCase(),
    none,
    base64url('{"alg":"HS256","kid":"a"}'),
  ]) {
    t.match(await bearer(good), { user: 'alice' })
    t.equal(
      await bearer(signInput(`${other}.${payload}`)),
      'token_invalid',
      `'${other}', with a valid signature`,
    )
    t.equal(await bearer(`${other}.${payload}.${signature}`), 'token_invalid', other)
    t.equal(await bearer(`.${header}.${payload}`), 'token_invalid')
  }
  t.match(await bearer(good), { user: 'alice' })
})

t.test('an unencoded payload (RFC 7797)', async (t) => {
  t.equal(await bearer(withHeader({ b64: true })), 'token_invalid')
  t.equal(await bearer(withHeader({ b64: false })), 'token_invalid')
  t.equal(await bearer(withHeader({ b64: false, crit: ['b64'] })), 'token_invalid')
  const input = `${base64url('{"alg":"HS256","b64":false,"crit":["b64"]}')}.${JSON.stringify(claims)}`
  const signature = createHmac('sha256', secrets.acme).update(input).digest('base64url')
  t.equal(await bearer(`${input}.${signature}`), 'credentials_ambiguous', 'a comma')
  const single = `${base64url('{"alg":"HS256","b64":false,"crit":["b64"]}')}.{"sub":"alice"}`
  const other = createHmac('sha256', secrets.acme).update(single).digest('base64url')
  t.equal(await bearer(`${single}.${other}`), 'token_invalid')
})

t.test('a key named or embedded in the token', async (t) => {
  const own = Buffer.alloc(32, 7)
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const brought = [
    { jwk: { kty: 'oct', k: base64url(own) } },
    { jwk: publicKey.export({ format: 'jwk' }) },
    { kid: 'acme' },
    { kid: '' },
    { kid: null },
    { kid: '../../../dev/null' },
    { kid: "' or 1=1 --" },
    { x5c: [base64url(own)] },
    { x5t: base64url(own) },
    { 'x5t#S256': base64url(own) },
    { zip: 'DEF' },
  ]
  for (const more of brought) {
    const header = { alg: 'HS256', ...more }
    t.equal(await bearer(sign(claims, { header, secret: own })), 'token_invalid', JSON.stringify(more))
    t.equal(
      await bearer(sign(claims, { header })),
      'token_invalid',
      `${JSON.stringify(more)}, with a valid signature`,
    )
  }
})

t.test('a key at a URL: no request is sent', async (t) => {
  let visits = 0
  const server = createServer((_request, response) => {
    visits++
    response.end('{"keys":[]}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`
  t.equal(await bearer(withHeader({ jku: url })), 'token_invalid')
  t.equal(await bearer(withHeader({ x5u: url })), 'token_invalid')
  await fetch(url)
  t.equal(visits, 1, "only the test's own request")
  server.closeAllConnections()
  server.close()
})

t.test('typ', async (t) => {
  for (const typ of ['JWT', 'jwt', 'Jwt']) t.match(await bearer(withHeader({ typ })), { user: 'alice' }, typ)
  t.match(await bearer(withHeader({})), { user: 'alice' }, 'no request')
  for (const typ of [
    'at+jwt',
    'logout+jwt',
    'dpop+jwt',
    'secevent+jwt',
    'JOSE',
    '',
    ' JWT',
    null,
    1,
    ['JWT'],
  ])
    t.equal(await bearer(withHeader({ typ })), 'token_invalid', JSON.stringify(typ))
})

t.test('an unknown parameter is ignored (RFC 7515, section 4)', async (t) => {
  t.match(await bearer(withHeader({ note: 'x', toString: 'y' })), { user: 'alice' })
})
