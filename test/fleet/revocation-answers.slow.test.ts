/**
 * What a fleet of three answers to revocations: receipts that the keys of each gateway verify, answers that are stored as they
 * were sent, previews of the whole fleet, and two revocations at once.
 */

import t from 'tap'
import { sumOfOpen } from '../../seats-admin/model/revocation.ts'
import { isReceiptFault, verifyReceipt } from '../../src/identity/receipt.ts'
import { keyFile } from '../identity/support.ts'
import { Client } from '../support/client.ts'
import { served } from '../support/served.ts'
import { until } from '../support/until.ts'
import { startFleet } from './fleet.ts'
import { countsOf, startOpenUpstream } from './open-exchanges.ts'
import { closed, ifServed, partOf, Revoking, sumOf } from './revoking.ts'

const { open, upstream } = await startOpenUpstream(t)
const identity = `identity: { keys: [${keyFile(t)}], lifetime: 90s }`
const fleet = await startFleet(t, { upstream, proxies: [], linesOf: () => [identity] })
const { gateways, first } = fleet
const revoking = await Revoking.at(fleet)
const REVOKED = gateways.map(() => '401 token_revoked')
const ALLOWED = gateways.map(() => 'allow')

/** A user, with a token that has something open at each gateway. */
async function newUser() {
  const user = revoking.user()
  const token = await revoking.token(user)
  const exchanges = (await Promise.all(gateways.map((gateway) => open(gateway, token)))).flat()
  return { user, token, exchanges }
}

/** The entries of the audit, the newest first. */
async function audit() {
  return (await served(() => fleet.admin(first, 'GET', '/v1/audit?limit=100'))).json.data
}

t.test('the receipt says what the answer says, and each gateway has the key and the answer', async (t) => {
  const { answer, user } = await closed(async () => {
    const { user } = await newUser()
    return { user, answer: await revoking.revoke(fleet.at(1), { user }, { reason: 'a leaked token' }) }
  })
  const { receipt, warnings, ...rest } = answer
  t.equal(warnings, undefined)
  const entry = (await audit()).find(({ target }: { target: { id: string } }) => target.id === answer.id)
  t.match(entry, { action: 'revocation.create', target: { kind: 'revocation', name: `user:${user}` } })
  for (const gateway of gateways) {
    const client = new Client(gateway.port)
    const keys = (await client.send('GET', '/.well-known/seatgate/jwks.json')).body
    client.close()
    const read = await verifyReceipt(receipt ?? '', keys)
    if (isReceiptFault(read)) throw new Error(read.fault)
    const signed = { iss: 'seatgate', tenant: 'acme', ...rest, audit: { seq: entry.seq, hash: entry.hash } }
    t.strictSame({ ...read.claims }, signed, `by the keys of gateway ${gateway.name}`)
    t.strictSame(await revoking.stored(gateway, answer.id), answer)
    t.strictSame(await revoking.listed(gateway, `user:${user}`), [answer])
  }
})

t.test('the seq of each answer is that of its last change in the feed', async (t) => {
  let last = 0
  for (const gateway of gateways) {
    const { seq } = await revoking.revoke(gateway, { user: revoking.user() }, { what: 'all' })
    t.ok(seq > last, `${seq} after ${last}`)
    last = seq
    const { json } = await served(() => fleet.admin(gateway, 'GET', '/v1/fleet'))
    t.match(json.changes[0], { seq, kind: 'block' })
  }
})

t.test('a preview counts what is open at the whole fleet, and changes nothing', async (t) => {
  const { user, token, exchanges } = await newUser()
  const key = await revoking.key(user)
  const sessions = [await revoking.session(user), await revoking.session(user)]
  const before = await audit()
  const preview = await until(async () => {
    const each = await ifServed(revoking.revoke(fleet.at(2), { user }, { what: 'all', dry_run: true }))
    return each?.state === 'closed' && each
  }, 'a preview that each instance has answered')
  t.same(preview.ended, { sessions: 2, api_keys: 1, ...countsOf(exchanges) })
  t.match(preview, { id: null, seq: null, receipt: null })
  for (const gateway of gateways) t.match(partOf(preview, gateway), { how: null, ms: null, cut: null })
  await Promise.all(exchanges.map((each) => each.passes()))
  for (const credential of [token, key, ...sessions]) t.same(await revoking.decisions(credential), ALLOWED)
  t.same(await audit(), before)
  t.same(await revoking.listed(first, `user:${user}`), [])
  await revoking.revoke(first, { user })
  await Promise.all(exchanges.filter(({ isOpen }) => isOpen).map((each) => each.cut()))
})

t.test('two revocations at once, by two gateways: each exchange is cut once, and counted once', async (t) => {
  const subjects: Readonly<Record<string, (user: string) => readonly object[]>> = {
    'of one user': (user) => [{ user }, { user }],
    'of a user and of the tenant': (user) => [{ user }, { tenant: true }],
  }
  for (const [what, of] of Object.entries(subjects)) {
    const { token, exchanges, answers } = await until(async () => {
      const made = await newUser()
      const answers = await ifServed(
        Promise.all(of(made.user).map((subject, at) => revoking.revoke(fleet.at(at), subject))),
      )
      t.same(await revoking.decisions(made.token), REVOKED, what)
      return answers?.every(({ state }) => state === 'closed') && { ...made, answers }
    }, 'two revocations that are closed')
    await Promise.all(exchanges.map((each) => each.cut()))
    t.not(answers[0]?.id, answers[1]?.id)
    t.same(sumOfOpen(answers.map(sumOf)), countsOf(exchanges), what)
    t.same(await revoking.decisions(token), REVOKED)
  }
})
