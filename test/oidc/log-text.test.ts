/** Texts of providers, cleaned for the log. */

import t from 'tap'
import { sanitize, sanitizeErrorCode, sanitizeName } from '../../src/oidc/provider/log-text.ts'
import { codeOf, networkError } from '../../src/oidc/provider/provider-errors.ts'

t.test('cleaned texts are bounded and printable, and carry no credentials', async (t) => {
  t.equal(sanitize('the code has expired'), 'the code has expired')
  t.equal(sanitize('a\r\nb\u0000\u001b[2Jc\u2028d'), 'a b [2Jc d')
  t.equal(sanitize(`no such code ${'a1'.repeat(20)}, sorry`), 'no such code […], sorry')
  t.equal(sanitize('token eyJhbGciOiJSUzI1NiJ9.e30.c2ln-_~ is bad'), 'token […] is bad')
  t.equal(sanitize('code%3Dabcdefghijklmnop'), '[…]')
  t.ok(sanitize('a b '.repeat(100_000)).length <= 201)
  t.equal(sanitize(''), '')
})

t.test('standard error codes are kept', async (t) => {
  for (const code of ['temporarily_unavailable', 'unsupported_grant_type', 'invalid_grant'])
    t.equal(sanitizeErrorCode(code), code)
  t.equal(sanitizeErrorCode('unsupported_grant_type_x'), '[…]')
})

t.test('names are kept whole, and made printable', async (t) => {
  t.equal(
    sanitizeName('a-very-long-name-of-a-seat-without-spaces'),
    'a-very-long-name-of-a-seat-without-spaces',
  )
  t.equal(sanitizeName('a\nb'), 'a?b')
  t.ok(sanitizeName('x'.repeat(1000)).length <= 201)
})

t.test('network errors are reported by their codes alone', async (t) => {
  const inner = Object.assign(new Error('connect 10.0.0.1:443 secret'), { code: 'ECONNREFUSED' })
  t.equal(codeOf(new Error('fetch failed', { cause: inner })), 'ECONNREFUSED')
  t.equal(codeOf(Object.assign(new Error('x'), { code: 'a secret, spelled as a code' })), 'Error')
  t.equal(codeOf('a secret'), 'unknown')
  t.notMatch(networkError(inner).message, /10\.0|secret/)
  const circle = new Error('a')
  circle.cause = circle
  t.equal(codeOf(circle), 'Error')
})
