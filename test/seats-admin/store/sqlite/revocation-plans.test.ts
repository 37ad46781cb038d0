/** Statements of revocations and restrictions read no more than they need of a million cutoffs, sessions or API keys. */

import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { restrictionReads } from '../../../../seats-admin/store/restriction-queries.ts'
import {
  concernOf,
  concernQueries,
  revocationReads,
} from '../../../../seats-admin/store/revocation-queries.ts'
import { sqlite } from '../../../../seats-admin/store/sqlite/sqlite-database.ts'
import { mark, migrate } from '../../../../seats-admin/store/sqlite/sqlite-migrations.ts'

const database = new DatabaseSync(':memory:')
t.teardown(() => database.close())
mark(database)
migrate(database)

/** The searches of a statement: what each takes from an index. */
function searches(statement: string): string[] {
  const steps = database
    .prepare(`EXPLAIN QUERY PLAN ${statement}`)
    .all()
    .map(({ detail }) => String(detail))
  t.same(
    steps.filter((step) => step.startsWith('SCAN') && !/^SCAN [cl]$/.test(step)),
    [],
    'no table is read as a whole',
  )
  return steps.flatMap((step) => /^SEARCH (\w+) [^(]*\((.*)\)/.exec(step)?.slice(1, 3).join(' ') ?? [])
}

t.test('restrictions', async (t) => {
  const { restrictions, userRestriction } = restrictionReads(sqlite)
  const ofKind = 'tenant=? AND kind=?'
  t.same(searches(restrictions), ['b tenant=?', `c ${ofKind}`, `c ${ofKind}`, `t ${ofKind}`])
  t.same(searches(userRestriction), ['blocks tenant=? AND sub_digest=?', `u ${ofKind} AND digest=?`])
})

t.test('what a revocation ends', async (t) => {
  const queries = concernQueries(sqlite)
  const ofSubject = (subject: Parameters<typeof concernOf>[0]['subject']) => {
    const { sessions, keys } = concernOf({ subject, apiKeys: true }, null)
    return {
      sessions: sessions === null ? [] : searches(queries.sessions(sessions)),
      keys: keys === null ? [] : searches(queries.keys(keys)).slice(0, 1),
    }
  }
  t.same(ofSubject({ user: 'ann' }), {
    sessions: ['sessions tenant=? AND sub=? AND id>?'],
    keys: ['k tenant=? AND owner_digest=? AND id>?'],
  })
  t.same(ofSubject({ tenant: true }), {
    sessions: ['sessions tenant=? AND (sub,id)>(?,?)'],
    keys: ['k tenant=? AND id>?'],
  })
  t.same(ofSubject({ session: 'x' }).sessions, ['sessions tenant=? AND id=?'])
  t.same(ofSubject({ api_key: 'x' }).keys, ['k tenant=? AND id=?'])
})

t.test('lists of revocations', async (t) => {
  const { revocations, revocationsOf } = revocationReads(sqlite)
  const cutoff = 'c tenant=? AND kind=? AND digest=?'
  t.same(searches(revocations), ['r tenant=? AND id<?', cutoff])
  t.same(searches(revocationsOf), ['r tenant=? AND subject_digest=? AND id<?', cutoff])
})
