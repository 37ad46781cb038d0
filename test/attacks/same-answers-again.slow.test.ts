/** The memory of an upstream connection between two responses. */

import t from 'tap'
import { collected } from '../support/garbage.ts'
import { Reading } from './response-heads.ts'

async function held(): Promise<number> {
  return (await collected()).heapUsed
}

/** Ten times what they hold. */
const MAX_BYTES = 4000

t.test('a connection retains nothing of a response', async (t) => {
  const head = `HTTP/1.1 200 OK\r\nServer: up\r\nX-Long: ${'x'.repeat(10_000)}\r\nContent-Length: 70000\r\n\r\n`
  let read = 0
  const before = await held()
  const connections = Array.from({ length: 1000 }, () => new Reading())
  for (const body of ['a', 'b', 'c'])
    for (const each of connections)
      if (typeof each.read(head + body.repeat(70_000), false) !== 'string') read++
  const bytes = ((await held()) - before) / connections.length
  t.equal(read, 3 * connections.length)
  t.ok(bytes < MAX_BYTES, `${bytes} bytes each`)
})
