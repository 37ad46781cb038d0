/** Calls that several tests make, and what their clients must get. */

import { once } from 'node:events'
import type { Test } from 'tap'
import { type Caller, type Chat, next, whole } from './client.ts'
import type { Talk } from './service.ts'

const HOUR = 3_600_000

/** A call of each kind, with all that a gRPC client must get: messages, both sections of metadata, and the status. */
export async function everyCall(t: Test, caller: Caller, talk: Talk): Promise<void> {
  await t.test('unary', async (t) => {
    const { messages, initial, status } = await caller.unary('hello')
    t.same(messages, ['hello!'])
    t.same(initial?.get('x-initial'), ['first'])
    t.same(initial?.get('x-bytes-bin'), [Buffer.from([0, 255, 10])])
    t.equal(status.code, 0)
    t.same(status.metadata.get('x-final'), ['done'])
  })
  await t.test('a large message each way', async (t) => {
    const text = 'x'.repeat(1_000_000)
    const { messages } = await caller.unary(text)
    t.ok(messages.length === 1 && messages[0] === `${text}!`)
  })
  await t.test('a status other than 0, with its trailers', async (t) => {
    const { messages, status } = await caller.unary('fail')
    t.same(messages, [])
    t.equal(status.code, 9)
    t.equal(status.details, 'not now')
    t.same(status.metadata.get('x-final'), ['failed'])
    t.equal((await caller.unary('crash')).status.details, 'a line\nand 100 % of it: ä')
  })
  await t.test('a deadline', async (t) => {
    const deadline = Date.now() + HOUR
    t.equal((await caller.unary('hello', { deadline })).status.code, 0)
    const sent = talk.calls.at(-1)?.deadline ?? Infinity
    // What is sent is the time that remains.
    t.ok(Math.abs(sent - deadline) < HOUR / 10, `the service knows it: ${sent - deadline} ms apart`)
    t.equal((await caller.unary('hold', { deadline: Date.now() + 100 })).status.code, 4)
  })
  await t.test('a stream of requests', async (t) => {
    const { messages, status } = await caller.collect(['a', 'b', 'c'])
    t.same(messages, ['a b c!'])
    t.equal(status.code, 0)
    t.same(status.metadata.get('x-final'), ['done'])
    t.equal((await caller.collect([])).status.code, 0, 'none')
  })
  await t.test('a stream of responses', async (t) => {
    const { messages, status } = await whole(caller.count('500'))
    t.equal(messages.length, 500)
    t.equal(messages.at(-1), '500')
    t.same(status.metadata.get('x-final'), ['done'])
  })
  await t.test('both streams by turns: each side answers the other', async (t) => {
    const call = caller.chat()
    const ended = whole(call)
    for (const text of ['a', 'b', 'c']) {
      call.write(text)
      t.equal(await next(call), `${text}!`)
    }
    call.end()
    const { messages, initial, status } = await ended
    t.same(messages, ['a!', 'b!', 'c!'])
    t.same(initial?.get('x-initial'), ['first'])
    t.equal(status.code, 0)
    t.same(status.metadata.get('x-final'), ['done'])
  })
  await t.test('a stream that the service ends with a status', async (t) => {
    const call = caller.chat()
    const ended = whole(call)
    call.write('fail')
    const { status } = await ended
    t.equal(status.code, 9)
    t.same(status.metadata.get('x-final'), ['failed'])
  })
}

/**
 * A stream on which neither side says anything, behind an upstream with `body_timeout`.
 *
 * @param talking what the client does first; the service answers none of its messages
 */
export async function checkSilence(
  t: Test,
  call: Chat,
  talk: Talk,
  talking: (say: () => Promise<unknown>) => Promise<void> = async () => {},
): Promise<void> {
  const ended = whole(call)
  const cancelled = talk.cancellation('Chat')
  await talking(() => {
    const heard = once(talk.events, 'message')
    call.write('hold')
    return heard
  })
  t.match((await ended).status, { code: 14, details: /^upstream_timeout: / })
  t.equal(await cancelled, 'Chat')
}
