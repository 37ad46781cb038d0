/** Requests of SCIM that make much of few bytes: each is answered without a long stall of the event loop. */

import t, { type Test } from 'tap'
import { startScim } from '../scim/support.ts'
import { leastStall } from '../support/stalls.ts'

const scim = await startScim(t)
const alice = await scim.user('alice')
const group = await scim.group('Viewer', [alice])

/** Sends a body, which is refused. */
async function isRefusedSoon(t: Test, method: string, path: string, body: object): Promise<void> {
  const text = JSON.stringify(body)
  const { isShort, stall, result } = await leastStall(() => scim.send(method, path, text))
  t.equal(result.status, 400, result.body.slice(0, 200))
  t.ok(isShort, `${stall} ms`)
}

const emails = (value: (at: number) => string) =>
  Array.from({ length: 256 }, (_, at) => ({ value: value(at), type: 'a' }))

function isPatchRefused(t: Test, ...operations: readonly object[]): Promise<void> {
  return isRefusedSoon(t, 'PATCH', `/Users/${alice}`, { Operations: operations })
}

const wrong = { op: 'replace', path: 'active', value: 'no' }

t.test('operations that each go through many long values', (t) => {
  const long = emails((at) => `${at}${'x'.repeat(28_000)}`)
  const operations = Array.from({ length: 250 }, () => ({
    op: 'remove',
    path: 'emails',
    value: { value: 'x' },
  }))
  return isPatchRefused(t, { op: 'replace', path: 'emails', value: long }, ...operations, wrong)
})

t.test('operations that each compare many values with many conditions', (t) => {
  const where = Array.from({ length: 250 }, () => 'type eq "a"').join(' and ')
  const operations = Array.from({ length: 250 }, () => ({
    ...{ op: 'replace', path: `emails[${where}].display`, value: 'x' },
  }))
  return isPatchRefused(t, { op: 'replace', path: 'emails', value: emails(String) }, ...operations, wrong)
})

const wide = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 1]))

t.test('objects with many attributes', async (t) => {
  const many = wide(500_000)
  await isRefusedSoon(t, 'POST', '/Users', many)
  await isRefusedSoon(t, 'PUT', `/Groups/${group}`, { displayName: 'Viewer', members: [many] })
  await isPatchRefused(t, { ...many, op: 'replace', path: 'title', value: 'x' })
})

t.test('a change of a group with steps that cannot be joined', async (t) => {
  const operations = Array.from({ length: 100_000 }, () => ({ op: 'replace', path: 'members', value: [] }))
  await isRefusedSoon(t, 'PATCH', `/Groups/${group}`, { Operations: operations })
  t.same(await scim.members(group), [alice])
})
