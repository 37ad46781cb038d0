/** What a read of `seatgate verify` takes for the decision of the gateway. */

import { createServer } from 'node:http'
import t from 'tap'
import { PlaceClient } from '../../../src/cli/verify/place-client.ts'
import { listen } from '../../support/listen.ts'

const KEY = { kind: 'key', text: 'sgk_x', id: 'k', seatId: 's' } as const
const ENTRY = { ...KEY, entry: '/entry' }

let reply: { readonly status: number; readonly body: object } = { status: 204, body: {} }
const server = createServer((_, response) => {
  response.writeHead(reply.status, { 'content-type': 'application/json' })
  response.end(reply.status === 204 ? undefined : JSON.stringify(reply.body))
})
const url = new URL(`http://127.0.0.1:${await listen(t, server)}`)
const options = { url, name: 'a', space: 'main', ca: undefined, timeout: 60_000, connections: 1 }
const place = new PlaceClient(options)
t.teardown(() => place.close())

async function answerTo(credential: typeof KEY | typeof ENTRY, status: number, body: object) {
  reply = { status, body }
  return place.ask(credential)
}

const refusal = (code: string) => ({ type: `urn:seatgate:${code}`, code })

t.test('the refusal of the gateway counts', async (t) => {
  for (const credential of [KEY, ENTRY]) {
    t.match(await answerTo(credential, 403, refusal('permission_denied')), { answer: 'permission_denied' })
    t.match(await answerTo(credential, 401, refusal('api_key_revoked')), { answer: 'api_key_revoked' })
    t.match(await answerTo(credential, 503, refusal('unavailable')), { answer: null, reason: 'unavailable' })
  }
})

t.test('a refusal by the upstream of the entry is none of the gateway', async (t) => {
  for (const body of [{ code: 'permission_denied' }, { code: 'forbidden', type: 'about:blank' }, {}])
    for (const status of [403, 404]) t.match(await answerTo(ENTRY, status, body), { answer: 'allow' })
  t.match(await answerTo(ENTRY, 401, { code: 'token_invalid' }), { answer: null, reason: 'status 401' })
  t.match(await answerTo(KEY, 403, { code: 'permission_denied' }), { answer: null, reason: 'status 403' })
})
