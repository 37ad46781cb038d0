/** No ambiguous header section is written. */

import t from 'tap'
import { FieldLines } from '../../../src/http/wire/field-lines.ts'
import { ResponseFields } from '../../../src/http/wire/response-fields.ts'
import { get } from '../../proxy/support.ts'
import { firstExchange } from '../../support/listener.ts'
import { RawClient } from '../../support/raw-client.ts'

const EVIL = ['a\r\nX-Evil: b', 'a\r\n\r\nevil', 'a\n', '\r', 'a\0b', '\u0100', '\ud800', '\x7f']
const fields = (...all: string[]) => ResponseFields.of(all)

t.test('an unwritable header section is refused, and another response can follow', async (t) => {
  const { port, asked } = await firstExchange(t)
  const wire = new RawClient(port).send(get())
  const { response } = await asked
  for (const status of [99, 1000, 200.5, NaN, Infinity, -200])
    t.throws(() => response.writeHead(status, fields()), { message: /status/ }, String(status))
  for (const evil of EVIL) {
    const shown = JSON.stringify(evil)
    t.throws(() => response.writeHead(200, fields(), evil), { message: /phrase/ }, `phrase ${shown}`)
    for (const [name, value] of [
      ['X-A', evil],
      [evil, 'a'],
    ] as const) {
      t.throws(() => response.writeHead(200, fields(name, value)), { message: /head/ }, shown)
      t.throws(() => response.writeHead(200, fields(), null, FieldLines.of([name, value])), shown)
      t.throws(() => response.writeInformation(103, fields(name, value)), shown)
    }
  }
  // Each list of fields is checked by itself.
  t.throws(() => response.writeHead(200, fields('A', 'b\r\nC: d', 'E', 'f'), null, FieldLines.of([])))
  t.equal(response.headersSent, false)
  response.writeHead(
    299,
    fields('X-A', '\xe4', 'Content-Length', '2'),
    'Fine, \xe4',
    FieldLines.of(['b', 'c']),
  )
  response.shouldKeepAlive = false
  response.end('ok')
  const got = await wire.until('ok')
  wire.socket.destroy()
  t.match(
    got,
    /^HTTP\/1\.1 299 Fine, \xe4\r\nX-A: \xe4\r\nContent-Length: 2\r\nb: c\r\nDate: [^\r\n]*\r\nConnection: /,
  )
  t.notMatch(got, /evil/i)
})
