/** Fields that are the same in many lines are those of each request all the same. */

import t from 'tap'
import type { Principal } from '../../src/model/principal.ts'
import { hostText, principalFields, senderFields } from '../../src/telemetry/repeated-fields.ts'

const parsed = (fields: string) => JSON.parse(`{${fields}}`) as unknown

t.test('requests of one connection with other addresses and user agents', async (t) => {
  const [one, other] = [{}, {}]
  const senders: [client: string | null, peer: string | null, userAgent: string | null][] = [
    ['192.0.2.1', '192.0.2.1', 'curl/8'],
    ['192.0.2.1', '192.0.2.1', 'curl/8'],
    ['198.51.100.7', '192.0.2.1', 'curl/8'],
    ['192.0.2.1', '192.0.2.1', 'a "quoted" one'],
    ['192.0.2.1', '192.0.2.1', null],
    ['192.0.2.1', '192.0.2.1', '\u00e9'],
    ['192.0.2.1', '192.0.2.1', 'x'.repeat(300)],
    // The peer closes the connection.
    [null, null, 'x'.repeat(300)],
    [null, null, 'curl/8'],
    ['192.0.2.1', '192.0.2.1', 'curl/8'],
  ]
  for (const connection of [one, other, one])
    for (const [client, peer, userAgent] of senders) {
      const agent = userAgent === null ? {} : { user_agent: userAgent }
      t.same(parsed(senderFields(connection, client, peer, userAgent)), { client, peer, ...agent })
    }
})

t.test('callers with texts of any kind', async (t) => {
  const callers = ['alice', 'bob', '日本', 'a"b\\', '\ud800', '\u007f\u2028', 'x'.repeat(2000)].map(
    (user): Principal => ({
      method: 'bearer',
      tenant: 'acme',
      user,
      email: null,
      claims: { by: 'name', entries: new Map(), issuedAt: 100 },
      session: null,
      validUntil: null,
    }),
  )
  for (let turn = 0; turn < 2; turn++)
    for (const caller of callers)
      t.same(parsed(principalFields(caller).slice(1)), {
        tenant: 'acme',
        user: caller.user,
        auth: 'bearer',
        issued_at: 100,
      })
})

t.test('hosts in turn', async (t) => {
  const cases = [
    ['A.example:8080', 'a.example'],
    ['a.example', 'a.example'],
    ['[::1]:80', '[::1]'],
    ['[::1]', '[::1]'],
    [`${'x'.repeat(300)}:1`, 'x'.repeat(255)],
    ['\u00e9.example', '\u00e9.example'],
    ['', ''],
  ] as const
  for (let turn = 0; turn < 2; turn++)
    for (const [host, name] of cases)
      for (let again = 0; again < 2; again++) t.equal(JSON.parse(hostText(host)), name)
  t.equal(hostText(null), 'null')
})
