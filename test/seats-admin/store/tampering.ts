/** What verification finds after changes of the tables by SQL. For the `audit.slow.test.ts` of each driver. */

import type { Test } from 'tap'
import type { Store } from '../../../seats-admin/index.ts'
import { chainOf, verified } from './audit-chain.ts'
import { ADMIN, done, seat, writer } from './conformance.ts'
import type { inTurn } from './in-turn.ts'

/** Each leaves out nothing but this fault, of a chain of nine entries. `:n` is the id of entry n. */
const CASES: readonly (readonly [name: string, script: string, found: string])[] = [
  ['nothing', '', ''],
  ['the actor', `UPDATE audit SET actor_id = 'eve' WHERE id = :4`, '4 changed'],
  ['the name of the actor', `UPDATE audit SET actor_name = 'eve' WHERE id = :4`, '4 changed'],
  ['the time', `UPDATE audit SET at = at + 1 WHERE id = :1`, '1 changed'],
  ['a time that no date has', `UPDATE audit SET at = 9000000000000000 WHERE id = :1`, '1 changed'],
  [
    'a number that is too large',
    `UPDATE audit SET seq = 9223372036854775807 WHERE id = :9`,
    '9223372036854776000 changed, 9 missing, 9223372036854776000 head',
  ],
  ['a head that is too large', 'UPDATE audit_heads SET seq = 9223372036854775807', '10 missing'],
  ['the state before', `UPDATE audit SET before = '{"x":"y"}' WHERE id = :9`, '9 changed'],
  ['a state that is no JSON', `UPDATE audit SET after = '{' WHERE id = :5`, '5 changed'],
  ['a state that is gone', `UPDATE audit SET after = NULL WHERE id = :5`, '5 changed'],
  [
    'a hidden member',
    `UPDATE audit SET after = replace(after, '{', '{"name":"x",') WHERE id = :5`,
    '5 changed',
  ],
  ['who may see it', `UPDATE audit SET visible_in = 'two' WHERE id = :5`, '5 changed'],
  [
    'the hash',
    `UPDATE audit SET hash = substr(hash, 2) || substr(hash, 1, 1) WHERE id = :5`,
    '5 changed, 6 unlinked',
  ],
  ['the link', `UPDATE audit SET prev = hash WHERE id = :5`, '5 changed, 5 unlinked'],
  ['a dropped entry', 'DELETE FROM audit WHERE id = :5', '5 missing'],
  ['dropped entries', 'DELETE FROM audit WHERE id > :3 AND id < :8', '4 missing'],
  ['the oldest, dropped', 'DELETE FROM audit WHERE id <= :2', '1 missing'],
  ['the newest, dropped', 'DELETE FROM audit WHERE id >= :8', '8 missing'],
  ['all, dropped', 'DELETE FROM audit', '1 missing'],
  ['the head, dropped', 'DELETE FROM audit_heads', '9 head'],
  ['the head, set back', 'UPDATE audit_heads SET seq = 5', '9 head'],
  ['the head, changed', `UPDATE audit_heads SET hash = substr(hash, 2) || substr(hash, 1, 1)`, '9 head'],
  [
    'two swapped',
    `UPDATE audit SET id = 'x' WHERE id = :4; UPDATE audit SET id = :4 WHERE id = :5; UPDATE audit SET id = :5 WHERE id = 'x'`,
    '5 changed, 4 missing, 4 changed, 4 unexpected, 6 unlinked',
  ],
  [
    'numbers swapped',
    `UPDATE audit SET seq = 9 - seq WHERE id IN (:4, :5)`,
    '5 changed, 4 missing, 4 changed, 4 unexpected',
  ],
  [
    'an inserted copy',
    `INSERT INTO audit SELECT tenant, id || 'x', seq, at, actor_kind, actor_id, actor_name, request_id, action, target_kind,
       target_id, target_name, space, prev, hash, visible_in, before, after FROM audit WHERE id = :4`,
    '4 changed, 4 unexpected',
  ],
  ['another tenant', `UPDATE audit SET tenant = 'globex' WHERE id = :6`, '6 missing'],
]

export function tampering(t: Test, open: ReturnType<typeof inTurn>): void {
  for (const [name, script, expected] of CASES)
    t.test(`tampering: ${name}`, async (t) => {
      const { store, run } = await open(t)
      const entries = await written(store)
      const full = script.replaceAll(/:(\d)/g, (_, seq: string) => `'${entries[Number(seq) - 1]?.id}'`)
      if (full !== '') await run(full)
      for (const page of [1, 4, 100]) {
        const found = (await verified(store, { page })).map(({ seq, fault }) => `${seq} ${fault}`)
        t.equal(found.join(', '), expected, `read in parts of ${page}`)
      }
    })

  t.test('a cut that also sets the head back is found by a head from the log', async (t) => {
    const { store, run } = await open(t)
    const entries = await written(store)
    const [head, older] = [entries[8], entries[6]]
    if (head === undefined || older === undefined) throw new Error('no entries')
    t.same(await verified(store, { expected: head }), [])
    t.same(await verified(store, { expected: older }), [], 'a head of an earlier start')
    t.match(await verified(store, { expected: { ...head, hash: older.hash } }), [{ seq: 9, fault: 'head' }])
    await run(
      `DELETE FROM audit WHERE id > '${older.id}'; UPDATE audit_heads SET seq = 7, hash = '${older.hash}'`,
    )
    t.same(await verified(store), [], 'nothing in the store says so')
    t.match(await verified(store, { expected: head }), [{ seq: 8, fault: 'missing' }])
  })

  t.test('after retention the beginning is still anchored', async (t) => {
    const { store, run } = await open(t)
    const entries = await written(store)
    t.equal(await store.audit.prune(4, 100), 4)
    t.same(await verified(store), [])
    t.same(await verified(store, { expected: entries[3] ?? null }), [], 'the newest of those that are gone')
    t.match(await verified(store, { expected: entries[2] ?? null }), [{ seq: 3, fault: 'head' }])
    await run(`DELETE FROM audit WHERE id = '${entries[4]?.id}'`)
    t.match(await verified(store), [{ seq: 5, fault: 'missing' }])
    await run('DELETE FROM audit_starts')
    t.match(await verified(store), [{ seq: 1, fault: 'missing' }])
    await run(`INSERT INTO audit_starts VALUES ('acme', 6, 'x')`)
    t.match(await verified(store), [{ seq: 6, fault: 'unlinked' }])
  })
}

/** Nine entries, at 0 to 8 ms. */
async function written(store: Store) {
  const { id } = await seat(store, 'Viewer', ['one'], ['a:b'], writer(ADMIN, 0))
  for (let at = 1; at < 9; at++) done(await store.updateSeat(writer(ADMIN, at), id, { name: `${at}` }))
  return chainOf(store)
}
