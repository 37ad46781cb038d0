/** An upstream response after the gateway has sent another response: it is dropped, and the connection survives. */

import t, { type Test } from 'tap'
import { Refusal } from '../../src/model/errors.ts'
import { ResponseRelay } from '../../src/proxy/response-relay.ts'
import { fieldTable } from '../support/field-table.ts'
import type { ResponseHead } from '../../src/http/client/upstream-request.ts'
import { firstExchange } from '../support/listener.ts'
import { codeOf, get, refuse } from './support.ts'
import { RawClient } from '../support/raw-client.ts'

const denied = new Refusal('permission_denied', 'It was decided again.')

/** A request that was just refused, and the expected response of its client. */
async function refused(t: Test) {
  const { port, asked } = await firstExchange(t)
  const wire = new RawClient(port).send(get())
  const exchange = await asked
  return {
    exchange,
    answer: new ResponseRelay(exchange, 1000, {
      resume: () => {},
      unwritable: (error) => t.fail(String(error)),
    }),
    ended: wire.ended,
  }
}

const headOf = (status: number, fields: string[]): ResponseHead => ({
  status,
  phrase: 'A',
  fields: fieldTable(...fields),
})
const HEAD = headOf(200, ['content-length', '4'])

for (const [name, act] of Object.entries({
  'whole, in one piece': (answer: ResponseRelay) => {
    answer.begin(HEAD)
    answer.write('evil')
    answer.end([])
  },
  'in pieces': (answer: ResponseRelay) => {
    answer.begin(HEAD)
    answer.write(Buffer.from('ev'))
    answer.write(Buffer.from('il'))
    answer.end([])
  },
  'without a body': (answer: ResponseRelay) => {
    answer.begin(headOf(204, []))
    answer.end([])
  },
  'interim answers': (answer: ResponseRelay) => answer.interim(headOf(103, ['link', '</evil>'])),
  'the head alone': (answer: ResponseRelay) => answer.begin(HEAD),
})) {
  t.test(name, async (t) => {
    const { exchange, answer, ended } = await refused(t)
    refuse(exchange, denied, null)
    act(answer)
    const expected = await ended
    t.equal(codeOf(expected), 'permission_denied')
    t.notMatch(expected, /evil|HTTP\/1\.1 20/)
    t.equal(exchange.bytesOut, 0)
  })
  t.test(`${name}, then the refusal before any of it is sent`, async (t) => {
    if (name !== 'the head alone') return
    const { exchange, answer, ended } = await refused(t)
    act(answer)
    refuse(exchange, denied, null)
    t.equal(codeOf(await ended), 'permission_denied')
  })
}
