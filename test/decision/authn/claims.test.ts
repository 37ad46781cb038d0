import t from 'tap'
import { bearer, claims, sign } from './support.ts'

async function entries(hashPerm: unknown): Promise<Record<string, readonly string[]> | string> {
  const answer = await bearer(sign({ ...claims, hash_perm: hashPerm }))
  if (typeof answer === 'string' || answer.claims.by !== 'name') return String(answer)
  return Object.fromEntries(answer.claims.entries)
}

t.test('hash_perm: split at the first colon', async (t) => {
  t.same(await entries(['s1:Viewer', 's1:Editor', 's2:Viewer']), { s1: ['Viewer', 'Editor'], s2: ['Viewer'] })
  t.same(await entries(['s1:Ops: on call', 's1::', 's1::x']), { s1: ['Ops: on call', ':', ':x'] })
  t.same(await entries(['s1: Viewer']), { s1: [' Viewer'] }, 'no trimming')
})

t.test('hash_perm: the space is the whole id', async (t) => {
  const answer = await bearer(sign({ ...claims, hash_perm: ['s1:A', 's10:B', 's1.x:C', 'S1:D'] }))
  t.ok(typeof answer !== 'string' && answer.claims.by === 'name')
  if (typeof answer === 'string' || answer.claims.by !== 'name') return
  const { entries } = answer.claims
  t.same(entries.get('s1'), ['A'])
  t.same(entries.get('s10'), ['B'])
  t.same(entries.get('S1'), ['D'])
  t.equal(entries.get('s'), undefined)
})

t.test('hash_perm: entries named like object members', async (t) => {
  t.same(await entries(['constructor:A', 'toString:__proto__']), {
    constructor: ['A'],
    toString: ['__proto__'],
  })
  t.same(await entries(['__proto__:A']), {}, 'no space id')
})

t.test('hash_perm: duplicates collapse', async (t) => {
  t.same(await entries(['s1:A', 's1:A', 's1:B', 's1:A']), { s1: ['A', 'B'] })
})

t.test('hash_perm: malformed entries are ignored, the others count', async (t) => {
  const bad = ['', ':', 'Viewer', 's1', 's1:', ':Viewer', ' s1:X', 's 1:X', '-s:X', 's1\n:X', '*:X', 'é:X']
  t.same(await entries([...bad, `${'a'.repeat(129)}:X`, 's1:ok']), { s1: ['ok'] })
  t.same(await entries([`${'a'.repeat(128)}:X`]), { ['a'.repeat(128)]: ['X'] })
})

t.test("hash_perm: a lone surrogate does not become another Seat's name", async (t) => {
  t.same(await entries(['s1:Ops\ufffd']), { s1: ['Ops\ufffd'] })
  t.same(await entries(['s1:Ops\ud800', 's1:\udc00Ops', 's1:ok']), { s1: ['ok'] })
})

t.test('hash_perm: absent, and of the wrong type', async (t) => {
  t.same(await entries(undefined), {})
  t.same(await entries([]), {})
  for (const wrong of [null, 's1:Viewer', {}, { 0: 's1:Viewer', length: 1 }, 1, true, false, ''])
    t.equal(await entries(wrong), 'token_invalid', JSON.stringify(wrong))
  for (const wrong of [null, 1, true, ['s1:Viewer'], { s1: 'Viewer' }])
    t.equal(await entries(['s1:Viewer', wrong]), 'token_invalid', `an entry ${JSON.stringify(wrong)}`)
})

t.test('sub', async (t) => {
  for (const sub of ['', null, 1, true, [], ['alice'], {}, undefined])
    t.equal(await bearer(sign({ ...claims, sub })), 'token_invalid', JSON.stringify(sub))
  for (const sub of [' ', '0', 'null', 'a\u0000b', 'Zoë', '*'])
    t.match(await bearer(sign({ ...claims, sub })), { user: sub }, JSON.stringify(sub))
})

t.test('email', async (t) => {
  t.match(await bearer(sign({ ...claims, email: undefined })), { email: null })
  t.match(await bearer(sign({ ...claims, email: null })), { email: null })
  for (const email of [1, true, [], ['a@b'], {}])
    t.equal(await bearer(sign({ ...claims, email })), 'token_invalid', JSON.stringify(email))
})

t.test('tenant_id: exactly one string', async (t) => {
  for (const tenant of [
    null,
    '',
    0,
    1,
    true,
    [],
    ['acme'],
    { id: 'acme' },
    'ACME',
    ' acme',
    'acme ',
    'acme\u0000',
    'nobody',
    'toString',
    '__proto__',
  ])
    t.equal(await bearer(sign({ ...claims, tenant_id: tenant })), 'token_invalid', JSON.stringify(tenant))
})

t.test('claims of other kinds of token grant nothing', async (t) => {
  const others = { memberOf: ['Admin'], seats: ['Admin'], scope: '*', roles: ['*'], permissions: ['*'] }
  const answer = await bearer(sign({ ...claims, hash_perm: undefined, ...others }))
  t.same(answer, {
    method: 'bearer',
    tenant: 'acme',
    user: 'alice',
    email: 'alice@acme.example',
    claims: { by: 'name', entries: new Map(), issuedAt: claims.iat },
    owner: 'alice',
    issuedAt: claims.iat,
    session: null,
    validUntil: claims.exp * 1000,
  })
})
