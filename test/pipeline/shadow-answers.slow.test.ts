/** A gateway with candidate tables answers byte for byte as one without, under load. */

import type { RequestListener } from 'node:http'
import t from 'tap'
import { holdTime } from '../support/held-time.ts'
import { roundTrip } from '../support/raw-client.ts'
import { startWorld, type World } from '../support/world.ts'
import { metricsOf } from '../support/operations.ts'

const ROUTES = [
  'GET /public/*: public',
  'GET /files/{name}: files:read',
  'DELETE /files/{name}: files:delete',
  'POST /echo: { permission: authenticated, max_body: 1KiB }',
  'ANY /own: authenticated',
]
/** Every request is answered in another way. */
const CANDIDATE = [
  'GET /public/*: files:delete',
  'GET /files/{name}: public',
  'DELETE /files/{name}: public',
  'POST /*: public',
  'GET /own/*: public',
  'ANY /nowhere: public',
]

/** The upstream's answer has no Date, so that the same request has the same bytes. */
const settings = {
  routes: ROUTES,
  top: ['trusted_proxies: [127.0.0.1]'],
  answer: ((request, response) => {
    response.sendDate = false
    response.setHeader('etag', `"${request.url}"`)
    response.end(`upstream ${request.url}`)
  }) satisfies RequestListener,
}

async function send({ port }: World, text: string): Promise<string> {
  return (await roundTrip(port, text)).replaceAll(/^date: .*$/gim, 'date: now')
}

t.test('the same bytes', async (t) => {
  const plain = await startWorld(t, settings)
  const shadowed = await startWorld(t, { ...settings, shadow: CANDIDATE })
  for (const world of [plain, shadowed]) {
    await world.seat('Reader', ['main'], ['files:read'])
    await world.seat('Other', ['main'], ['files:list'])
  }
  const credentials = [
    '',
    `Authorization: Bearer ${await plain.token(['main:Reader'])}\r\n`,
    `Authorization: Bearer ${await plain.token(['main:Other', 'main:Gone'])}\r\n`,
    `Authorization: Bearer ${await plain.token(['main:Reader'], { now: 0 })}\r\n`,
    'Authorization: Bearer x.y.z\r\n',
    'x-api-key: sgk_nonsense\r\n',
    'Authorization: Basic eA==\r\n',
  ]
  const targets = [
    'GET /public/a',
    'GET /files/a?b=c',
    'DELETE /files/a',
    'ANY /own',
    'GET /own',
    'POST /echo',
  ]
  const others = ['GET /nowhere', 'HEAD /public/a', 'GET /files/a;b', 'GET /..', 'GET /v1/seats', 'PUT /own']
  const spaces = ['Space: main\r\n', '', 'Space: other\r\n', 'Space: a\r\nSpace: b\r\n']
  const requests = [...targets, ...others].flatMap((line) =>
    credentials.flatMap((credential) =>
      spaces.map((space) => {
        const body = line.startsWith('POST') ? 'x'.repeat(credential === '' ? 2000 : 10) : ''
        const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`
        return `${line} HTTP/1.1\r\nHost: gw\r\nX-Request-Id: one\r\nConnection: close\r\n${credential}${space}${length}\r\n${body}`
      }),
    ),
  )
  const wrong: string[] = []
  // Several at once, in another order than above.
  const left = requests.map((_, at) => requests[(at * 5) % requests.length] ?? '')
  const compare = async () => {
    for (let text = left.pop(); text !== undefined; text = left.pop()) {
      const [one, other] = await Promise.all([send(plain, text), send(shadowed, text)])
      if (one !== other || one === '') wrong.push(`${text}\n${one}\n${other}`)
    }
  }
  // A refusal names the spaces that the store has told by a time limit: none ends here.
  holdTime(t)
  await Promise.all(Array.from({ length: 8 }, compare))
  t.same(wrong, [])
  const text = await metricsOf(shadowed)
  const count = (result: string) =>
    Number(
      new RegExp(`^seatgate_shadow_decisions_total\\{result="${result}"\\} (\\d+)$`, 'm').exec(text)?.[1],
    )
  for (const result of ['same', 'allow_to_deny', 'deny_to_allow', 'other'])
    t.ok(count(result) > 10, `${result}: ${count(result)}`)
})
