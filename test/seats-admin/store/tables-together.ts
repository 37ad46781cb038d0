/** Route tables on a database that several processes use, and candidates that are old. For each driver. */

import type { Test } from 'tap'
import type { Store } from '../../../seats-admin/index.ts'
import { isRefusal } from '../../../seats-admin/model/refusal.ts'
import { tablesDigest, tablesNoticeOf } from '../../../seats-admin/model/tables-version.ts'
import { CANDIDATE_AGE } from '../../../seats-admin/store/tables-store.ts'
import { soundChain } from './audit-chain.ts'
import { column, done, refused, writer } from './conformance.ts'
import type { Database } from './in-turn.ts'
import { candidate, COMPILED, propose, push } from './tables-conformance.ts'

const ROUNDS = 8
const files = (text: string) => ({ 'a.yaml': `# ${text}\n` })

/** @param database gives each test a database with two stores and without content */
export function tablesTogether(t: Test, database: (t: Test) => Promise<Database>): void {
  const together = (
    name: string,
    run: (t: Test, stores: readonly [Store, Store], all: Database) => Promise<void>,
  ) =>
    void t.test(name, async (t) => {
      const all = await database(t)
      const [one, two] = all.stores
      if (one === undefined || two === undefined) throw new Error('the test needs two stores')
      await run(t, [one, two], all)
    })

  together('pushes of two processes at once: each version follows the one before', async (t, stores) => {
    for (let round = 0; round < ROUNDS; round++) {
      const made = await Promise.all(
        stores.map((store, at) => candidate(store, files(`${round} of ${at}`), writer())),
      )
      t.equal(new Set(column(made, 'id')).size, 2)
      t.same(column(made, 'base'), [round, round])
      const results = await Promise.all(
        stores.map((store, at) => store.activateTables(writer(), made[at]?.id ?? '', COMPILED)),
      )
      t.same(
        results.filter(isRefusal).map(({ refused: code }) => code),
        ['precondition_failed'],
        'one of them is refused',
      )
      const winner = results.findIndex((result) => !isRefusal(result))
      for (const store of stores)
        t.match((await store.activeTables('acme')).value, {
          version: round + 1,
          files: files(`${round} of ${winner}`),
        })
    }
    const [one] = stores
    const kinds = ((await one.changesSince(null)).changes ?? []).filter(({ kind }) => kind === 'tables')
    t.same(
      kinds.map(({ key }) => tablesNoticeOf(key)?.version),
      Array.from({ length: ROUNDS }, (_, at) => at + 1),
    )
    t.equal((await soundChain(t, one)).length, ROUNDS)
  })

  together('a process reads what the other has activated, as of its change or later', async (t, stores) => {
    for (let round = 0; round < ROUNDS; round++) {
      const [one, two] = round % 2 === 0 ? stores : stores.toReversed()
      if (one === undefined || two === undefined) throw new Error('no stores')
      const made = await push(one, files(`${round}`))
      const { seq, value } = await two.activeTables('acme')
      t.ok(seq >= made.seq)
      t.equal(value.digest, tablesDigest(files(`${round}`)))
    }
  })

  together('answers that come as the candidate goes are lost with it, and reject not', async (t, stores) => {
    const [one, two] = stores
    for (let round = 0; round < ROUNDS; round++) {
      const { id } = await candidate(one, files(`${round}`))
      await two.answerCandidate('acme', id, 'before', '{}')
      const answers = Array.from({ length: 12 }, (_, at) =>
        two.answerCandidate('acme', id, `instance ${at}`, '{}'),
      )
      const end =
        round % 2 === 0 ? one.activateTables(writer(), id, COMPILED) : one.withdrawTables('acme', id)
      await Promise.all([end, ...answers])
      t.same(await two.candidateAnswers('acme', id), new Map())
      t.equal(await two.tablesCandidate('acme', id), null)
    }
  })

  together(
    'old candidates go with the next proposal or activation of the tenant',
    async (t, [one, two], { run }) => {
      const age = (ids: readonly string[], by: number) =>
        run(
          `UPDATE tables_candidates SET created_at = created_at - ${by} WHERE id IN (${ids.map((id) => `'${id}'`).join()})`,
        )
      const isThere = async (id: string) => (await one.tablesCandidate('acme', id)) !== null
      const globex = { ...writer(), tenant: 'globex' }
      const [old, other] = [await candidate(one, files('old')), await candidate(one, files('old'), globex)]
      await one.answerCandidate('acme', old.id, 'a', '{}')
      // Half an age passes at most before the next proposal.
      const young = await candidate(two, files('young'))
      await age([young.id], CANDIDATE_AGE / 2)
      await age([old.id, other.id], CANDIDATE_AGE + 1)
      t.ok(await isThere(old.id), 'until then')
      const next = await candidate(two, files('next'))
      t.same([await isThere(old.id), await isThere(young.id)], [false, true])
      t.equal((await one.candidateAnswers('acme', old.id)).size, 0)
      t.not(await one.tablesCandidate('globex', other.id), null, 'those of another tenant stay')
      t.equal(refused(await one.activateTables(writer(), old.id, COMPILED)), 'precondition_failed')
      await age([young.id], CANDIDATE_AGE)
      done(await two.activateTables(writer(), next.id, COMPILED))
      t.equal(await isThere(young.id), false)
      const late = await candidate(one, files('late'))
      await age([late.id], CANDIDATE_AGE + 1)
      done(await one.activateTables(writer(), late.id, COMPILED))
      t.equal(refused(await propose(one, files('late'))), 'not refused')
    },
  )
}
