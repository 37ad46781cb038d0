/** What the audit says of Seats, API keys and blocks is what each store driver has. */

import type { Test } from 'tap'
import { AuditStates, type Store } from '../../../seats-admin/index.ts'
import { compareRows } from '../../../src/cli/audit/compare-rows.ts'
import { done, signedIn, suiteOf, writer } from './conformance.ts'

export function auditStatesConformance(t: Test, openStore: (t: Test) => Promise<Store>): void {
  const { test } = suiteOf(t, openStore)

  test('nothing is found where nothing was tampered with', async (t, store) => {
    await audited(store)
    const states = new AuditStates()
    const { rows, start } = await store.audit.chain('acme', '', 100)
    states.read(rows, start)
    await compareRows(store, 'acme', states, String(rows.at(-1)?.id))
    t.same(states.findings, [])
    t.equal(states.count, 0)
  })

  test('changes that come while the rows are read are no findings', async (t, store) => {
    await audited(store)
    const states = new AuditStates()
    const { rows, start } = await store.audit.chain('acme', '', 100)
    states.read(rows, start)
    await store.createSeat(writer(), { name: 'Late', spaces: [], permissions: ['a:b'] })
    const [first] = (await store.listSeats('acme', { limit: 1, after: null, scope: writer().scope })).data
    await store.updateSeat(writer(), first?.id ?? '', { permissions: [] })
    await compareRows(store, 'acme', states, String(rows.at(-1)?.id))
    t.same(states.findings, [])
  })
}

/** Some of each change. */
export async function audited(store: Store) {
  const seat = async (name: string) =>
    done(await store.createSeat(writer(), { name, spaces: ['main'], permissions: ['a:b'] })).value.id
  const [desk, clerk, gone] = [await seat('Desk'), await seat('Clerk'), await seat('Gone')]
  const made = await store.createApiKey(writer(), { name: 'ci', seats: ['Desk', 'Gone'], expiresAt: null })
  const key = done(made).value.id
  await store.updateSeat(writer(), desk, { name: 'Front desk', permissions: ['a:b', 'a:c'] })
  await store.updateSeat(writer(), desk, {})
  await store.deleteSeat(writer(), gone)
  await store.recordSignIn('acme', signedIn('ann'), [desk])
  await store.createBlock(writer(), { user: 'ann', until: null, reason: 'left' })
  await store.createBlock(writer(), { user: 'eve', until: 1, reason: null })
  await store.createBlock(writer(), { user: 'eve', until: null, reason: 'again' })
  return { desk, clerk, gone, key }
}
