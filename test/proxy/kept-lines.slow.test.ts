/** Lines that are kept for the next request do not retain the text of the one that they were made for: it has credentials. */

import t from 'tap'
import { directLines } from '../../src/proxy/forwarded.ts'
import { identityLines } from '../../src/proxy/identity-headers.ts'
import { collected } from '../support/garbage.ts'
import { ALICE } from './support.ts'

const COUNT = 300
/** Bytes of a request. */
const REQUEST = 40_000

t.test('neither those of a caller nor those of a connection', async (t) => {
  const slice = (at: number) =>
    Buffer.from(`host-or-space.example${'x'.repeat(REQUEST)}${at}`)
      .toString('latin1')
      .slice(0, 20)
  const makers: [string, (key: object, text: string) => unknown][] = [
    ['connection', (key, text) => directLines(key, '192.0.2.1', 'http', text)],
    [
      'caller',
      (key, text) =>
        identityLines({ principal: { ...ALICE, ...key }, space: text, permission: 'a:b', seats: [] }),
    ],
  ]
  for (const [what, make] of makers) {
    const kept: unknown[] = []
    const before = (await collected()).heapUsed
    for (let at = 0; at < COUNT; at++) {
      const key = {}
      kept.push(key, make(key, slice(at)))
    }
    const took = ((await collected()).heapUsed - before) / COUNT
    t.ok(took < REQUEST / 10, `${took} bytes of a ${what}`)
    t.equal(kept.length, 2 * COUNT)
  }
})
