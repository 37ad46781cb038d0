/** What a reload changes: counted as `seatgate diff` counts, and bounded. */

import fc from 'fast-check'
import t from 'tap'
import {
  type Change,
  changesOf,
  type ChangeSummary,
  changeSummary,
  KINDS,
  type SummaryBounds,
} from '../../src/access/access-change.ts'
import { differences, differenceSteps } from '../../src/access/difference.ts'
import { compiledTable } from '../../src/decision/router/table.ts'
import { builtInPaths } from '../../src/composition.ts'
import { pairs, readLine, type TablesInput, tablesOf, UPSTREAMS } from './random-tables.ts'

function end<R>(steps: Generator<unknown, R>): R {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

const ALL: SummaryBounds = { shown: 20, steps: 1_000_000 }

function summary(one: TablesInput, other: TablesInput, bounds = ALL): ChangeSummary {
  return end(changeSummary(tablesOf(one), tablesOf(other), bounds))
}

function countsOf(changes: readonly Change[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { kind } of changes) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

t.test('random tables: the counts are those of diff, the weightiest come first', async (t) => {
  fc.assert(
    fc.property(pairs(3), fc.integer({ min: 0, max: 30 }), ([one, other], shown) => {
      const all = changesOf(differences(tablesOf(one), tablesOf(other)), null)
      const found = summary(one, other, { ...ALL, shown })
      t.same(found.counts, countsOf(all))
      t.equal(found.complete, true)
      t.same(
        found.first.map(({ kind }) => kind),
        all.slice(0, shown).map(({ kind }) => kind),
      )
      const known = new Set(all.map((each) => JSON.stringify(each)))
      for (const each of found.first) t.ok(known.has(JSON.stringify(each)))
    }),
    { numRuns: 25 },
  )
})

t.test('given up after so many steps, it says so and has what it found', async (t) => {
  const lines = Array.from({ length: 50 }, (_, i) => `GET /a${i}: p:q`)
  const other = lines.map((line) => line.replace('p:q', 'public'))
  const whole = [...differenceSteps(tablesOf({ lines }), tablesOf({ lines: other }))].length
  for (const steps of [0, 1, whole - 1]) {
    const { complete, counts } = summary({ lines }, { lines: other }, { ...ALL, steps })
    t.equal(complete, false, `${steps} of ${whole} steps`)
    t.ok((counts.became_public ?? 0) <= 50)
  }
  const { complete, counts } = summary({ lines }, { lines: other }, { ...ALL, steps: whole })
  t.same({ complete, counts }, { complete: true, counts: { became_public: 50 } })
})

t.test('no step of a large table takes long: each class and each difference is one', async (t) => {
  const lines = Array.from({ length: 2000 }, (_, i) => `GET /a${i % 20}/b${i}/{id}: p:q`)
  const other = lines.map((line) => line.replace('p:q', 'r:s'))
  const steps = [...differenceSteps(tablesOf({ lines }), tablesOf({ lines: other }))]
  t.equal(steps.filter((each) => each !== null).length, 2000)
  t.ok(steps.length > 6000, `${steps.length} steps`)
})

t.test('kinds stand in the order of their weight', async (t) => {
  const before = ['GET /a: p:q', 'GET /b: p:q', 'GET /c: public', 'GET /d: p:q']
  const after = ['GET /a: r:s', 'GET /b: public', 'GET /c: p:q', 'GET /e: p:q']
  const { counts, first } = summary({ lines: before }, { lines: after })
  t.same(Object.keys(counts), ['became_public', 'added', 'changed', 'tightened', 'removed'])
  t.same(
    Object.keys(counts),
    KINDS.filter((kind) => first.some((each) => each.kind === kind)),
  )
})

t.test('random tables: compiled in steps, a table is the same', async (t) => {
  fc.assert(
    fc.property(pairs(3), ([input]) => {
      const table = tablesOf(input)
      const lines = new Set(table.table.routes.map(({ place }) => place?.line))
      const entries = input.lines.map(readLine).filter(({ place }) => lines.has(place.line))
      const again = { ...table, table: end(compiledTable(entries, UPSTREAMS, builtInPaths())) }
      t.same(differences(table, again), [])
      t.equal(again.table.routes.length, table.table.routes.length)
    }),
    { numRuns: 25 },
  )
})
