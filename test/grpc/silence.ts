/** A stream on which neither side says anything, behind an upstream with `body_timeout`. */

import { once } from 'node:events'
import type { Test } from 'tap'
import { type Chat, whole } from './client.ts'
import type { Talk } from './service.ts'

/** @param talking what the client does first; the service answers none of its messages */
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
