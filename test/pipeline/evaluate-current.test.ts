/** Decisions that wait while tables are replaced are made again, by those of their state. */

import t from 'tap'
import type { AuthorizationRequest } from '../../src/model/authorization-request.ts'
import type { Evaluation } from '../../src/model/decision.ts'
import { evaluateCurrent } from '../../src/pipeline/evaluate-current.ts'
import { settled } from '../coherence/support.ts'

const request = {} as AuthorizationRequest

/** An engine whose evaluations wait until they are answered. */
function engineOf(name: string) {
  const waiting: (() => void)[] = []
  const evaluate = () =>
    new Promise<Evaluation>((resolve) =>
      waiting.push(() => resolve({ decision: { config: name } } as Evaluation)),
    )
  return { waiting, evaluate }
}

function setUp() {
  const [former, next] = [engineOf('former'), engineOf('next')]
  const checks: (() => void)[] = []
  const state = { engine: former, isReplaced: false }
  const files = {
    areReplaced: () => state.isReplaced,
    check: () => new Promise<void>((resolve) => checks.push(resolve)),
  }
  const evaluate = async () => (await evaluateCurrent(() => state.engine, files, request)).decision.config
  return { former, next, checks, state, evaluate }
}

t.test('by the engine that is active', async (t) => {
  const { former, evaluate } = setUp()
  const evaluation = evaluate()
  former.waiting[0]?.()
  t.equal(await evaluation, 'former')
})

t.test('again if another one has become active', async (t) => {
  const { former, next, state, evaluate } = setUp()
  const evaluation = evaluate()
  state.engine = next
  former.waiting[0]?.()
  await settled()
  next.waiting[0]?.()
  t.equal(await evaluation, 'next')
})

t.test('not before the tables of the state are active', async (t) => {
  const { former, next, checks, state, evaluate } = setUp()
  state.isReplaced = true
  const evaluation = evaluate()
  t.equal(former.waiting.length, 0)
  Object.assign(state, { engine: next, isReplaced: false })
  checks[0]?.()
  await settled()
  state.isReplaced = true
  next.waiting[0]?.()
  await new Promise(setImmediate)
  t.equal(checks.length, 2, 'others were activated while it waited')
  state.isReplaced = false
  checks[1]?.()
  await new Promise(setImmediate)
  next.waiting[1]?.()
  t.equal(await evaluation, 'next')
})
