/** Sealed text opens with the tenant's secrets, for its own purpose and unchanged; otherwise it does not open. */

import { randomBytes } from 'node:crypto'
import t from 'tap'
import { open, seal } from '../../src/oidc/seal.ts'

const secret = () => new Uint8Array(randomBytes(32))
const place = ['session', 'acme', 'id']

t.test('any text opens again', async (t) => {
  const secrets = [secret()]
  for (const text of ['', 'x', 'ünïcode 漢字', 'x'.repeat(100_000)])
    t.equal(open(seal(text, secrets, place), secrets, place), text)
  t.not(seal('x', secrets, place), seal('x', secrets, place), 'each sealing differs')
})

t.test('sealed by the first secret, opened by any', async (t) => {
  const [old, fresh, other] = [secret(), secret(), secret()]
  const before = seal('x', [old], place)
  t.equal(open(before, [fresh, old], place), 'x')
  const after = seal('x', [fresh, old], place)
  t.equal(open(after, [fresh], place), 'x')
  t.equal(open(after, [old], place), null)
  t.equal(open(before, [other], place), null)
  t.equal(open(before, [], place), null)
  t.throws(() => seal('x', [], place))
})

t.test('sealed text does not open for another purpose', async (t) => {
  const secrets = [secret()]
  const sealed = seal('x', secrets, place)
  for (const other of [
    ['session', 'acme', 'di'],
    ['session', 'acmeid'],
    ['session', 'acm', 'eid'],
    [],
    ['session,acme', 'id'],
  ])
    t.equal(open(sealed, secrets, other), null, other.join())
})

t.test('changed, truncated or made-up text does not open', async (t) => {
  const secrets = [secret()]
  const bytes = Buffer.from(seal('some text', secrets, place), 'base64url')
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    t.equal(open(changed.toString('base64url'), secrets, place), null, `bit of byte ${at}`)
    t.equal(open(bytes.subarray(0, at).toString('base64url'), secrets, place), null, `truncated at ${at}`)
  }
  t.equal(open('', secrets, place), null)
  t.equal(open('x'.repeat(1000), secrets, place), null)
})
