/** Messages of a process that has ended: the operating system may deliver them after its exit is known. */

import t from 'tap'
import { Channel } from '../../../src/runtime/workers/channel.ts'

t.test('what arrives after the end of a process is dropped', async (t) => {
  const sent: unknown[] = []
  let deliver: (message: unknown) => void = () => {}
  const channel = new Channel({
    send: (message) => void sent.push(message),
    onMessage: (receive) => {
      deliver = receive
    },
  })
  const served: unknown[] = []
  channel.serve('joins', (version) => void served.push(version))
  deliver({ method: 'joins', argument: 1, id: 1 })
  t.same(served, [1])
  const call = channel.call('prepare')
  channel.end()
  await t.rejects(call, { name: 'ProcessEnded' })
  const before = sent.length
  deliver({ method: 'joins', argument: 2, id: 2 })
  deliver({ answer: 1, value: null, failed: null })
  await new Promise(setImmediate)
  t.same(served, [1], 'a worker that was killed while it joined is not waited for by each reload')
  t.equal(sent.length, before)
})
