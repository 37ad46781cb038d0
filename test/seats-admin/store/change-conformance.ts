/** The feed of changes, on every driver. */

import type { Committed, Position } from '../../../seats-admin/index.ts'
import {
  allNames,
  BEGINNING,
  column,
  done,
  inSpace,
  MISSING,
  NOTHING,
  numbered,
  positionOf,
  seat,
  suite,
  tried,
  writer,
} from './conformance.ts'

export const changeConformance = suite((test) => {
  test('each write returns its changes, in order and without gaps', async (t, store) => {
    const change = (kind: string, changed: string) => ({ tenant: 'acme', kind, key: changed })
    const same = (write: Committed, expected: object[]) => t.same(new Set(write.changes), new Set(expected))
    const made = done(await store.createSeat(writer(), { name: 'A', ...NOTHING }))
    const { id } = made.value
    t.same(made.changes, [change('seat', id), change('seat-name', 'A')])
    const apiKey = done(await store.createApiKey(writer(), { name: 'k', seats: ['A'], expiresAt: null }))
    t.same(apiKey.changes, [change('api-key', apiKey.value.id)])
    const updated = done(await store.updateSeat(writer(), id, { spaces: ['x'] }))
    t.same(updated.changes, [change('seat', id), change('seat-name', 'A')])
    const renamed = done(await store.updateSeat(writer(), id, { name: 'B' }))
    same(renamed, [change('seat', id), change('seat-name', 'A'), change('seat-name', 'B')])
    const deleted = done(await store.deleteSeat(writer(), id))
    same(deleted, [change('seat', id), change('seat-name', 'B'), change('api-key', apiKey.value.id)])
    const revoked = done(await store.revokeApiKey(writer(), apiKey.value.id))
    t.same(revoked.changes, [change('api-key', apiKey.value.id)])
    const again = done(await store.revokeApiKey(writer(), apiKey.value.id))
    t.same(again.changes, [change('api-key', apiKey.value.id)], 'returned again by a repeated revocation')

    const writes = [made, apiKey, updated, renamed, deleted, revoked, again]
    const all = writes.flatMap(numbered)
    const seqs = Array.from({ length: all.length }, (_, at) => at + 1)
    t.same(column(all, 'seq'), seqs)
    for (const position of [BEGINNING, null])
      t.same(await store.changesSince(position), { head: positionOf(again), changes: all })
    for (const [at, write] of writes.entries()) {
      const { head, changes } = await store.changesSince(positionOf(write))
      t.same(head, positionOf(again))
      t.same(changes, writes.slice(at + 1).flatMap(numbered))
    }
    t.same(
      (await store.changesSince({ seq: deleted.seq - 1, mark: deleted.mark })).changes,
      all.filter((each) => each.seq >= deleted.seq),
      'also from within a write',
    )
  })

  test('each commit has its own mark, and another history is detected', async (t, store) => {
    const { id } = await seat(store, 'A')
    const writes = []
    for (let round = 0; round < 20; round++) writes.push(done(await store.updateSeat(writer(), id, {})))
    const last = writes.at(-1) ?? BEGINNING
    t.ok(new Set(column(writes, 'mark')).size > 18)
    for (const { mark } of writes) t.ok(Number.isInteger(mark) && mark > 0 && mark < 2 ** 31)
    t.same(positionOf(await store.seatById('acme', id)), positionOf(last))
    const { head } = await store.changesSince(BEGINNING)
    const strangers: Position[] = writes.map(({ seq, mark }) => ({ seq, mark: mark ^ 1 }))
    strangers.push({ ...head, seq: head.seq + 1 }, { ...head, seq: head.seq - 2 }, { ...head, seq: -1 })
    strangers.push({ seq: head.seq, mark: 0 }, { seq: 0, mark: head.mark }, { seq: -1, mark: 0 })
    for (const position of strangers)
      t.same(await store.changesSince(position), { head, changes: null }, JSON.stringify(position))
    t.same(await store.changesSince(head), { head, changes: [] })
  })

  test('a refused write changes nothing', async (t, store) => {
    const { id } = await seat(store, 'A')
    const other = await seat(store, 'B')
    const before = await store.changesSince(BEGINNING)
    const { create, update, remove, createKey, revoke } = tried(store)
    t.equal(await create('A'), 'seat_name_taken')
    t.equal(await update(other.id, { name: 'A' }), 'seat_name_taken')
    t.equal(await update(MISSING), 'seat_not_found')
    t.equal(await remove(MISSING), 'seat_not_found')
    t.equal(await tried(store, writer(inSpace('one'))).remove(id), 'grant_exceeds_own')
    t.equal(await tried(store, writer(inSpace('two'))).remove(id), 'seat_not_found')
    t.equal(await createKey(['A', 'X']), 'input_invalid')
    t.equal(await revoke(MISSING), 'api_key_not_found')
    t.same(await store.changesSince(BEGINNING), before)
    t.same(await allNames(store), ['A', 'B'])
    t.equal((await store.seatByName('acme', 'B')).value.givenUpAt, null)
  })

  test('changes that are no longer all kept, or too many, are not returned in part', async (t, store) => {
    await seat(store, 'A')
    for (let round = 0; round < 13; round++) {
      const names = Array.from({ length: 200 }, (_, at) => `${round} ${at}`)
      const seats = names.map((name) => ({ name, ...NOTHING, was: null }))
      done(await store.applySeats(writer(), { seats, prune: false }, null))
    }
    const { head, changes } = await store.changesSince(BEGINNING)
    t.same([head.seq, changes], [5202, null])
    const kept = (await store.changesSince(null)).changes ?? []
    t.same([kept.length, kept[0]?.seq, kept.at(-1)?.seq], [5202, 1, 5202], 'but from null all kept changes')
    const from = async (seq: number) =>
      (await store.changesSince({ seq, mark: kept[seq - 1]?.mark ?? 0 })).changes
    t.same(await from(head.seq - 5000), kept.slice(-5000))
    t.equal(await from(head.seq - 5001), null)
  })

  test('a read never has a value newer than its seq, nor a seq newer than its value', async (t, store) => {
    const { id } = await seat(store, 'A', ['0'])
    const history = new Map<number, string>([[(await store.changesSince(BEGINNING)).head.seq, '0']])
    let writing = true
    const wrong: string[] = []
    const reads = Array.from({ length: 4 }, async () => {
      const seen: [number, string | undefined][] = []
      while (writing) {
        const { seq, value } = await store.seatById('acme', id)
        seen.push([seq, value?.spaces[0]])
      }
      return seen
    })
    for (let round = 1; round <= 40; round++) {
      const { seq } = done(await store.updateSeat(writer(), id, { spaces: [String(round)] }))
      history.set(seq, String(round))
    }
    writing = false
    for (const [seq, space] of (await Promise.all(reads)).flat()) {
      if (history.get(seq) !== space) wrong.push(`${seq}: ${space}`)
    }
    t.same(wrong, [])
  })
})
