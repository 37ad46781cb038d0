/** `seatgate verify` revokes a user of its own: what it finds right, and that a token accepted afterwards is a stale answer. */

import { createServer, request as send } from 'node:http'
import { decodeJwt } from 'jose'
import t, { type Test } from 'tap'
import { listen } from '../../support/listen.ts'
import { SECRET } from '../command-line.ts'
import { SPACE, startGate } from './gate.ts'
import { hasMade, type RunHere, verifyHere } from './verify-here.ts'

const gate = await startGate(t)
const before = await gate.names()

const run = (url: string, isDone: RunHere['isDone'], more: Partial<RunHere> = {}) =>
  verifyHere({
    urls: [url],
    key: gate.key,
    space: SPACE,
    isDone,
    interval: 300,
    blocks: false,
    tokenSecret: new TextEncoder().encode(SECRET),
    ...more,
  })

/** A proxy that lets the tokens of the revoked user pass after the revocation that passed before it. */
async function forgetful(t: Test): Promise<string> {
  const passed = new Set<string>()
  let isRevoked = false
  const server = createServer((request, response) => {
    const { method, url, headers } = request
    const token = String(headers.authorization ?? '')
    const isRead = url === '/v1/canary' && token !== ''
    if (isRead && isRevoked && passed.has(token)) return void response.writeHead(204).end()
    const forwarded = send(`${gate.gateway.origin}${url}`, { method, headers }, (answer) => {
      const status = answer.statusCode ?? 0
      if (isRead && status === 204 && decodeJwt(token.slice(7)).sub?.endsWith('-revoked')) passed.add(token)
      if (method === 'POST' && url === '/v1/revocations' && status === 200) isRevoked = true
      answer.pipe(response.writeHead(status, answer.headers))
    })
    forwarded.on('error', () => response.destroy())
    request.pipe(forwarded)
  })
  return `http://127.0.0.1:${await listen(t, server)}`
}

// Each run makes objects of its own.
t.test('runs at the same time', async (t) => {
  t.jobs = 3

  t.test('a token, a stream and an owned key end; a later token is accepted', async (t) => {
    // After the second one, the first one of the next cycle has been read.
    const { report, left, revoked } = await run(
      gate.gateway.origin,
      (record) => record.timesOf('revoke user') > 1,
    )
    t.same(report.violations, [])
    t.same(left, [])
    t.equal(revoked.length, 1, 'all revocations of a run are of one user, so that one record stays')
    t.match(revoked[0], /^seatgate-verify-[0-9a-z]{10}-revoked$/)
    t.notOk(
      report.not_tested.some(({ what }) => /revo/.test(what)),
      JSON.stringify(report.not_tested),
    )
    const made = await gate.admin('GET', `/v1/revocations?subject=user:${revoked[0]}`)
    t.equal(made.json.data.length, report.operations['revoke user'])
    t.ok(made.json.data.every(({ ended }: { ended: { api_keys: number } }) => ended.api_keys === 1))
    t.ok(
      made.json.data.some(({ ended }: { ended: { streams: number } }) => ended.streams > 0),
      'a stream was open, and was cut',
    )
  })

  t.test('a gateway that accepts a token after its revocation', async (t) => {
    const { report } = await run(await forgetful(t), (record) => record.violations > 0, { streams: false })
    const [violation] = report.violations
    t.match(violation, {
      kind: 'stale',
      subject: 'token before the revocation',
      write: { operation: 'revoke user' },
      answer: 'allow',
      expected: ['token_revoked'],
    })
  })

  t.test('left out, or refused', async (t) => {
    const why = async (more: Partial<RunHere>) => {
      const { report, revoked } = await run(gate.gateway.origin, (record) => hasMade(record, 'grant'), more)
      t.same(revoked, [])
      return report.not_tested.find(({ what }) => what === 'the revocation of a user')?.why
    }
    t.equal(await why({ revocations: false }), 'it was left out with --no-revocations')
    t.match(await why({ tokenSecret: null }), /tokens need the secret/)
    t.match(await why({ writers: 2, isDone: (record) => record.writes > 3 }), /several writers change only/)

    const permissions = ['seats', 'api-keys', 'blocks'].flatMap((each) =>
      ['list', 'create', 'update', 'delete'].map((verb) => `${each}:${verb}`),
    )
    const all = [...permissions, 'canary:read', 'decisions:list', 'seats:grant']
    await gate.admin('POST', '/v1/seats', { name: 'Limited', spaces: ['admin', SPACE], permissions: all })
    const { json } = await gate.admin('POST', '/v1/api-keys', { name: 'limited', seats: ['Limited'] })
    const isDone: RunHere['isDone'] = (record) => record.timesOf('revoke key') > 0
    const { report, left, revoked } = await run(gate.gateway.origin, isDone, { key: json.key })
    t.same([report.violations, left, revoked], [[], [], []])
    t.match(
      report.not_tested.find(({ what }) => what === 'revoke user')?.why,
      /the gateway refuses the revocation: permission_denied, request \S+/,
    )
    await gate.admin('DELETE', `/v1/api-keys/${json.id}`)
  })
})

t.test('all runs have deleted what they made', async (t) => {
  t.same(
    (await gate.names()).filter((name) => name !== 'Limited'),
    before,
  )
})
