import { decodeJwt, decodeProtectedHeader } from 'jose'
import t from 'tap'
import { mintToken, verifyToken } from '../../../src/decision/authn/gateway-token.ts'
import { acme, bearer, globex, NOW, SECOND, secrets, sign, tenant, tenants } from './support.ts'

const alice = {
  sub: 'alice',
  email: 'alice@acme.example',
  name: 'Alice',
  hashPerm: ['s1:Viewer', 's2:Viewer'],
  isSso: true,
}

t.test('an issued token has exactly the specified claims', async (t) => {
  const token = await mintToken(acme, alice, NOW)
  t.same(decodeProtectedHeader(token), { alg: 'HS256', typ: 'JWT' })
  t.same(decodeJwt(token), {
    sub: 'alice',
    email: 'alice@acme.example',
    tenant_id: 'acme',
    is_sso: true,
    user_metadata: { email: 'alice@acme.example', name: 'Alice', sub: 'alice' },
    hash_perm: ['s1:Viewer', 's2:Viewer'],
    exp: SECOND + 3600,
    iat: SECOND,
    nbf: SECOND,
  })
})

t.test('an API key in the place of a token is told where it belongs', (t) => {
  const refusal = verifyToken('sk_HXT3zict9qHdAvkU', { tenants: tenants(), defaultTenant: null })
  t.match(refusal, { code: 'token_invalid', detail: /An API key belongs in x-api-key\.$/ })
  t.end()
})

t.test('unknown values are omitted', async (t) => {
  const token = await mintToken(acme, { sub: 'bob', hashPerm: [] }, NOW, 1500)
  t.same(decodeJwt(token), {
    sub: 'bob',
    tenant_id: 'acme',
    is_sso: false,
    user_metadata: { sub: 'bob' },
    hash_perm: [],
    exp: SECOND + 2,
    iat: SECOND,
    nbf: SECOND,
  })
})

t.test('an issued token verifies with each algorithm', async (t) => {
  for (const algorithm of ['HS256', 'HS384', 'HS512'] as const) {
    const own = tenant('own', { secrets: [secrets.acme], algorithm })
    const principal = await bearer(await mintToken(own, alice, NOW), { tenants: tenants(own) })
    t.same(principal, {
      method: 'bearer',
      tenant: 'own',
      user: 'alice',
      email: 'alice@acme.example',
      claims: {
        by: 'name',
        entries: new Map([
          ['s1', ['Viewer']],
          ['s2', ['Viewer']],
        ]),
        issuedAt: SECOND,
      },
      owner: 'alice',
      issuedAt: SECOND,
      session: null,
      validUntil: (SECOND + own.token.lifetime / 1000) * 1000,
    })
  }
})

t.test('the first secret signs, all verify, a removed one does not', async (t) => {
  const before = tenant('acme', { secrets: [secrets.acmeOld] })
  const after = tenant('acme', { secrets: [secrets.acme] })
  const old = await mintToken(before, alice, NOW)
  t.match(await bearer(old), { user: 'alice' })
  t.equal(await bearer(old, { tenants: tenants(after) }), 'token_invalid')
  const fresh = await mintToken(acme, alice, NOW)
  t.match(await bearer(fresh, { tenants: tenants(after) }), { user: 'alice' })
  t.equal(await bearer(fresh, { tenants: tenants(before) }), 'token_invalid')
})

t.test("another tenant's secret does not verify", async (t) => {
  const forged = sign({ ...alice, tenant_id: 'globex', exp: SECOND + 60 })
  t.equal(await bearer(forged), 'token_invalid')
  t.equal(await bearer(await mintToken({ ...globex, id: 'acme' }, alice, NOW)), 'token_invalid')
  t.match(await bearer(await mintToken(globex, alice, NOW)), { tenant: 'globex' })
})

t.test('a token without tenant_id belongs to the default tenant, if there is one', async (t) => {
  const token = sign({ sub: 'alice', exp: SECOND + 60 })
  t.match(await bearer(token), { tenant: 'acme' })
  t.equal(await bearer(token, { defaultTenant: null }), 'token_invalid')
  t.equal(
    await bearer(token, { defaultTenant: 'globex' }),
    'token_invalid',
    "verified by the default tenant's secrets",
  )
})

t.test('a token too long to verify is not issued', async (t) => {
  const hashPerm = Array.from({ length: 2000 }, (_, at) => `space-${at}:Viewer`)
  await t.rejects(mintToken(acme, { sub: 'alice', hashPerm }, NOW), RangeError)
})
