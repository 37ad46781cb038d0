import t from 'tap'
import { Refusal } from '../../../src/model/errors.ts'
import { authenticator, claims, credentials, resultOf, sign } from './support.ts'

const authn = authenticator()
const token = sign()
const line = `Bearer ${token}`

t.test('no credential', async (t) => {
  t.equal(await resultOf(authn, {}), 'credentials_missing')
  t.equal(await resultOf(authn, { cookie: ['a=b'], space: ['s1'] }), 'credentials_missing')
})

t.test('an invalid API key never falls back to a valid token', async (t) => {
  for (const key of ['', 'sk_', 'sk_nonsense', token, 'x'.repeat(100_000)])
    t.equal(
      await resultOf(authn, { apiKey: [key], authorization: [line] }),
      'api_key_invalid',
      key.slice(0, 12),
    )
})

t.test('conflicting headers are refused, whichever takes precedence', async (t) => {
  for (const given of [
    { authorization: [line, line] },
    { authorization: [line, 'Basic eDp5'] },
    { authorization: ['Basic eDp5', line] },
    { authorization: [line, ''] },
    { authorization: [`${line},`] },
    { authorization: [`${line}, ${line}`] },
    { authorization: [','] },
    { apiKey: ['sk_a', 'sk_a'] },
    { apiKey: ['sk_a', ''] },
    { apiKey: ['sk_a,sk_b'] },
    { apiKey: ['sk_a, '] },
    { apiKey: ['sk_a', 'sk_b'], authorization: [line] },
    { apiKey: ['sk_a'], authorization: [line, line] },
  ])
    t.equal(await resultOf(authn, given), 'credentials_ambiguous', JSON.stringify(given).slice(0, 60))
})

t.test('the scheme is case-insensitive and followed by one or more spaces', async (t) => {
  for (const scheme of ['Bearer ', 'bearer ', 'BEARER ', 'bEaReR ', 'Bearer  ', 'bearer     '])
    t.match(await resultOf(authn, { authorization: [scheme + token] }), { user: 'alice' }, scheme)
})

t.test('Bearer without a token, or with more than one', async (t) => {
  for (const text of [
    'Bearer',
    'bearer',
    'Bearer ',
    'Bearer    ',
    `Bearer\t${token}`,
    `Bearer \t${token}`,
    `Bearer\u00a0${token}`,
    `Bearer ${token} ${token}`,
    `Bearer ${token}\n`,
    `Bearer\n${token}`,
    `Bearer "${token}"`,
    `Bearer Bearer ${token}`,
    `Bearer token=${token}`,
    ` Bearer ${token}`,
    '',
    ' ',
  ])
    t.equal(
      await resultOf(authn, { authorization: [text] }),
      'token_invalid',
      JSON.stringify(text.slice(0, 20)),
    )
})

t.test('other schemes count as no credential', async (t) => {
  for (const text of [
    'Basic eDp5',
    'Basic',
    'Negotiate a==',
    token,
    `BearerX ${token}`,
    `Bear ${token}`,
    `JWT ${token}`,
  ])
    t.equal(await resultOf(authn, { authorization: [text] }), 'credentials_missing', text.slice(0, 20))
})

t.test('a refusal is a value with public text and status 400 or 401', async (t) => {
  for (const given of [{}, { apiKey: ['secret-key'] }, { authorization: ['Bearer secret-token'] }]) {
    const answer = await authn.authenticate(credentials(given))
    t.ok(answer instanceof Refusal)
    if (!(answer instanceof Refusal)) continue
    t.equal(answer.status, 401)
    t.notMatch(answer.detail, 'secret')
  }
})

t.test('malformed tokens are refused at once, without any cryptography', async (t) => {
  const short = token.slice(0, -4)
  const hs384 = sign(claims, { header: { alg: 'HS384' }, hash: 'HS384' })
  const unknown = sign({ ...claims, tenant_id: 'nobody' })
  const none = sign(claims, { header: { alg: 'none' } })
  for (const text of ['a.b.c', none, short, hs384, unknown, `${token}.x`, sign('[]'), 'x'.repeat(20_000)]) {
    const answer = authn.authenticate(credentials({ authorization: [`Bearer ${text}`] }))
    t.ok(answer instanceof Refusal && answer.code === 'token_invalid', text.slice(0, 20))
  }
})
