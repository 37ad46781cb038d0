/** An idle connection retains nothing of its last request. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { Exchange } from '../../../src/http/server/exchange.ts'
import { ResponseFields } from '../../../src/http/wire/response-fields.ts'
import { Wire } from '../../proxy/support.ts'
import { collect } from '../../support/garbage.ts'
import { openListener } from '../../support/listener.ts'

t.test('the header sections of its requests are released', async (t) => {
  const sections: WeakRef<object>[] = []
  const listener = await openListener((request, response) => {
    sections.push(new WeakRef(request.section))
    response.writeHead(204, ResponseFields.of([]))
    response.end()
    return new Exchange(request, response, 'id', 0)
  })
  t.teardown(() => listener.close(0))
  const wire = new Wire(listener.address.port)
  t.teardown(() => wire.socket.destroy())
  for (let i = 1; i <= 3; i++) {
    wire.send('GET / HTTP/1.1\r\nHost: a\r\nX-A: b\r\n\r\n')
    await wire.until(new RegExp(`(?:HTTP/1\\.1 204[^]*?\\r\\n\\r\\n){${i}}`))
  }
  for (let i = 0; i < 100 && sections.some((section) => section.deref() !== undefined); i++) {
    await sleep(100)
    collect()
  }
  t.ok(sections.every((section) => section.deref() === undefined))
  t.equal(wire.socket.destroyed, false)
  wire.send('GET / HTTP/1.1\r\nHost: a\r\nX-A: b\r\n\r\n')
  await wire.until(/(?:HTTP\/1\.1 204[^]*?\r\n\r\n){4}/)
})
