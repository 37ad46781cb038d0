/** Only the exact signed text authenticates. No input makes authentication throw. */

import fc from 'fast-check'
import t from 'tap'
import type { Credentials } from '../../../src/model/authorization-request.ts'
import { Refusal } from '../../../src/model/errors.ts'
import { authenticator, credentials, resultOf, sign } from './support.ts'
import { anyText } from '../../lib/any-text.ts'

function credentialsOf(headers: readonly (readonly [string, string])[]): Credentials {
  const values = (wanted: string) => headers.filter(([name]) => name === wanted).map(([, value]) => value)
  return {
    apiKey: values('x-api-key'),
    authorization: values('Authorization'),
    cookie: values('cookie'),
    space: values('space'),
  }
}

const token = sign()
const character = fc.oneof(fc.constantFrom(...'ABCxyz019-_.=+/ ~'), anyText({ minLength: 1, maxLength: 1 }))

const edit = fc.record({
  kind: fc.constantFrom('replace', 'insert', 'delete', 'swap', 'repeat'),
  at: fc.nat(token.length - 1),
  length: fc.integer({ min: 1, max: 8 }),
  text: character,
})

function apply(
  text: string,
  { kind, at, length, text: piece }: { kind: string; at: number; length: number; text: string },
) {
  const [before, cut, after] = [text.slice(0, at), text.slice(at, at + length), text.slice(at + length)]
  if (kind === 'replace') return before + piece + text.slice(at + 1)
  if (kind === 'insert') return before + piece + text.slice(at)
  if (kind === 'delete') return before + after
  if (kind === 'repeat') return before + cut + cut + after
  return before + [...cut].reverse().join('') + after
}

t.test('an edited token never authenticates', async (t) => {
  // One authenticator, so that the valid token is in its cache.
  const authn = authenticator()
  t.match(await resultOf(authn, { authorization: [`Bearer ${token}`] }), { user: 'alice' })
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), async (edits) => {
      const text = edits.reduce(apply, token)
      const answer = await resultOf(authn, { authorization: [`Bearer ${text}`] })
      // Leading spaces separate the scheme from the token, and are not part of it.
      return (typeof answer !== 'string') === (text.replace(/^ +/, '') === token)
    }),
    { numRuns: 5000 },
  )
})

t.test('every character of a token counts', async (t) => {
  const authn = authenticator()
  await resultOf(authn, { authorization: [`Bearer ${token}`] })
  let passed = 0
  for (let at = 0; at < token.length; at++) {
    for (const other of ['A', 'B', '-', '.', 'z']) {
      if (token[at] === other) continue
      const text = token.slice(0, at) + other + token.slice(at + 1)
      if (typeof (await resultOf(authn, { authorization: [`Bearer ${text}`] })) !== 'string') passed++
    }
  }
  t.equal(passed, 0)
})

t.test('any header text gives a result, never an exception', async () => {
  const authn = authenticator()
  const tokenLike = fc
    .tuple(fc.json(), fc.json(), fc.base64String())
    .map(([header, payload, signature]) =>
      [Buffer.from(header).toString('base64url'), Buffer.from(payload).toString('base64url'), signature].join(
        '.',
      ),
    )
  const value = fc.oneof(
    anyText(),
    tokenLike.map((it) => `Bearer ${it}`),
    fc.string().map((it) => `sk_${it}`),
  )
  const name = fc.constantFrom('x-api-key', 'Authorization', 'cookie', 'space', 'host')
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(name, value), { maxLength: 3 }), async (headers) => {
      const answer = await authn.authenticate(credentialsOf(headers))
      return answer instanceof Refusal
    }),
    { numRuns: 2000 },
  )
})

t.test('any signed claims give a result, never an exception', async () => {
  const authn = authenticator()
  const names = ['sub', 'exp', 'nbf', 'iat', 'tenant_id', 'email', 'hash_perm']
  const claim = fc.oneof(fc.jsonValue(), fc.constantFrom('acme', 1.9e9, 1e308, -1, ['s1:A']), fc.double())
  const payload = fc.dictionary(fc.constantFrom(...names), claim)
  await fc.assert(
    fc.asyncProperty(payload, async (claims) => {
      const given = credentials({ authorization: [`Bearer ${sign(claims)}`] })
      const answer = await authn.authenticate(given)
      return answer instanceof Refusal || (typeof answer.user === 'string' && answer.user !== '')
    }),
    { numRuns: 2000 },
  )
})
