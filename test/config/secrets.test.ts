import fc from 'fast-check'
import t from 'tap'
import { InvalidValue } from '../../src/config/invalid-value.ts'
import { secret } from '../../src/config/tenants.ts'

const message = (text: string) => {
  const read = secret(text)
  return read instanceof InvalidValue ? read.message : `read as ${read.length} bytes`
}

t.test('a text secret is its UTF-8 bytes, at least 32', async (t) => {
  t.equal(message('x'.repeat(31)), 'has 31 bytes: a secret must have at least 32')
  t.equal(message('x'.repeat(32)), 'read as 32 bytes')
  t.equal(message('é'.repeat(16)), 'read as 32 bytes')
  t.equal(message('é'.repeat(15)), 'has 30 bytes: a secret must have at least 32')
  t.equal(message(''), 'has 0 bytes: a secret must have at least 32')
  t.equal(message(`BASE64URL:${'A'.repeat(43)}`), 'read as 53 bytes', 'any other prefix is text')
})

t.test('base64url: gives raw bytes, in their canonical spelling', async (t) => {
  t.same(secret(`base64url:${Buffer.alloc(32, 7).toString('base64url')}`), new Uint8Array(32).fill(7))
  t.equal(
    message(`base64url:${Buffer.alloc(31).toString('base64url')}`),
    'has 31 bytes: a secret must have at least 32',
  )
  t.equal(message('base64url:'), 'has 0 bytes: a secret must have at least 32')
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
  for (const [name, text] of Object.entries(spellings))
    t.match(message(`base64url:${text}`), /^is not canonical/, name)
})

t.test('any 32 or more bytes round-trip', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 80 }), (bytes) => {
      const read = secret(`base64url:${Buffer.from(bytes).toString('base64url')}`)
      return !(read instanceof InvalidValue) && Buffer.from(read).equals(bytes)
    }),
  )
})
