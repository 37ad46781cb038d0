/** The tables of one instance: what is prepared, activated and read, in which order, and what is repeated. */

import t from 'tap'
import {
  type ActiveTables,
  type NumberedChange,
  type TableFiles,
  tablesDigest,
} from '../../seats-admin/index.ts'
import type { Config } from '../../src/config/config.ts'
import { ConfigError } from '../../src/config/faults.ts'
import { BUILD_AGAIN_AFTER, InstanceTables, type TablesParts } from '../../src/runtime/instance-tables.ts'
import { ManualClock, settled } from '../coherence/support.ts'

const TENANT = 'acme'
const log = { logger: { error: () => {} } } as unknown as TablesParts['log']

function filesOf(text: string): TableFiles {
  return { 'main.yaml': text }
}

function tablesOf(version: number, text = `text ${version}`): ActiveTables {
  const files = filesOf(text)
  return { version, digest: tablesDigest(files), files }
}

function change(kind: 'tables' | 'tables-candidate', key: string, seq: number): NumberedChange {
  return { tenant: TENANT, kind, key, seq, mark: seq }
}

const candidate = (id: string, seq = 101) => change('tables-candidate', id, seq)
const activation = (version: number, id: string, text?: string) =>
  change('tables', JSON.stringify({ version, digest: tablesOf(version, text).digest, candidate: id }), 102)

/** An instance with version 5, whose main file is `first`. */
function setUp() {
  const state = {
    active: tablesOf(5),
    seq: 100,
    isAway: false,
    candidates: new Map<string, TableFiles>(),
    answers: new Map<string, string>(),
    /** The calls of the store. */
    calls: [] as string[],
    /** What the gateway decides by, the newest last. */
    decidesBy: [] as string[],
    /** Null: preparations end at once. */
    held: null as PromiseWithResolvers<void>[] | null,
    prepared: 0,
    /** With what preparations fail. */
    failure: null as Error | null,
    /** Null: files are built at once. */
    heldBuild: null as PromiseWithResolvers<void> | null,
    /** Null: activations end at once. */
    heldActivation: null as PromiseWithResolvers<void> | null,
  }
  const clock = new ManualClock()
  const called = (what: string) => {
    state.calls.push(what)
    if (state.isAway) throw new Error('the store is away')
  }
  const store: TablesParts['store'] = {
    async activeTables() {
      called('active')
      return { value: state.active, seq: state.seq, mark: state.seq }
    },
    async tablesCandidates() {
      called('candidates')
      return [...state.candidates.keys()]
    },
    async tablesCandidate(_tenant, id) {
      called(`candidate ${id}`)
      return state.candidates.get(id) ?? null
    },
    async answerCandidate(_tenant, id, _instance, answer) {
      called(`answer ${id}`)
      state.answers.set(id, answer)
    },
  }
  const withTables =
    (main: string) =>
    async ({ version, digest, files }: ActiveTables) => {
      await state.heldBuild?.promise
      if (files['main.yaml'] === 'faulty') throw new ConfigError([])
      return { tableSet: { version, digest }, main } as unknown as Config
    }
  const tables = new InstanceTables(
    { store, tenant: TENANT, cache: { write: () => {} }, log, clock },
    state.active,
    withTables('first'),
  )
  tables.attach({
    id: 'instance',
    async prepare(config) {
      state.prepared++
      if (state.failure !== null) throw state.failure
      const wait = Promise.withResolvers<void>()
      state.held?.push(wait)
      if (state.held !== null) await wait.promise
      const { main } = config as unknown as { readonly main: string }
      return async () => {
        state.decidesBy.push(`${config.tableSet.version} with the ${main} file`)
        await state.heldActivation?.promise
      }
    },
    activated: () => {},
    refused: () => {},
  })
  /** Proposes files, which the instance prepares. */
  const propose = async (id: string, text: string) => {
    state.candidates.set(id, filesOf(text))
    tables.received([candidate(id)])
    await settled()
  }
  /** Activates them in the store. */
  const activate = (id: string, version: number) => {
    const files = state.candidates.get(id) ?? {}
    state.candidates.delete(id)
    state.active = { version, digest: tablesDigest(files), files }
    state.seq = 102
  }
  return { state, clock, tables, propose, activate, withTables }
}

t.test('a candidate is prepared, answered and activated without another read', async (t) => {
  const { state, tables, propose, activate } = setUp()
  await propose('one', 'text 6')
  t.same(state.calls, ['candidate one', 'answer one'])
  t.equal(state.answers.get('one'), '[]')
  activate('one', 6)
  tables.received([activation(6, 'one')])
  t.same(state.decidesBy, ['6 with the first file'], 'before the deciders apply the change')
  t.equal(tables.active.version, 6)
})

t.test('a change of the main file does not bring back the tables that a push has replaced', async (t) => {
  const { state, tables, propose, activate, withTables } = setUp()
  await propose('one', 'text 6')
  state.held = []
  const reload = tables.reload(withTables('second'))
  await settled()
  activate('one', 6)
  tables.received([activation(6, 'one')])
  t.same(state.decidesBy, ['6 with the first file'])
  for (let at = 0; at < 2; at++) {
    state.held[at]?.resolve()
    await settled()
  }
  await reload
  t.same(state.decidesBy, ['6 with the first file', '6 with the second file'])
  t.equal(tables.active.version, 6)
})

t.test('a push does not bring back the main file that a reload has replaced', async (t) => {
  const { state, tables, propose, activate, withTables } = setUp()
  await propose('one', 'text 6')
  state.heldActivation = Promise.withResolvers()
  const reload = tables.reload(withTables('second'))
  await settled()
  t.same(state.decidesBy, ['5 with the second file'])
  activate('one', 6)
  tables.received([activation(6, 'one')])
  t.equal(state.decidesBy.length, 1, 'some processes may not be so far')
  state.heldActivation.resolve()
  await reload
  await tables.checkTables()
  t.same(state.decidesBy, ['5 with the second file', '6 with the second file'])
})

t.test('a candidate that is ready is built again with a changed main file', async (t) => {
  const { state, tables, propose, activate, withTables } = setUp()
  await propose('one', 'text 6')
  await tables.reload(withTables('second'))
  activate('one', 6)
  tables.received([activation(6, 'one')])
  t.same(state.decidesBy, ['5 with the second file', '6 with the second file'])
})

t.test('a reading that began before an activation does not bring back the former tables', async (t) => {
  const { state, tables, propose, activate } = setUp()
  await propose('one', 'text 7')
  state.active = tablesOf(5, 'of a restored store')
  state.held = []
  const check = tables.checkTables()
  await settled()
  activate('one', 6)
  tables.received([activation(6, 'one', 'text 7')])
  t.same(state.decidesBy, ['6 with the first file'])
  state.held[0]?.resolve()
  t.same(await check, { version: 6, digest: state.active.digest, seq: 102 })
  t.same(state.decidesBy, ['6 with the first file'])
})

t.test(
  'a store that was restored may activate the same number, or a lower one, with other files',
  async (t) => {
    for (const version of [5, 4]) {
      const { state, tables, propose } = setUp()
      // The message of its activation arrives before the feed of the restored store was read.
      state.active = tablesOf(version, 'other')
      state.seq = 60
      tables.received([activation(version, 'one', 'other')])
      await settled()
      t.same(state.decidesBy, [`${version} with the first file`])
      t.equal(tables.active.digest, state.active.digest)
      await propose('two', 'text of two')
      tables.received([activation(version, 'one', 'other')])
      await settled()
      const calls = state.calls.length
      state.active = tablesOf(version + 1, 'text of two')
      tables.received([activation(version + 1, 'two', 'text of two')])
      await settled()
      t.equal(state.decidesBy.at(-1), `${version + 1} with the first file`)
      t.equal(state.calls.length, calls, 'what is known already does not end what is ready')
    }
  },
)

t.test('a check ends once each process has activated what it shows', async (t) => {
  const { state, tables, propose, activate } = setUp()
  await propose('one', 'text 6')
  activate('one', 6)
  state.heldActivation = Promise.withResolvers()
  tables.received([activation(6, 'one')])
  let isChecked = false
  const check = tables.checkTables().then((read) => {
    isChecked = true
    return read
  })
  await settled()
  t.notOk(isChecked)
  state.heldActivation.resolve()
  t.same(await check, { version: 6, digest: state.active.digest, seq: 102 })
})

t.test('tables that could not be read are read again with the next readings of the feed', async (t) => {
  const { state, tables } = setUp()
  state.active = tablesOf(6)
  state.isAway = true
  tables.received([activation(6, 'one')])
  await settled()
  tables.received([])
  await settled()
  t.same(state.calls, ['active', 'active'])
  state.isAway = false
  tables.received([])
  await settled()
  t.same(state.decidesBy, ['6 with the first file'])
  tables.received([])
  await settled()
  t.equal(state.calls.length, 3)
})

t.test('a candidate is answered again until the store has the answer, and once', async (t) => {
  const { state, tables, propose } = setUp()
  state.isAway = true
  await propose('one', 'text 6')
  state.isAway = false
  tables.received([])
  await settled()
  t.equal(state.answers.get('one'), '[]')
  t.equal(state.prepared, 1)
  tables.received([candidate('one')])
  await settled()
  t.equal(state.prepared, 1, 'announced, and read')
})

t.test('of many candidates, the newest are answered, each of pushes at the same time', async (t) => {
  const { state, tables } = setUp()
  state.candidates.set('last', filesOf('text 6'))
  const ids = Array.from({ length: 1000 }, (_, at) => `candidate ${at}`)
  tables.received([...ids, 'last'].map((id, at) => candidate(id, at + 1)))
  await settled()
  t.equal(state.calls.length, 9, 'eight, seven of which are gone')
  t.same(state.calls.slice(-2), ['candidate last', 'answer last'])
})

t.test('a candidate of which the feed shows no change is answered, too', async (t) => {
  const { state, tables, propose } = setUp()
  await propose('one', 'text 6')
  state.candidates.set('two', filesOf('text two'))
  state.isAway = true
  tables.received(null)
  await settled()
  t.same([...state.answers.keys()], ['one'])
  state.isAway = false
  tables.received([])
  await settled()
  t.same([...state.answers.keys()], ['one', 'two'])
  t.equal(state.prepared, 2, 'the other one was answered before')
  const calls = state.calls.length
  tables.received([])
  await settled()
  t.equal(state.calls.length, calls)
})

t.test('of two pushes at the same time, both are answered', async (t) => {
  const { state, tables } = setUp()
  for (const id of ['one', 'two']) state.candidates.set(id, filesOf(id))
  tables.received([candidate('one', 1)])
  tables.received([candidate('two', 2)])
  await settled()
  t.same([...state.answers.keys()], ['one', 'two'])
})

t.test('faulty tables are built once', async (t) => {
  const { state, tables, withTables } = setUp()
  state.active = tablesOf(6, 'faulty')
  tables.received([activation(6, 'one', 'faulty')])
  await t.rejects(tables.checkTables(), ConfigError)
  const calls = state.calls.length
  await t.rejects(tables.checkTables(), ConfigError)
  tables.received([])
  await settled()
  t.equal(state.calls.length, calls, 'the store is not asked for each request')
  state.active = tablesOf(7)
  tables.received([activation(7, 'two')])
  await settled()
  t.same(state.decidesBy, ['7 with the first file'])
  state.active = tablesOf(8, 'faulty')
  state.heldBuild = Promise.withResolvers()
  tables.received([activation(8, 'three', 'faulty')])
  await settled()
  state.active = tablesOf(9)
  tables.received([activation(9, 'four')])
  state.heldBuild.resolve()
  await settled()
  t.equal(state.decidesBy.at(-1), '9 with the first file', 'others became active while it was built')
  state.active = tablesOf(10, 'faulty')
  tables.received([activation(10, 'five', 'faulty')])
  await settled()
  await t.rejects(
    tables.reload(withTables('second')).then(() => tables.checkTables()),
    ConfigError,
  )
})

t.test('tables that fail in a worker are not built again for each request', async (t) => {
  const { state, clock, tables } = setUp()
  state.active = tablesOf(6)
  state.failure = new Error('the worker has no memory')
  tables.received([activation(6, 'one')])
  await settled()
  const calls = state.calls.length
  for (let times = 0; times < 3; times++) {
    await t.rejects(tables.checkTables(), state.failure)
    tables.received([])
    await settled()
  }
  t.equal(state.prepared, 1)
  t.equal(state.calls.length, calls)
  await clock.pass(BUILD_AGAIN_AFTER)
  tables.received([])
  await settled()
  t.equal(state.prepared, 2)
  state.failure = null
  await t.rejects(tables.checkTables(), 'not at once')
  await clock.pass(BUILD_AGAIN_AFTER)
  tables.received([])
  await settled()
  t.same(state.decidesBy, ['6 with the first file'], 'without a request')
})
