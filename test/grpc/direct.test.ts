/** The gRPC service and client of these tests against each other: what the gateway has to carry unchanged. */

import { once } from 'node:events'
import t from 'tap'
import { everyCall } from './calls.ts'
import { Caller } from './client.ts'
import { Talk } from './service.ts'

t.test('without a gateway', async (t) => {
  const talk = new Talk()
  const port = await talk.listen(t)
  await everyCall(t, new Caller(t, `127.0.0.1:${port}`, { 'x-sent': 'metadata' }), talk)
  t.same(talk.calls[0]?.metadata.get('x-sent'), ['metadata'])
})

t.test('a cancelled call is cancelled at the service', async (t) => {
  const talk = new Talk()
  const port = await talk.listen(t)
  const call = new Caller(t, `127.0.0.1:${port}`).chat()
  call.on('error', () => {})
  call.write('hold')
  await once(talk.events, 'message')
  const cancelled = talk.cancellation('Chat')
  call.cancel()
  t.equal(await cancelled, 'Chat')
})
