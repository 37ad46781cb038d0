/** A hostile Redis can not fill memory by sending a reply in small chunks. */

import t from 'tap'
import { ReplyScanner } from '../../src/redis/resp.ts'
import { collected } from '../support/garbage.ts'

t.test('a reply in single bytes needs no more memory than one in a single chunk', async (t) => {
  const scanner = new ReplyScanner()
  const before = await collected()
  const length = 300_000
  scanner.write(Buffer.from(`$${length}\r\n`), () => {})
  for (let i = 0; i < length; i++) scanner.write(Buffer.of(120), () => {})
  const after = await collected()
  const grown = after.heapUsed + after.external - before.heapUsed - before.external
  // A chunk that is kept takes a hundred bytes.
  t.ok(grown < 10 * length, `${grown} bytes`)
  scanner.write(Buffer.from('\r\n'), (frame) => t.equal(frame.length, length + `$${length}\r\n\r\n`.length))
})
