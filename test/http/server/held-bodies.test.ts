/** Bodies that wait in memory for their reader count towards `memory.connections`. */

import t from 'tap'
import { Exchange } from '../../../src/http/server/exchange.ts'
import type { ClientRequest } from '../../../src/http/server/client-request.ts'
import { openListener } from '../../support/listener.ts'
import { RawClient } from '../../support/raw-client.ts'
import { until } from '../../support/until.ts'

const SENT = 65_000

for (const [what, announced] of Object.entries({ 'a whole body': SENT, 'a part of a body': SENT + 1000 })) {
  t.test(`over HTTP/1.1, ${what} behind its head, before it has a reader`, async (t) => {
    const requests: ClientRequest[] = []
    const listener = await openListener((request, response) => {
      requests.push(request)
      return new Exchange(request, response, 'id', 0)
    })
    t.teardown(() => listener.close(0))
    const wire = new RawClient(listener.address.port)
    t.teardown(() => wire.close())
    wire.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${announced}\r\n\r\n${'a'.repeat(SENT)}`)
    await until(
      () => listener.memory >= SENT,
      () => `${listener.memory} bytes are counted`,
    )
    let received = 0
    requests[0]?.deliver({ data: (chunk) => void (received += chunk.length), end() {}, aborted() {} })
    t.equal(received, SENT)
    t.equal(listener.memory, 0, 'none waits')
  })
}
