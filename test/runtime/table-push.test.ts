/** Which answers a push waits for, with instances and a store of each speed. */

import t from 'tap'
import { type TableFiles, tablesDigest } from '../../seats-admin/index.ts'
import type { ReachableInstance } from '../../seats-admin/model/registered-instance.ts'
import type { Writer } from '../../seats-admin/store/writer.ts'
import { LEASE, MARGIN } from '../../src/coherence/lease.ts'
import { TablePush } from '../../src/runtime/table-push.ts'
import { ManualClock, settled } from '../coherence/support.ts'

const FILES: TableFiles = { 'main.yaml': 'routes: {}\n' }
const WRITER = {} as Writer
const COMMITTED = { seq: 1, mark: 1, changes: [] }

/**
 * A push at one of two instances.
 *
 * @param active the version by which the first one decides; the store has version 5
 */
function setUp({ active = 5, isSame = false, withdrawTables = async () => {} } = {}) {
  const clock = new ManualClock()
  const state = {
    beat: 1,
    answers: new Map([['own', '[]']]),
    /** Milliseconds that the store takes for the answers. */
    takes: 0,
    isActivated: false,
  }
  const other = () => ({ id: 'other', beat: state.beat, gone: false }) as ReachableInstance
  const store = {
    registry: { reachable: async () => [other()] },
    proposeTables: async () => ({ ...COMMITTED, value: { id: isSame ? null : 'candidate', base: 5 } }),
    async candidateAnswers() {
      const answers = new Map(state.answers)
      if (state.takes > 0) await new Promise<void>((resolve) => void clock.after(state.takes, resolve))
      return answers
    },
    async activateTables() {
      state.isActivated = true
      return { ...COMMITTED, value: { version: 6 } }
    },
    withdrawTables,
  }
  const tables = {
    tenant: 'acme',
    active: { version: active, digest: tablesDigest({}), files: {} },
    build: async () => ({ hash: 'hash', routes: [] }),
  }
  const instance = { id: 'own', announce: async () => {}, revoke: async () => [] }
  const push = new TablePush({ store, tables, instance, clock } as unknown as ConstructorParameters<
    typeof TablePush
  >[0])
  const result = push.push(WRITER, FILES)
  return { clock, state, result }
}

t.test('a push waits for each instance that gives signs of life', async (t) => {
  const { clock, state, result } = setUp()
  for (let seconds = 0; seconds < 5; seconds++) {
    state.beat++
    await clock.pass(1000)
  }
  t.notOk(state.isActivated)
  state.answers.set('other', '[]')
  await clock.pass(100)
  t.match(await result, { version: 6 })
})

t.test('and for none without them', async (t) => {
  const { clock, result } = setUp()
  await clock.pass(LEASE + MARGIN + 100)
  t.match(await result, { version: 6 })
})

t.test('a slow store does not make a live instance a silent one', async (t) => {
  const { clock, state } = setUp()
  // Two readings of the list, one right after the other, and slow answers to what follows the second.
  await clock.pass(10)
  state.takes = LEASE + MARGIN + 500
  await clock.pass(40)
  state.beat++
  await clock.pass(state.takes)
  t.notOk(state.isActivated, 'the beat of the second was not older than the first')
})

t.test('a writer that lags behind, also behind a restored store, waits as any other', async (t) => {
  for (const active of [4, 5, 9]) {
    const { clock, state, result } = setUp({ active })
    state.beat++
    await clock.pass(500)
    t.notOk(state.isActivated, `by version ${active}`)
    state.answers.set(
      'other',
      '[{ "file": "main.yaml", "line": 1, "column": 1, "message": "no such upstream" }]',
    )
    await clock.pass(100)
    t.match(await result, { faults: [{ instance: 'other' }] })
    await settled()
  }
})

t.test('the faults are answered although the store does not take the withdrawal', async (t) => {
  const { clock, state, result } = setUp({
    withdrawTables: async () => {
      throw new Error('the store is away')
    },
  })
  state.answers.set('other', '[{ "file": "", "line": 0, "column": 0, "message": "no such upstream" }]')
  await clock.pass(100)
  t.match(await result, { faults: [{ instance: 'other' }] })
})

t.test('the same files are the version of the store, although the instance lags behind', async (t) => {
  const { state, result } = setUp({ active: 4, isSame: true })
  t.match(await result, { version: 5, digest: tablesDigest(FILES), isSame: true })
  t.notOk(state.isActivated)
})
