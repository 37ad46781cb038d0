/** Small parsers: handles, cookies, the Seats claim, identity, algorithms, addresses. */

import t from 'tap'
import { acceptedAlgorithms, hashOf } from '../../src/oidc/provider/algorithms.ts'
import { cookieValues, setCookie, signInCookieName } from '../../src/oidc/session/cookies.ts'
import {
  cookieText,
  handleText,
  newSecret,
  newSessionId,
  parseCookieText,
  parseHandleText,
  sha256,
} from '../../src/oidc/session/session-credentials.ts'
import { isAllowedScheme } from '../../src/oidc/provider/http.ts'
import { identityOf, isLeftOut, readSeatsClaim } from '../../src/oidc/tokens/id-token-claims.ts'

t.test('handles and cookies are parsed, and malformed ones refused', async (t) => {
  const [id, one, two] = [newSessionId(), newSecret(), newSecret()]
  t.same(parseCookieText(cookieText('acme', id, one)), { tenant: 'acme', id, hash: sha256(one) })
  const handle = handleText('acme', id, one, two)
  t.match(handle, /^sgr_/)
  t.same(parseHandleText(handle), {
    tenant: 'acme',
    id,
    family: one,
    proof: { family: sha256(one), handle: sha256(two) },
  })
  for (const text of [
    '',
    '..',
    cookieText('Acme', id, one),
    cookieText('acme', `${id}x`, one),
    `${cookieText('acme', id, one)}=`,
  ])
    t.equal(parseCookieText(text), null)
  for (const text of ['', handle.slice(1), `${handle}.`, handle.toUpperCase(), `${handle}\n`])
    t.equal(parseHandleText(text), null)
})

t.test('cookies in header lines', async (t) => {
  const name = '__Host-seatgate_session'
  t.same(cookieValues([`a=b; ${name}=x; c=d`], name), ['x'])
  t.same(cookieValues([`${name}=x`, `${name}=y;${name}=z`], name), ['x', 'y', 'z'])
  t.same(cookieValues([`x${name}=x; ${name}x=y; y=${name}=z; ${name}`], name), [])
  t.same(cookieValues([`${name}="x"`], name), ['"x"'], 'quotes are part of the value')
  t.same(cookieValues([], name), [])
  t.equal(setCookie('n', 'v', 5), 'n=v; Path=/; Max-Age=5; Secure; HttpOnly; SameSite=Lax')
  const names = new Set(Array.from({ length: 2000 }, () => signInCookieName(newSecret())))
  t.equal(names.size, 2000, 'each sign-in has its own cookie name')
})

t.test('the Seats claim', async (t) => {
  const read = (claims: Record<string, unknown>, path = 'memberOf') => readSeatsClaim(claims, path).names
  t.same(read({ memberOf: ['a', 'b', 'a'] }), ['a', 'b'])
  t.same(read({ memberOf: 'a, b' }), ['a, b'], 'a string is one name')
  t.same(read({ memberOf: null }), [])
  t.equal(read({}), null)
  t.same(read({ realm_access: { roles: ['a'] } }, 'realm_access.roles'), ['a'])
  t.equal(read({ realm_access: ['roles'] }, 'realm_access.roles'), null)
  t.equal(read({ realm_access: null }, 'realm_access.roles'), null)
  t.same(read({ 'a.b': 'x', a: { b: 'y' } }, 'a.b'), ['x'], 'a claim of the full name comes first')
  for (const path of ['__proto__', 'constructor', 'toString', 'a.__proto__', 'a.constructor.name'])
    t.equal(read({ a: {} }, path), null, path)
  for (const value of [7, true, {}, [7], ['a', null], [['a']]])
    t.same(readSeatsClaim({ memberOf: value }, 'memberOf'), { names: [], malformed: true })
  t.ok(isLeftOut({ _claim_names: { groups: 'src1' } }, 'groups'))
  t.notOk(isLeftOut({ _claim_names: { groups: 'src1' } }, 'memberOf'))
})

t.test('identity', async (t) => {
  const both = { sub: 's', email: 'a@b', name: 'N' }
  t.same(identityOf('s', { email: 'a@b', name: 'N' }), both)
  t.same(identityOf('s', {}, { email: 'a@b', email_verified: true, name: 'N' }), both)
  t.same(identityOf('s', { email: 'a@b', email_verified: false }), { sub: 's', email: null, name: null })
  t.same(identityOf('s', { email: 'a@b', email_verified: 'false' }).email, null)
  for (const odd of ['', 7, null, ['a@b'], 'x'.repeat(321), '\ud800'])
    t.same(identityOf('s', { email: odd, name: odd }), { sub: 's', email: null, name: null })
})

t.test('algorithms', async (t) => {
  t.same(acceptedAlgorithms(['none', 'HS256', 'RS256', 'ES384', 'toString', 7, 'EdDSA']), [
    'RS256',
    'ES384',
    'EdDSA',
  ])
  t.same(acceptedAlgorithms(undefined), ['RS256'])
  t.same(acceptedAlgorithms('HS256'), ['RS256'])
  t.same(acceptedAlgorithms(['none', 'HS512']), [])
  t.equal(hashOf('ES384'), 'sha384')
  t.equal(hashOf('none'), null)
  t.equal(hashOf('toString'), null)
})

t.test('addresses that the gateway may request', async (t) => {
  for (const url of ['https://login.example', 'https://127.0.0.1/x']) t.ok(isAllowedScheme(url, false))
  for (const url of ['http://127.0.0.1:9', 'http://localhost', 'http://[::1]:8', 'http://127.255.0.1']) {
    t.ok(isAllowedScheme(url, true))
    t.notOk(isAllowedScheme(url, false))
  }
  for (const url of [
    'http://login.example',
    'http://127.0.0.1.evil.example',
    'http://localhost.evil.example',
    'http://127.0.0.1@evil.example',
    'http://0.0.0.0',
    'http://10.0.0.1',
    'file:///etc/passwd',
    'ftp://127.0.0.1',
    'javascript:alert(1)',
    'nonsense',
    '',
  ])
    t.notOk(isAllowedScheme(url, true), url)
})
