/** How many signatures of a provider's signals are verified at once, and that those that need no key wait for none. */

import t from 'tap'
import { VerificationTurns } from '../../src/oidc/signals/verification-turns.ts'
import { Refusal } from '../../src/model/errors.ts'
import { EVENTS, pushed, Transmitter } from '../support/transmitter.ts'
import { freshWorld } from './world.ts'

t.test('eight at once, 64 that wait in order, and the rest is refused', async (t) => {
  const turns = new VerificationTurns()
  const begun: { readonly at: number; readonly end: (fault?: Error) => void }[] = []
  const run = (at: number) =>
    turns.run(
      () =>
        new Promise<number>((resolve, reject) =>
          begun.push({ at, end: (fault) => (fault === undefined ? resolve(at) : reject(fault)) }),
        ),
    )
  const all = Array.from({ length: 72 }, (_, at) => run(at).catch((fault: unknown) => String(fault)))
  t.equal(begun.length, 8)
  const refused = await run(72)
  t.ok(refused instanceof Refusal && refused.status === 503 && refused.retryAfter !== null)
  // A verification that fails passes its turn on too.
  begun[0]?.end(new Error('no keys'))
  t.equal(await all[0], 'Error: no keys')
  await all[0]
  t.equal(begun.length, 9)
  const last = run(73)
  t.ok((await run(74)) instanceof Refusal, 'one has left, and one has come')
  for (let at = 1; at < begun.length; at++) {
    begun[at]?.end()
    await (at < 72 ? all[at] : last)
  }
  t.same(
    begun.map(({ at }) => at),
    [...Array.from({ length: 72 }, (_, at) => at), 73],
  )
  t.equal(await last, 73)
  const next = run(75)
  begun.at(-1)?.end()
  t.equal(await next, 75, 'none is left over')
})

t.test('what needs no key is refused before the keys are read', async (t) => {
  const transmitter = await Transmitter.start(t)
  const { audience, issuer } = transmitter
  const world = await freshWorld({
    acme: { events: { audience, issuer, jwksUri: null, authorization: null } },
  })
  world.user('alice')
  await world.visitor('alice').signIn()
  const uri = `${world.origin}/auth/ssf/acme`
  const subject = { format: 'iss_sub', iss: world.acme.issuer, sub: 'alice' }
  const push = async (more: object, header = {}) =>
    (
      await pushed(
        uri,
        await transmitter.sign(transmitter.claims(EVENTS.sessionRevoked, subject, { ...more }), header),
      )
    ).status
  for (const more of [{ iss: 'x' }, { aud: 'x' }, { iat: 1 }, { sub: 'x' }, { jti: '' }, { events: {} }])
    t.equal(await push(more, { kid: 'unknown' }), 400, JSON.stringify(more))
  t.equal(await push({}, { kid: 'unknown', typ: 'JWT' }), 400)
  t.equal((await pushed(uri, `${'x'.repeat(300)}.y.z`)).status, 400)
  t.same([...transmitter.requests.keys()], [], 'neither metadata nor keys')
  t.equal(await push({}), 202)
  t.equal(transmitter.requests.get('/keys'), 1)
})
