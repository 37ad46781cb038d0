/** Hundreds of random pairs of route tables: the exact difference and brute force over the decision engine find the same. */

import fc from 'fast-check'
import t from 'tap'
import { faultsOf } from './compare.ts'
import { differences } from '../../src/access/difference.ts'
import { EVERY_HOST, everyPath, hostPairs, pairs } from './random-tables.ts'

const seed = Date.now() % 2 ** 31

t.test(`seed ${seed}`, async (t) => {
  const paths = everyPath(3)
  const checked = fc.check(
    fc.property(pairs(3), (pair) => faultsOf(pair, paths).length === 0),
    { numRuns: 400, seed },
  )
  t.notOk(checked.failed, fc.defaultReportMessage(checked) ?? 'no counterexample')
  t.equal(checked.numRuns, 400)
})

t.test(`with hosts, seed ${seed}`, async (t) => {
  const paths = everyPath(2)
  const checked = fc.check(
    fc.property(hostPairs(2), (pair) => faultsOf(pair, paths, differences, EVERY_HOST).length === 0),
    { numRuns: 100, seed },
  )
  t.notOk(checked.failed, fc.defaultReportMessage(checked) ?? 'no counterexample')
  t.equal(checked.numRuns, 100)
})
