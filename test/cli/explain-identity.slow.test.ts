/** `explain` says that an upstream gets a JWT, and which rate limits a request takes from. */

import { generateKeyPairSync } from 'node:crypto'
import t, { type Test } from 'tap'
import { CONFIG, folderWith, ROUTES } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

const files = {
  'key.pem': privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  'gateway.config.yaml': `${CONFIG}identity: { keys: [key.pem] }
rate_limits: { own: { limit: 10/s } }
`,
  'routes/trainings.yaml': `${ROUTES}  GET /me: { permission: authenticated, rate_limit: [own] }
  GET /open: public
`,
}

const SEAT = ['--tenant', 'acme', '--seat', 'Viewer']

async function explained(t: Test, ...options: string[]): Promise<string> {
  const { out } = await seatgateHere(folderWith(t, files), ['explain', 'GET', ...options])
  return out
}

t.test('the header and the audience of a JWT, and the limits', async (t) => {
  const text = await explained(t, '/me', ...SEAT)
  t.match(text, /^ {2}identity {4}JWT for trainings in x-seatgate-jwt$/m)
  t.match(text, /^ {2}limits {6}own 10\/s burst 10 per caller$/m)
  const record = JSON.parse(await explained(t, '/me', ...SEAT, '--json'))
  t.same(record.signedIdentity, { header: 'x-seatgate-jwt', audience: 'trainings' })
})

t.test('no JWT with a public route or a refusal', async (t) => {
  const open = await explained(t, '/open')
  t.match(open, /^allow/)
  t.notMatch(open, /identity/)
  const refused = await explained(t, '/me')
  t.match(refused, /^credentials_missing/)
  t.notMatch(refused, /identity/)
})
