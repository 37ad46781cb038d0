/** Frames that do not become complete: they count in the account of memory, and have the time of a header section. */

import t, { type Test } from 'tap'
import { Exchange } from '../../../src/http/server/exchange.ts'
import { ENHANCE_YOUR_CALM } from '../../../src/http/wire/http2/http2-errors.ts'
import {
  CONTINUATION,
  DATA,
  FRAME_HEADER,
  frame,
  GOAWAY,
  HEADERS,
  MAX_PAYLOAD,
  PING,
  PRIORITY,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from '../../../src/http/wire/http2/http2-frames.ts'
import { DEFAULT_LIMITS } from '../../support/default-settings.ts'
import { holdTime, untilStepped } from '../../support/held-time.ts'
import { openListener } from '../../support/listener.ts'
import { GET, POST, RawHttp2 } from '../../support/raw-http2.ts'
import { until } from '../../support/until.ts'

const TYPES = {
  HEADERS,
  CONTINUATION,
  PRIORITY,
  RST_STREAM,
  SETTINGS,
  PING,
  GOAWAY,
  WINDOW_UPDATE,
  unknown: 0x42,
}
const LATE = DEFAULT_LIMITS.headerTimeout + 2000

/** A connection of a listener that answers nothing. @param busy a request is in flight */
async function connected(t: Test, busy: boolean) {
  let arrived = 0
  const handle = (request: Exchange['request'], response: Exchange['response']) => {
    arrived++
    return new Exchange(request, response, 'id', 0)
  }
  const listener = await openListener(handle, {}, { settings: { priorKnowledge: true } })
  t.teardown(() => listener.close(0))
  const client = RawHttp2.plain(listener.address.port)
  t.teardown(() => client.socket.destroy())
  if (busy) client.headers(1, POST, 0)
  await client.settled()
  if (busy) await until(() => arrived === 1, 'the request')
  return { listener, client }
}

/** The first bytes of a frame of 16 KiB. @param bytes of its payload */
function begun(client: RawHttp2, type: number, bytes: number): Buffer {
  const whole = frame(type, 0, 3, Buffer.alloc(MAX_PAYLOAD))
  const before = type === CONTINUATION ? frame(HEADERS, 0, 3, client.block(GET)) : Buffer.alloc(0)
  return Buffer.concat([before, whole.subarray(0, FRAME_HEADER + bytes)])
}

for (const busy of [false, true])
  for (const [name, type] of Object.entries(TYPES))
    t.test(`${name}, ${busy ? 'with' : 'without'} a request in flight`, async (t) => {
      const time = holdTime(t)
      const { listener, client } = await connected(t, busy)
      const before = listener.memory
      client.send(begun(client, type, 100))
      await until(() => listener.memory >= before + MAX_PAYLOAD, 'its bytes in the account')
      const ended = client.goAway()
      time.pass(LATE)
      t.equal(await ended, ENHANCE_YOUR_CALM)
      t.equal(listener.memory, 0)
    })

for (const busy of [false, true])
  t.test(`a part of a frame header, ${busy ? 'with' : 'without'} a request in flight`, async (t) => {
    const time = holdTime(t)
    const { client } = await connected(t, busy)
    client.send(begun(client, SETTINGS, -1))
    await untilStepped(time, () => client.count(GOAWAY) === 1)
    t.equal(await client.goAway(), ENHANCE_YOUR_CALM)
  })

t.test('a frame that becomes complete in time is read, and DATA has the time of its body', async (t) => {
  const time = holdTime(t)
  const { listener, client } = await connected(t, true)
  const ping = frame(PING, 0, 0, Buffer.alloc(8))
  const before = listener.memory
  for (let at = 0; at < ping.length; at++) client.send(ping.subarray(at, at + 1))
  await client.next(({ type, payload }) => type === PING && payload.equals(Buffer.alloc(8)))
  client.send(frame(DATA, 0, 1, Buffer.alloc(MAX_PAYLOAD)).subarray(0, 5000))
  await until(() => listener.memory > before, 'a part of the body')
  time.pass(LATE)
  client.send(Buffer.alloc(MAX_PAYLOAD - 5000 + FRAME_HEADER))
  await client.settled()
  t.equal(client.ended, false)
})
