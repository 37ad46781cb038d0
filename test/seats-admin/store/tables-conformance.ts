/** Requirements of route tables in the store, of every store driver. */

import type { Store, TablesCandidate, Writer, Written } from '../../../seats-admin/index.ts'
import { type IfMatch, tablesTag } from '../../../seats-admin/model/entity-tag.ts'
import {
  NO_TABLES,
  storedTablesOf,
  type TableFiles,
  TABLES_IN_FILES,
  tablesDigest,
  tablesNoticeOf,
} from '../../../seats-admin/model/tables-version.ts'
import { isRefusal } from '../../../seats-admin/model/refusal.ts'
import { KEPT_FILES } from '../../../seats-admin/store/tables-store.ts'
import { ALL_ENTRIES, soundChain } from './audit-chain.ts'
import { ADMIN, column, done, key, MISSING, numbered, refused, suite, writer } from './conformance.ts'

export const COMPILED = { hash: '3f2a8c01d9e4', entries: 2 }
const FIRST: TableFiles = { 'a.yaml': 'routes: []\n', 'b.yml': '# none\n' }
const SECOND: TableFiles = { 'a.yaml': 'routes: []\n' }
const THIRD: TableFiles = { 'b.yml': '# none\n' }
/** JSON escapes what a store can't hold as text. */
const STRANGE: TableFiles = { 'a.yaml': '"\0\u2028ä😀\\ \'$1 :tenant', 'b.yaml': '' }

export function propose(store: Store, files: TableFiles, as: Writer = writer(), ifMatch?: IfMatch) {
  return store.proposeTables(ifMatch === undefined ? as : { ...as, ifMatch }, {
    files,
    digest: tablesDigest(files),
  })
}

export async function candidate(store: Store, files: TableFiles, as = writer()): Promise<TablesCandidate> {
  const { value } = done(await propose(store, files, as))
  if (value.id === null) throw new Error('these files are active')
  return value
}

/** Proposes and activates. */
export async function push(store: Store, files: TableFiles, as = writer()) {
  const { id } = await candidate(store, files, as)
  return done(await store.activateTables(as, id, COMPILED))
}

async function active(store: Store, tenant = 'acme') {
  return (await store.activeTables(tenant)).value
}

/** The feed and the audit, which a write changes. */
async function written(store: Store) {
  return { feed: await store.changesSince(null), audit: await store.audit.head('acme') }
}

export const tablesConformance = suite((test) => {
  test('before the first push: version 0, without files, of the position of the store', async (t, store) => {
    t.same(await store.activeTables('acme'), { seq: 0, mark: 0, value: NO_TABLES })
    t.equal(await store.tablesVersion('acme', 0), null)
    t.equal(await store.tablesVersion('acme', 1), null)
    t.same(await store.listTables('acme', { limit: 9, after: null }), { data: [], hasMore: false })
    t.same(await store.tablesCandidates('acme'), [])
    t.equal(await store.tablesCandidate('acme', MISSING), null)
    t.same(await store.candidateAnswers('acme', MISSING), new Map())
    const none = done(await propose(store, {}, writer(), [tablesTag(NO_TABLES)]))
    t.same(none, { seq: 0, mark: 0, changes: [], value: { id: null, base: 0 } }, 'the same files: none')
  })

  test('a candidate has a change of its own, no entry, and no effect', async (t, store) => {
    const made = done(await propose(store, STRANGE)) as Written<TablesCandidate>
    const { id, base } = made.value
    t.equal(base, 0)
    t.same(made.changes, [{ tenant: 'acme', kind: 'tables-candidate', key: id }])
    t.same((await store.changesSince(null)).changes, numbered(made))
    t.equal(await store.audit.head('acme'), null)
    t.same(await store.tablesCandidate('acme', id), STRANGE)
    t.same(await store.tablesCandidates('acme'), [id])
    t.same(await store.tablesCandidates('globex'), [])
    t.equal(await store.tablesCandidate('globex', id), null)
    t.equal(await store.tablesCandidate('acme', '\0'), null)
    t.same(await active(store), NO_TABLES)
    const version = done(await store.activateTables(writer(), id, COMPILED)).value
    t.same(await active(store), { version: 1, digest: tablesDigest(STRANGE), files: STRANGE })
    t.same(await store.tablesVersion('acme', 1), { ...version, files: STRANGE })
  })

  test('each instance answers a candidate, and may answer again, until it is gone', async (t, store) => {
    const { id } = await candidate(store, FIRST)
    const answers = () => store.candidateAnswers('acme', id)
    t.same(await answers(), new Map())
    await store.answerCandidate('acme', id, 'one', '{"faults":[]}')
    await store.answerCandidate('acme', id, 'two', '{"faults":["\\u0000"]}')
    await store.answerCandidate('acme', id, 'two', '{"faults":[]}')
    await store.answerCandidate('globex', id, 'three', '{}')
    const both = new Map([
      ['one', '{"faults":[]}'],
      ['two', '{"faults":[]}'],
    ])
    t.same(await answers(), both)
    const other = await candidate(store, SECOND)
    t.same(await store.candidateAnswers('acme', other.id), new Map(), 'another candidate has its own')
    t.same(await store.tablesCandidates('acme'), [id, other.id])
    const before = await written(store)
    await store.withdrawTables('globex', id)
    t.same(await answers(), both)
    for (let times = 0; times < 2; times++) await store.withdrawTables('acme', id)
    t.same(await answers(), new Map())
    await store.answerCandidate('acme', id, 'one', '{}')
    t.same(await answers(), new Map(), 'nothing is left of it')
    t.equal(await store.tablesCandidate('acme', id), null)
    t.same(await store.tablesCandidates('acme'), [other.id])
    t.same(await written(store), before, 'none of that is numbered')
    t.equal(refused(await store.activateTables(writer(), id, COMPILED)), 'precondition_failed')
    done(await store.activateTables(writer(), other.id, COMPILED))
    await store.answerCandidate('acme', other.id, 'one', '{}')
    t.same(await store.candidateAnswers('acme', other.id), new Map())
  })

  test('an activation: the next version, its notice, and an entry without texts', async (t, store) => {
    const { id: keyId } = await key(store, [], { name: 'ci' })
    const people: Writer[] = [
      { ...writer(ADMIN, 5), by: 'al\0ice', actor: { kind: 'user', name: 'alice@example.org' } },
      { ...writer(ADMIN, 7), by: keyId, actor: { kind: 'api-key', name: null } },
    ]
    const createdBy = [
      { kind: 'user', id: 'al\ufffdice', name: 'alice@example.org' },
      { kind: 'api-key', id: keyId, name: 'ci' },
    ]
    const versions = []
    for (const [at, files] of [FIRST, SECOND].entries()) {
      const { id, base } = await candidate(store, files)
      t.equal(base, at)
      const made = done(await store.activateTables(people[at] ?? writer(), id, COMPILED))
      const version = { ...COMPILED, version: at + 1, digest: tablesDigest(files), createdAt: 5 + 2 * at }
      t.same(made.value, { ...version, createdBy: createdBy[at] })
      t.match(made.changes, [{ tenant: 'acme', kind: 'tables' }])
      t.same(tablesNoticeOf(made.changes[0]?.key ?? ''), {
        version: at + 1,
        digest: made.value.digest,
        candidate: id,
      })
      t.same((await store.changesSince(null)).changes?.slice(-1), numbered(made))
      t.same(await store.activeTables('acme'), {
        seq: made.seq,
        mark: made.mark,
        value: { version: at + 1, digest: tablesDigest(files), files },
      })
      t.equal(await store.tablesCandidate('acme', id), null)
      versions.push(made.value)
    }
    t.same(await store.tablesVersion('acme', 1), { ...versions[0], files: FIRST }, 'the first is still there')
    const forms = versions.map(({ version, digest }) => ({ version, digest, ...COMPILED }))
    const entries = (await soundChain(t, store)).slice(1)
    const [before, after] = [[null, forms[0]], forms]
    t.match(
      entries,
      createdBy.map((actor, at) => ({
        actor,
        action: 'tables.update',
        target: { kind: 'tables', id: 'tables', name: `version ${at + 1}` },
      })),
    )
    t.same(
      entries.map((entry) => [entry.before, entry.after]),
      [before, after],
    )
    const page = await store.audit.list('acme', { ...ALL_ENTRIES, action: 'tables.update', target: 'tables' })
    t.equal(page.data.length, 2)
  })

  test('a push under the tag of the active version succeeds, under any other it is refused', async (t, store) => {
    const tags = [tablesTag(await active(store))]
    done(await propose(store, FIRST, writer(), tags))
    await push(store, FIRST)
    tags.push(tablesTag(await active(store)))
    const before = await written(store)
    for (const condition of [tags.slice(0, 1), [], ['"1"'], [`${tags[1]} `]])
      for (const files of [FIRST, SECOND])
        t.equal(refused(await propose(store, files, writer(), condition)), 'precondition_failed')
    t.same(await written(store), before, 'nothing was written')
    const made = done(await propose(store, SECOND, writer(), tags))
    t.equal(made.value?.base, 1)
    await push(store, SECOND)
    await push(store, FIRST)
    t.not(tablesTag(await active(store)), tags[1], 'the same files as an earlier version')
    t.equal(refused(await propose(store, SECOND, writer(), tags)), 'precondition_failed')
  })

  test('the files of the active version again: nothing is written, and all of it is announced', async (t, store) => {
    await push(store, FIRST)
    const before = await written(store)
    const again = done(await propose(store, { 'b.yml': '# none\n', 'a.yaml': 'routes: []\n' }))
    t.same(again, { ...before.feed.head, changes: [], value: null })
    t.same(await written(store), before)
  })

  test('of two proposals at once, the first activation counts', async (t, store) => {
    const [one, two] = await Promise.all([candidate(store, FIRST), candidate(store, SECOND)])
    t.same([one.base, two.base], [0, 0])
    for (const { id } of [one, two]) await store.answerCandidate('acme', id, 'i', '{}')
    t.equal((await store.candidateAnswers('acme', one.id)).size, 1, 'both are there')
    const activated = done(await store.activateTables(writer(), two.id, COMPILED))
    const before = await written(store)
    t.equal(refused(await store.activateTables(writer(), one.id, COMPILED)), 'precondition_failed')
    t.equal(refused(await store.activateTables(writer(), two.id, COMPILED)), 'precondition_failed', 'gone')
    t.same(await written(store), before, 'nothing was written')
    t.equal((await active(store)).digest, activated.value.digest)
    t.equal((await candidate(store, FIRST)).base, 1)
  })

  test('of activations at once, one succeeds', async (t, store) => {
    const made = await Promise.all([FIRST, SECOND, THIRD].map((files) => candidate(store, files)))
    const results = await Promise.all(made.map(({ id }) => store.activateTables(writer(), id, COMPILED)))
    t.same(
      results.filter(isRefusal).map(({ refused: code }) => code),
      ['precondition_failed', 'precondition_failed'],
    )
    t.equal((await active(store)).version, 1)
    t.equal((await soundChain(t, store)).length, 1)
  })

  test('tenants have tables of their own', async (t, store) => {
    const globex = writer(ADMIN, 1, 'globex')
    for (const files of [SECOND, FIRST]) await push(store, files)
    const { id } = await candidate(store, SECOND, globex)
    t.equal(refused(await store.activateTables(writer(), id, COMPILED)), 'precondition_failed')
    t.equal(done(await store.activateTables(globex, id, COMPILED)).value.version, 1)
    t.same((await active(store, 'globex')).files, SECOND)
    t.same((await active(store)).files, FIRST)
    t.equal((await store.listTables('globex', { limit: 9, after: null })).data.length, 1)
  })

  test('pages of versions, newest first', async (t, store) => {
    for (const files of [FIRST, SECOND, THIRD]) await push(store, files)
    const page = async (limit: number, after: string | null) => {
      const { data, hasMore } = await store.listTables('acme', { limit, after })
      return [...column(data, 'version'), hasMore]
    }
    t.same(await page(2, null), [3, 2, true])
    t.same(await page(2, '2'), [1, false])
    t.same(await page(3, null), [3, 2, 1, false])
    for (const after of ['1', '0', '-1', '1.5', 'x', '9'.repeat(20)]) t.same(await page(3, after), [false])
    for (const version of [0, -1, 1.5, NaN, Infinity, 2 ** 60, 4])
      t.equal(await store.tablesVersion('acme', version), null)
    const [newest] = (await store.listTables('acme', { limit: 1, after: null })).data
    t.same({ ...newest, files: THIRD }, await store.tablesVersion('acme', 3))
  })

  test(`the files of the newest ${KEPT_FILES} versions are kept, and the rest of all`, async (t, store) => {
    for (let version = 1; version <= KEPT_FILES + 2; version++)
      await push(store, { 'a.yaml': `# ${version}\n` })
    for (const version of [1, 2])
      t.match(await store.tablesVersion('acme', version), { version, ...COMPILED, files: null })
    t.same((await store.tablesVersion('acme', 3))?.files, { 'a.yaml': '# 3\n' })
    const all = await store.listTables('acme', { limit: KEPT_FILES + 2, after: null })
    t.same(all.data.at(-1)?.digest, tablesDigest({ 'a.yaml': '# 1\n' }))
    t.equal((await active(store)).version, KEPT_FILES + 2)
  })

  test('what has its effect at a start is refused while an instance has its tables in the store', async (t, store) => {
    const list = store.registry
    const effect = 'at-start'
    const proposed = async (files: TableFiles) =>
      store.proposeTables(writer(), { files, digest: tablesDigest(files), effect })
    const shown = (tables: string | null) => ({ config: '3f2a8c01d9e4', url: null, tables })
    await list?.register('a', 'host a')
    await list?.follow('a', 1, null, 0, shown(TABLES_IN_FILES))
    const { value } = done(await proposed(FIRST))
    if (value.id === null) return void t.fail('nothing was proposed')
    t.equal(done(await store.activateTables(writer(), value.id, COMPILED, effect)).value.version, 1)
    t.same((await active(store)).files, FIRST)
    if (list === null) return
    const id = done(await proposed(SECOND)).value.id ?? ''
    await list.follow('a', 2, null, 0, shown(storedTablesOf('globex')))
    t.ok(done(await proposed(SECOND)).value.id, 'those of another tenant')
    await list.follow('a', 3, null, 0, shown(storedTablesOf('acme')))
    const before = await written(store)
    for (const attempt of [await proposed(THIRD), await store.activateTables(writer(), id, COMPILED, effect)])
      t.match(attempt, {
        refused: 'tables_refused',
        detail: 'The instance host a decides by the tables in the store',
      })
    t.same(await written(store), before, 'nothing was written')
  })

  test('refused while an instance of the list has its tables elsewhere', async (t, store) => {
    const list = store.registry
    if (list === null) return void t.pass('this store has a single gateway')
    const { id } = await candidate(store, FIRST)
    const shown = (tables: string | null) => ({ config: '3f2a8c01d9e4', url: null, tables })
    await list.register('a', 'host a')
    await list.register('b', 'host b')
    await list.follow('b', 1, null, 0, shown(storedTablesOf('acme')))
    const before = await written(store)
    let beat = 0
    for (const [tables, where] of [
      [TABLES_IN_FILES, 'in files'],
      [storedTablesOf('globex'), 'of another tenant'],
      [null, 'in files'],
    ] as const) {
      await list.follow('a', ++beat, null, 0, shown(tables))
      for (const attempt of [
        await propose(store, SECOND),
        await propose(store, NO_TABLES.files),
        await store.activateTables(writer(), id, COMPILED),
      ])
        t.match(attempt, {
          refused: 'tables_in_files',
          detail: `The instance host a has its route tables ${where}. `,
        })
    }
    t.same(await written(store), before, 'nothing was written')
    await list.follow('a', ++beat, null, 0, shown(storedTablesOf('acme')))
    await list.register('c', 'host c')
    t.ok((await candidate(store, SECOND)).id, 'an instance that has not begun does not count')
    await list.follow('c', 1, null, 0, shown(TABLES_IN_FILES))
    t.equal(refused(await store.activateTables(writer(), id, COMPILED)), 'tables_in_files')
    await list.leave('c')
    t.equal(done(await store.activateTables(writer(), id, COMPILED)).value.version, 1)
  })
})
