import fc from 'fast-check'
import t from 'tap'
import { InvalidValue } from '../../src/config/invalid-value.ts'
import { secret } from '../../src/config/tenant-settings.ts'
import { refuses } from './support.ts'

const bytesOf = (text: string) => {
  const read = secret(text)
  return read instanceof InvalidValue ? null : read.length
}

t.test('a text secret is its UTF-8 bytes, at least 32', async (t) => {
  refuses(t, secret, 'x'.repeat(31))
  t.equal(bytesOf('x'.repeat(32)), 32)
  t.equal(bytesOf('é'.repeat(16)), 32)
  refuses(t, secret, 'é'.repeat(15))
  refuses(t, secret, '')
  t.equal(bytesOf(`BASE64URL:${'A'.repeat(43)}`), 53, 'any other prefix is text')
})

t.test('base64url: gives raw bytes, in their canonical spelling', async (t) => {
  t.same(secret(`base64url:${Buffer.alloc(32, 7).toString('base64url')}`), new Uint8Array(32).fill(7))
  refuses(t, secret, `base64url:${Buffer.alloc(31).toString('base64url')}`)
  refuses(t, secret, 'base64url:')
  const good = Buffer.alloc(32, 255).toString('base64url')
  const spellings = {
    padding: `${good}=`,
    'stray bits': `${good.slice(0, -1)}9`,
    'the other alphabet': Buffer.alloc(33, 255).toString('base64'),
    space: `${good.slice(0, 20)} ${good.slice(20)}`,
    'line break': `${good}\n`,
    'one character too many': `${good}AA`,
    'no alphabet at all': '€'.repeat(50),
  }
  for (const text of Object.values(spellings)) refuses(t, secret, `base64url:${text}`)
})

t.test('any 32 or more bytes round-trip', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 80 }), (bytes) => {
      const read = secret(`base64url:${Buffer.from(bytes).toString('base64url')}`)
      return !(read instanceof InvalidValue) && Buffer.from(read).equals(bytes)
    }),
  )
})
