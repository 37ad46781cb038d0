/** Signatures of RFC 4231, and their spelling. */

import { createHmac, randomBytes } from 'node:crypto'
import t from 'tap'
import { HmacKey } from '../../../src/decision/authn/jws.ts'

t.test('RFC 4231, test cases 2 and 6', async (t) => {
  const jefe = new HmacKey('HS256', Buffer.from('Jefe'))
  t.equal(
    Buffer.from(jefe.sign('what do ya want for nothing?'), 'base64url').toString('hex'),
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  )
  const long = new HmacKey('HS512', Buffer.alloc(131, 0xaa))
  t.equal(
    Buffer.from(long.sign('Test Using Larger Than Block-Size Key - Hash Key First'), 'base64url').toString(
      'hex',
    ),
    '80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352' +
      '6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598',
  )
})

t.test('accepts no other spelling of the signature', async (t) => {
  const secret = randomBytes(32)
  const key = new HmacKey('HS256', secret)
  const signature = createHmac('sha256', secret).update('input').digest('base64url')
  const last = signature.at(-1) ?? ''
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const others = [
    '',
    signature.slice(0, -1),
    `${signature}=`,
    `${signature}A`,
    ` ${signature}`,
    Buffer.from(signature, 'base64url').toString('base64'),
    // Spare bits: another last character that decodes to the same bytes (RFC 4648, section 3.5).
    signature.slice(0, -1) + (alphabet[alphabet.indexOf(last) ^ 1] ?? ''),
    // As latin1, the last character would become the expected one.
    signature.slice(0, -1) + String.fromCharCode(last.charCodeAt(0) + 0x100),
  ]
  for (const each of others) t.notOk(key.verifies('input', each), JSON.stringify(each))
  t.notOk(key.verifies('Input', signature))
})
