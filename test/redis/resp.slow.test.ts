/** A hostile Redis can not fill memory by sending a reply in small chunks. */

import t from 'tap'
import { ReplyReader } from '../../src/redis/resp.ts'
import { collected } from '../support/garbage.ts'

t.test('a reply in single bytes needs no more memory than one in a single chunk', async (t) => {
  const reader = new ReplyReader()
  const before = await collected()
  const length = 300_000
  reader.write(Buffer.from(`$${length}\r\n`), () => {})
  for (let i = 0; i < length; i++) reader.write(Buffer.of(120), () => {})
  const after = await collected()
  const grown = after.heapUsed + after.external - before.heapUsed - before.external
  // A chunk that is kept takes a hundred bytes.
  t.ok(grown < 10 * length, `${grown} bytes`)
  reader.write(Buffer.from('\r\n'), (_reply, bytes) =>
    t.equal(bytes.length, length + `$${length}\r\n\r\n`.length),
  )
})
