/** A log is read in bounded memory, however long its lines are. */

import t from 'tap'
import { LineSplitter } from '../../src/cli/replay/line-splitter.ts'
import { collected } from '../support/garbage.ts'

t.test('a line of 100 MB without an end takes no memory', async (t) => {
  const splitter = new LineSplitter()
  const chunk = Buffer.alloc(256 * 1024, 'x')
  const before = (await collected()).arrayBuffers
  let most = 0
  for (let sent = 0; sent < 100_000_000; sent += chunk.length) {
    splitter.push(Buffer.from(chunk))
    if (sent % 20_000_000 >= chunk.length) continue
    most = Math.max(most, (await collected()).arrayBuffers - before)
  }
  t.ok(most < 10_000_000, `${most} bytes`)
  t.same(splitter.push(Buffer.from('x\n{}\n')), { lines: ['{}'], tooLong: 1 })
  t.same(splitter.end(), { lines: [], tooLong: 0 })
})
