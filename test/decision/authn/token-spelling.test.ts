/**
 * A token has exactly one valid spelling. jose alone accepts padding, white space, spare bits and duplicate members.
 */

import t from 'tap'
import { MAX_TOKEN } from '../../../src/decision/authn/jws.ts'
import { base64url, bearer, claims, secrets, sign, signInput } from './support.ts'

const good = sign()
const [header = '', payload = '', signature = ''] = good.split('.')
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** The part with another last character that decodes to the same bytes; null where none exists. */
function spareBits(part: string): string | null {
  const bytes = Buffer.from(part, 'base64url')
  for (const last of ALPHABET) {
    const other = part.slice(0, -1) + last
    if (other !== part && Buffer.from(other, 'base64url').equals(bytes)) return other
  }
  return null
}

t.test('the original token is valid', async (t) => {
  t.match(await bearer(good), { user: 'alice' })
})

t.test('padding', async (t) => {
  for (const pad of ['=', '==', '%3D']) {
    t.equal(await bearer(`${good}${pad}`), 'token_invalid', `signature ${pad}`)
    t.equal(await bearer(`${header}${pad}.${payload}.${signature}`), 'token_invalid', `header ${pad}`)
    t.equal(await bearer(signInput(`${header}${pad}.${payload}`)), 'token_invalid', 'signed with the padding')
    t.equal(await bearer(signInput(`${header}.${payload}${pad}`)), 'token_invalid', 'signed with the padding')
  }
})

t.test('white space and other characters that a lax decoder skips', async (t) => {
  for (const odd of [' ', '\t', '\n', '\r\n', '\0', '!', '\u00a0', '\u200b', '\ufeff', '~']) {
    const name = JSON.stringify(odd)
    t.equal(await bearer(`${good}${odd}`), 'token_invalid', `after ${name}`)
    t.equal(await bearer(`${good.slice(0, -5)}${odd}${good.slice(-5)}`), 'token_invalid', `in ${name}`)
    t.equal(await bearer(`${header}${odd}.${payload}.${signature}`), 'token_invalid', `header ${name}`)
    t.equal(await bearer(signInput(`${header}.${payload}${odd}`)), 'token_invalid', `signed with ${name}`)
  }
})

t.test('spare bits of the last character', async (t) => {
  const other = spareBits(signature)
  t.ok(other, 'an HMAC of 32 bytes has spare bits')
  t.equal(await bearer(`${header}.${payload}.${other}`), 'token_invalid')
  const oddHeader = spareBits(base64url('{"alg":"HS256"}  '))
  t.ok(oddHeader)
  t.equal(await bearer(signInput(`${oddHeader}.${payload}`)), 'token_invalid')
  const json = JSON.stringify(claims)
  const oddPayload = [json, `${json} `, `${json}  `].map((text) => spareBits(base64url(text))).find(Boolean)
  t.ok(oddPayload)
  t.equal(await bearer(signInput(`${header}.${oddPayload}`)), 'token_invalid')
})

t.test('the other base64 alphabet', async (t) => {
  // Claims whose encoding contains both characters in which the alphabets differ.
  const text = JSON.stringify({ ...claims, note: 'ÿÿÿ>>>???~~~' })
  const part = [text, `${text} `, `${text}  `].map(base64url).find((it) => /-/.test(it) && /_/.test(it))
  t.ok(part)
  t.match(await bearer(signInput(`${header}.${part}`)), { user: 'alice' })
  const plus = part?.replaceAll('-', '+')
  const slash = part?.replaceAll('_', '/')
  for (const other of [plus, slash]) t.equal(await bearer(signInput(`${header}.${other}`)), 'token_invalid')
})

t.test('too few, too many and empty parts', async (t) => {
  for (const text of [
    '.',
    '..',
    '...',
    header,
    `${header}.${payload}`,
    `${header}.${payload}.`,
    `${header}..${signature}`,
    `.${payload}.${signature}`,
    `.${good}`,
    `${good}.`,
    `${good}.${signature}`,
    `${good}..`,
    `${header}.${payload}.${signature}.${signature}.${signature}`,
    'eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..AAAAAAAAAAAAAAAA.AAAA.AAAAAAAAAAAAAAAAAAAAAA',
    JSON.stringify({ payload, signatures: [{ protected: header, signature }] }).replaceAll(',', ' '),
  ])
    t.equal(await bearer(text), 'token_invalid', text.slice(0, 40))
  t.equal(await bearer(signInput(`${header}.`)), 'token_invalid', 'empty payload, signed')
  t.equal(await bearer(signInput(`.${payload}`)), 'token_invalid', 'empty header, signed')
})

t.test('truncated and extended signatures', async (t) => {
  for (const bytes of [0, 1, 16, 31])
    t.equal(
      await bearer(
        `${header}.${payload}.${base64url(Buffer.from(signature, 'base64url').subarray(0, bytes))}`,
      ),
      'token_invalid',
    )
  const long = Buffer.concat([Buffer.from(signature, 'base64url'), Buffer.alloc(3)])
  t.equal(await bearer(`${header}.${payload}.${base64url(long)}`), 'token_invalid')
})

t.test('edited parts', async (t) => {
  const edited = base64url(JSON.stringify({ ...claims, hash_perm: ['s1:Admin'] }))
  t.equal(await bearer(`${header}.${edited}.${signature}`), 'token_invalid')
  t.equal(await bearer(`${base64url('{"alg":"HS256"}')}.${payload}.${signature}`), 'token_invalid')
  const other = sign({ ...claims, sub: 'bob' })
  t.equal(await bearer(`${header}.${payload}.${other.split('.')[2]}`), 'token_invalid')
  t.equal(await bearer(`${payload}.${header}.${signature}`), 'token_invalid')
})

t.test('duplicate members, also with escapes', async (t) => {
  const json = JSON.stringify(claims).slice(0, -1)
  for (const more of [
    '"exp":9999999999',
    '"e\\u0078p":9999999999',
    '"sub":"root"',
    '"hash_perm":["s1:Admin"]',
    '"tenant_id":"globex"',
    '"a":{"b":1,"b":2}',
    '"__proto__":1,"__proto__":2',
  ])
    t.equal(await bearer(sign(`${json},${more}}`)), 'token_invalid', more)
  for (const odd of [
    '{"alg":"HS256","alg":"HS256"}',
    '{"alg":"none","alg":"HS256"}',
    '{"alg":"HS256","\\u0061lg":"none"}',
  ])
    t.equal(await bearer(sign(claims, { header: odd })), 'token_invalid', odd)
})

t.test('a header or payload that is no JSON object', async (t) => {
  for (const json of ['[]', `[${JSON.stringify(claims)}]`, 'null', '1', '"x"', 'true', '', '{', '{}x', ' ']) {
    t.equal(await bearer(sign(json)), 'token_invalid', `payload ${json}`)
    t.equal(await bearer(sign(claims, { header: json })), 'token_invalid', `header ${json}`)
  }
  t.equal(await bearer(sign(claims, { header: '["alg"]' })), 'token_invalid')
  t.equal(await bearer(sign('{}')), 'token_invalid')
})

t.test('bytes that are not UTF-8', async (t) => {
  const json = JSON.stringify(claims)
  for (const bytes of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xe2, 0x82], [0x80]]) {
    const spoiled = Buffer.from(json.replace('alice"', 'al"'))
    const at = spoiled.indexOf('"al"') + 3
    const text = Buffer.concat([spoiled.subarray(0, at), Buffer.from(bytes), spoiled.subarray(at)])
    t.equal(await bearer(sign(text)), 'token_invalid', Buffer.from(bytes).toString('hex'))
  }
  t.equal(await bearer(sign(Buffer.from(json, 'utf16le'))), 'token_invalid', 'UTF-16')
})

t.test('a byte order mark', async (t) => {
  t.equal(await bearer(sign(`\ufeff${JSON.stringify(claims)}`)), 'token_invalid')
  t.equal(await bearer(sign(claims, { header: '\ufeff{"alg":"HS256"}' })), 'token_invalid')
})

t.test('lone surrogates: two users do not become one', async (t) => {
  const user = (sub: string) => sign(`{"exp":9999999999,"sub":"${sub}"}`)
  t.equal(await bearer(user('a\\ud800')), 'token_invalid')
  t.equal(await bearer(user('\\udfff\\ud800')), 'token_invalid')
  t.match(await bearer(user('\\ud83d\\ude00')), { user: '\u{1f600}' })
  t.equal(await bearer(sign('{"exp":9999999999,"sub":"a","email":"\\ud800"}')), 'token_invalid')
})

t.test('oversized and deeply nested tokens', async (t) => {
  const fill = (length: number) => {
    const text = sign({ ...claims, note: 'x'.repeat(length) })
    return text
  }
  let most = Math.floor((MAX_TOKEN * 3) / 4)
  while (fill(most).length > MAX_TOKEN) most--
  t.match(await bearer(fill(most)), { user: 'alice' }, 'the maximum length')
  t.equal(await bearer(fill(most + 3)), 'token_invalid', 'one character longer')
  t.equal(await bearer('a'.repeat(50_000_000)), 'token_invalid')
  t.equal(await bearer('.'.repeat(MAX_TOKEN)), 'token_invalid')
  const deep = (depth: number) => sign({ ...claims, x: JSON.parse('['.repeat(depth) + ']'.repeat(depth)) })
  t.match(await bearer(deep(60)), { user: 'alice' })
  t.equal(await bearer(deep(64)), 'token_invalid')
  t.equal(await bearer(signInput(`${header}.${base64url('['.repeat(12_000))}`)), 'token_invalid')
})

t.test('details of refusals contain nothing of the token', async (t) => {
  const { authenticator, credentials } = await import('./support.ts')
  for (const text of [good.slice(0, -1), sign({ ...claims, exp: 'never' }), sign({ ...claims, sub: '' })]) {
    const answer = await authenticator().authenticate(credentials({ authorization: [`Bearer ${text}`] }))
    const shown = JSON.stringify(answer)
    for (const part of text.split('.')) t.notOk(shown.includes(part.slice(0, 8)))
    t.notOk(shown.includes('alice') || shown.includes(secrets.acme.toString()))
  }
})
