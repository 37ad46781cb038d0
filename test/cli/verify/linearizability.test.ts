/**
 * The search for an order that explains a history, against a search of every order, and against histories of a simulated tenant.
 */

import t from 'tap'
import { checkOrder, partsOf, type TimedOperation } from '../../../src/cli/verify/linearizability.ts'
import { checkHistory } from '../../../src/cli/verify/order-report.ts'
import { tenantModelOf, type TenantState } from '../../../src/cli/verify/tenant-model.ts'
import {
  type Answer,
  type Operation,
  operationsOf,
  type TenantOperation,
} from '../../../src/cli/verify/tenant-operations.ts'
import { Random } from '../../support/random.ts'
import { amount } from '../../support/thorough.ts'
import { simulateHistory } from './simulated-tenant.ts'

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`SEED=${seed}`)

/** The definition, word by word. */
function precedes(one: TimedOperation, other: TimedOperation): boolean {
  if (one.ended >= other.began) return false
  if (!other.weak) return true
  return one.writes && one.records.some((record) => other.records.includes(record))
}

/** Every order, of every choice of the operations without an answer. */
function bruteForce(history: readonly TenantOperation[]): boolean {
  const model = tenantModelOf(history)
  const from = (state: TenantState, rest: readonly TenantOperation[]): boolean => {
    if (rest.every(({ ended }) => ended === Infinity)) return true
    return rest.some((next) => {
      if (rest.some((other) => other !== next && precedes(other, next))) return false
      const after = model.step(state, next)
      return after !== null && from(after, rest.toSpliced(rest.indexOf(next), 1))
    })
  }
  return from(model.initial, history)
}

function isExplained(history: readonly Operation[]): boolean {
  const operations = operationsOf(history)
  const verdict = checkOrder(operations, tenantModelOf(operations))
  t.not(verdict.verdict, 'not checked')
  return verdict.verdict === 'explained'
}

const CODES = [
  'ok',
  'allow',
  'permission_denied',
  'seat_name_taken',
  'seat_not_found',
  'precondition_failed',
  'api_key_revoked',
]

/** One answer is another one: a code, or what an answer of the same kind shows. */
function withWrongAnswer(random: Random, history: readonly Operation[]): Operation[] {
  const at = random.below(history.length)
  const others = history.flatMap(({ answer }) => answer ?? [])
  const wrong = (answer: Answer): Answer => {
    const other = others.length > 0 ? random.pick(others) : answer
    if (random.chance(0.4)) return { ...answer, code: random.pick(CODES) }
    const { tag, name, permissions } = other
    return {
      ...answer,
      ...(answer.tag === undefined || tag === undefined ? {} : { tag }),
      ...(answer.name === undefined || name === undefined ? {} : { name }),
      ...(answer.permissions === undefined || permissions === undefined ? {} : { permissions }),
    }
  }
  return history.map((asked, each) =>
    each === at && asked.answer !== null ? { ...asked, answer: wrong(asked.answer) } : asked,
  )
}

const SMALL = { administrators: 3, callers: 1, invocations: 2, lost: 0.15 }

t.test('the search finds what every order finds', async (t) => {
  const count = { explained: 0, unexplained: 0 }
  for (let run = 0; run < amount({ usual: 3000, thorough: 30_000 }); run++) {
    const random = new Random(seed, run)
    const right = simulateHistory(random, SMALL)
    const history = random.chance(0.3) ? right : withWrongAnswer(random, right)
    const operations = operationsOf(history)
    const expected = bruteForce(operations)
    count[expected ? 'explained' : 'unexplained']++
    const whole = isExplained(history)
    const parts = checkHistory(history).disorders.length === 0
    if (whole !== expected || parts !== expected)
      t.fail(`run ${run}: every order ${expected}, search ${whole}, by parts ${parts}`)
  }
  t.comment(JSON.stringify(count))
  t.ok(count.explained > 500 && count.unexplained > 500)
})

t.test('a history of many has an order, however late decisions and lost writes are', async (t) => {
  for (let run = 0; run < amount({ usual: 60, thorough: 1000 }); run++) {
    const options = { administrators: 5, callers: 4, invocations: 12, lost: 0.04 }
    const { disorders, unchecked } = checkHistory(simulateHistory(new Random(seed, -1 - run), options))
    if (disorders.length + unchecked > 0) t.fail(`run ${run}: ${disorders.length}, ${unchecked}`)
  }
})

t.test('parts share no record, and are the finest such', async (t) => {
  const part = (...records: string[]) => ({ records })
  const [one, other, both, apart] = [part('a'), part('b', 'c'), part('a', 'b'), part('d')]
  t.same(partsOf([one, other, apart]), [[one], [other], [apart]])
  t.same(partsOf([one, other, apart, both]), [[one, other, both], [apart]])
})

t.test('a history that is too wide is not checked, which is no success', async (t) => {
  const random = new Random(seed)
  const history = simulateHistory(random, { administrators: 5, callers: 2, invocations: 20 })
  const { unchecked, disorders, operations } = checkHistory(history, 3)
  t.same(disorders, [])
  t.equal(unchecked, operations)
})
