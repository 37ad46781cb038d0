/** Revocations by an identity provider: their receipts hold, and the commands show them. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { seatgateHere } from '../cli/in-process.ts'
import { afar } from '../cli/remote/from-afar.ts'
import { keyFile } from '../identity/support.ts'
import { startSignIn } from '../sign-in/world.ts'
import { EVENTS, Transmitter } from '../support/transmitter.ts'
import { REVOCATIONS } from './support.ts'

const transmitter = await Transmitter.start(t)
const { audience, issuer } = transmitter
const events = { audience, issuer, jwksUri: null, authorization: null }
const world = await startSignIn(t, { acme: { events }, top: [`identity: { keys: ["${keyFile(t)}"] }`] })
const { gateway } = world
world.user('alice')
await world.visitor('alice').signIn()
const { folder, done } = afar(t, gateway, gateway.keys['acme'] ?? '')
const jwks = `http://127.0.0.1:${gateway.port}/.well-known/seatgate/jwks.json`

for (const [type, expected, shown] of [
  [EVENTS.sessionRevoked, { what: 'existing' }, /^ {2}reason +session-revoked$/m],
  [
    EVENTS.claimsChange,
    { what: 'tokens' },
    /^ {2}keeps +sessions, whose Seats are mapped again, and API keys$/m,
  ],
  [EVENTS.disabled, { what: 'all', origin: 'events' }, /new sign-ins too, until the user is unblocked/],
] as const)
  t.test(type, async (t) => {
    const subject = { format: 'iss_sub', iss: world.acme.issuer, sub: 'alice' }
    t.equal((await transmitter.push(`${world.origin}/auth/ssf/acme`, type, subject)).status, 202)
    const [made] = (await gateway.admin('GET', `${REVOCATIONS}?subject=user:alice`)).json.data
    t.match(made, { ...expected, state: 'closed', subject: { user: 'alice' } })
    writeFileSync(join(folder, 'a.receipt'), made.receipt)
    const verified = await seatgateHere(folder, ['receipt', 'verify', 'a.receipt', '--jwks', jwks])
    t.match(verified, { code: 0, out: new RegExp(`^ {2}id +${made.id}$`, 'm') })
    t.match(await done('revoke', 'show', made.id), shown)
    t.match(await done('revoke', 'list'), new RegExp(`^${made.id} +\\S+Z +closed +user:alice$`, 'm'))
  })
