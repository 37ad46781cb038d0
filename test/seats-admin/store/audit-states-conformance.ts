/** What the audit says of Seats, API keys and blocks is what each store driver has. */

import { AuditStates, type Store } from '../../../seats-admin/index.ts'
import { compareRows } from '../../../src/cli/audit/audit-verify.ts'
import { block, done, key, seat, signedIn, suite, writer } from './conformance.ts'

export const auditStatesConformance = suite((test) => {
  for (const late of [false, true])
    test(`nothing is found without tampering${late ? ', also with later changes' : ''}`, async (t, store) => {
      const { desk } = await audited(store)
      const states = new AuditStates()
      const { rows, start } = await store.audit.chain('acme', '', 100)
      states.read(rows, start)
      if (late) await seat(store, 'Late')
      if (late) done(await store.updateSeat(writer(), desk, { permissions: [] }))
      await compareRows(store, 'acme', states, String(rows.at(-1)?.id))
      t.same([states.findings, states.count], [[], 0])
    })
})

/** Some of each change. */
export async function audited(store: Store) {
  const { id: desk } = await seat(store, 'Desk', ['main'])
  const { id: clerk } = await seat(store, 'Clerk', ['main'])
  const { id: gone } = await seat(store, 'Gone', ['main'])
  const { id: ci } = await key(store, ['Desk', 'Gone'])
  await store.updateSeat(writer(), desk, { name: 'Front desk', permissions: ['a:b', 'a:c'] })
  await store.updateSeat(writer(), desk, {})
  await store.deleteSeat(writer(), gone)
  await store.recordSignIn('acme', signedIn('ann'), [desk])
  await block(store, 'ann', null, { reason: 'left' })
  await block(store, 'eve', 1)
  await block(store, 'eve', null, { reason: 'again' })
  return { desk, clerk, gone, key: ci }
}
