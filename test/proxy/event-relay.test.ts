/** Where an event may follow in a stream of events, however its bytes are divided. */

import t from 'tap'
import { EventBoundary } from '../../src/proxy/event-relay.ts'

const CASES: readonly (readonly [string, boolean])[] = [
  ['', true],
  ['data: x\n\n', true],
  ['data: x\r\n\r\n', true],
  ['data: x\r\r', true],
  ['data: x\n\r\n', true],
  [': alive\n', true],
  [':\r\n', true],
  ['data: x\n\n: alive\n', true],
  ['data: x', false],
  ['data: x\n', false],
  ['data: x\r\n', false],
  ['data: x\r', false],
  ['data: x\n: alive\n', false],
  ['id: 1\n', false],
  [': alive', false],
  ['data: x\n\nd', false],
]

t.test('boundaries', async (t) => {
  for (const [text, isHere] of CASES) {
    const whole = new EventBoundary()
    whole.pass(Buffer.from(text))
    const divided = new EventBoundary()
    for (const byte of Buffer.from(text)) divided.pass(Uint8Array.of(byte))
    t.equal(whole.isHere, isHere, JSON.stringify(text))
    t.equal(divided.isHere, isHere, JSON.stringify(text))
  }
})
