import t from 'tap'
import { Refusal } from '../../../src/model/errors.ts'
import { authenticator, claims, credentials, outcome, sign } from './support.ts'

const asked = authenticator()
const token = sign()
const line = `Bearer ${token}`

t.test('no credential', async (t) => {
  t.equal(await outcome(asked, {}), 'credentials_missing')
  t.equal(await outcome(asked, { cookie: ['a=b'], space: ['s1'] }), 'credentials_missing')
})

t.test('a bad API key never falls through to a good token', async (t) => {
  for (const key of ['', 'sk_', 'sk_nonsense', token, 'x'.repeat(100_000)])
    t.equal(
      await outcome(asked, { apiKey: [key], authorization: [line] }),
      'api_key_invalid',
      key.slice(0, 12),
    )
})

t.test('a header that says two things is refused, whichever would decide', async (t) => {
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
    t.equal(await outcome(asked, given), 'credentials_ambiguous', JSON.stringify(given).slice(0, 60))
})

t.test('the scheme is read in any case, with one space or more', async (t) => {
  for (const scheme of ['Bearer ', 'bearer ', 'BEARER ', 'bEaReR ', 'Bearer  ', 'bearer     '])
    t.match(await outcome(asked, { authorization: [scheme + token] }), { user: 'alice' }, scheme)
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
      await outcome(asked, { authorization: [text] }),
      'token_invalid',
      JSON.stringify(text.slice(0, 20)),
    )
})

t.test('another scheme is not for the gateway: as good as none', async (t) => {
  for (const text of [
    'Basic eDp5',
    'Basic',
    'Negotiate a==',
    token,
    `BearerX ${token}`,
    `Bear ${token}`,
    `JWT ${token}`,
  ])
    t.equal(await outcome(asked, { authorization: [text] }), 'credentials_missing', text.slice(0, 20))
})

t.test('a refusal is a value with public text, of 400 or 401', async (t) => {
  for (const given of [{}, { apiKey: ['secret-key'] }, { authorization: ['Bearer secret-token'] }]) {
    const answer = await asked.authenticate(credentials(given))
    t.ok(answer instanceof Refusal)
    if (!(answer instanceof Refusal)) continue
    t.equal(answer.status, 401)
    t.notMatch(answer.detail, 'secret')
  }
})

t.test('what no signature could make good is refused at once, without any cryptography', async (t) => {
  const short = token.slice(0, -4)
  const hs384 = sign(claims, { header: { alg: 'HS384' }, hash: 'HS384' })
  const nobody = sign({ ...claims, tenant_id: 'nobody' })
  const none = sign(claims, { header: { alg: 'none' } })
  for (const text of ['a.b.c', none, short, hs384, nobody, `${token}.x`, sign('[]'), 'x'.repeat(20_000)]) {
    const answer = asked.authenticate(credentials({ authorization: [`Bearer ${text}`] }))
    t.ok(answer instanceof Refusal && answer.code === 'token_invalid', text.slice(0, 20))
  }
})
