/** An idle connection retains nothing of its last request. */

import t from 'tap'
import { Exchange } from '../../../src/http/server/exchange.ts'
import { ResponseFields } from '../../../src/http/wire/response-fields.ts'
import { collect } from '../../support/garbage.ts'
import { openListener } from '../../support/listener.ts'
import { until } from '../../support/until.ts'
import { RawClient } from '../../support/raw-client.ts'

t.test('the header sections of its requests are released', async (t) => {
  const sections: WeakRef<object>[] = []
  const listener = await openListener((request, response) => {
    sections.push(new WeakRef(request.section))
    response.writeHead(204, ResponseFields.of([]))
    response.end()
    return new Exchange(request, response, 'id', 0)
  })
  t.teardown(() => listener.close(0))
  const wire = new RawClient(listener.address.port)
  t.teardown(() => wire.socket.destroy())
  for (let i = 1; i <= 3; i++) {
    wire.send('GET / HTTP/1.1\r\nHost: a\r\nX-A: b\r\n\r\n')
    await wire.until(new RegExp(`(?:HTTP/1\\.1 204[^]*?\\r\\n\\r\\n){${i}}`))
  }
  const retained = () => {
    collect()
    return sections.filter((section) => section.deref() !== undefined).length
  }
  await until(
    () => retained() === 0,
    () => `${retained()} header sections are retained`,
    { pause: 100 },
  )
  t.equal(wire.socket.destroyed, false)
  wire.send('GET / HTTP/1.1\r\nHost: a\r\nX-A: b\r\n\r\n')
  await wire.until(/(?:HTTP\/1\.1 204[^]*?\r\n\r\n){4}/)
})
