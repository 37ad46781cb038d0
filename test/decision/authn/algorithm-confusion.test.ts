/** CVE-2026-39999, CVE-2026-22817/8, CVE-2023-48223, CVE-2022-23540: the token must not choose how it is verified. */

import { generateKeyPairSync, sign as signBytes } from 'node:crypto'
import t from 'tap'
import { base64url, bearer, claims, secrets, sign, signInput, tenant, tenants } from './support.ts'

const payload = base64url(JSON.stringify(claims))
const input = (alg: unknown) => `${base64url(JSON.stringify({ alg, typ: 'JWT' }))}.${payload}`

t.test('the original token is valid', async (t) => {
  t.match(await bearer(signInput(input('HS256'))), { user: 'alice' })
})

t.test('alg none in any spelling', async (t) => {
  for (const alg of ['none', 'None', 'NONE', 'nOnE', 'none ', ' none', '', 'n\u00f6ne', 'null']) {
    for (const signature of ['', base64url('x'), base64url(new Uint8Array(32))])
      t.equal(await bearer(`${input(alg)}.${signature}`), 'token_invalid', `${alg} ${signature}`)
    t.equal(await bearer(signInput(input(alg))), 'token_invalid', `${alg}, with a valid signature`)
  }
})

t.test('an alg that is missing or not a string', async (t) => {
  for (const alg of [null, 0, true, ['HS256'], { alg: 'HS256' }, ['none'], undefined])
    t.equal(await bearer(signInput(input(alg))), 'token_invalid', JSON.stringify(alg))
  for (const header of ['{"__proto__":{"alg":"HS256"}}', '{"Alg":"HS256"}', '{"alg ":"HS256"}'])
    t.equal(await bearer(sign(claims, { header })), 'token_invalid', header)
})

t.test('the secret with another HMAC', async (t) => {
  for (const alg of ['HS384', 'HS512']) {
    t.equal(await bearer(signInput(input(alg), secrets.acme, alg)), 'token_invalid', JSON.stringify(alg))
    t.equal(await bearer(signInput(input('HS256'), secrets.acme, alg)), 'token_invalid', `${alg} as HS256`)
    t.equal(await bearer(signInput(input(alg))), 'token_invalid', `HS256 as ${alg}`)
  }
  const strong = tenant('acme', { secrets: [secrets.acme], algorithm: 'HS512' })
  t.equal(
    await bearer(sign(), { tenants: tenants(strong) }),
    'token_invalid',
    'HS256 where HS512 is configured',
  )
})

t.test('other spellings of HS256', async (t) => {
  for (const alg of ['hs256', 'HS256 ', 'HS256\u0000', 'HMACSHA256', 'sha256', 'HS256,none', 'dir', 'A256KW'])
    t.equal(await bearer(signInput(input(alg))), 'token_invalid', JSON.stringify(alg))
})

t.test('a public key as the secret, and signatures by key pairs', async (t) => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = publicKey.export({ type: 'spki', format: 'pem' })
  t.equal(await bearer(signInput(input('HS256'), Buffer.from(pem))), 'token_invalid')
  const rs256 = input('RS256')
  const signature = base64url(signBytes('sha256', Buffer.from(rs256), privateKey))
  t.equal(await bearer(`${rs256}.${signature}`), 'token_invalid')
  t.equal(await bearer(`${input('HS256')}.${signature}`), 'token_invalid')
  // A tenant whose secret is, by mistake, a public PEM: RS256 still never verifies.
  const odd = tenant('acme', { secrets: [Buffer.from(pem)] })
  t.equal(await bearer(`${rs256}.${signature}`, { tenants: tenants(odd) }), 'token_invalid')
})

t.test('a missing or empty secret verifies nothing', async (t) => {
  const none = tenant('acme', { secrets: [] })
  t.equal(await bearer(sign(), { tenants: tenants(none) }), 'token_invalid')
  for (const key of ['', 'null', 'undefined', '\0'])
    t.equal(await bearer(sign(claims, { secret: Buffer.from(key) })), 'token_invalid', JSON.stringify(key))
})
