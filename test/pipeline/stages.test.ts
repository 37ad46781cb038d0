/** Lists of stages and observers, and what a mechanism of its own takes to join them. */

import { Duplex } from 'node:stream'
import t from 'tap'
import type { ClientRequest } from '../../src/http/server/client-request.ts'
import type { ClientResponse } from '../../src/http/server/client-response.ts'
import { Exchange, Slot } from '../../src/http/server/exchange.ts'
import { externalQuestion, type Question } from '../../src/http/server/question.ts'
import type { Evaluation } from '../../src/model/decision.ts'
import { Refusal } from '../../src/model/errors.ts'
import type { Upstream } from '../../src/proxy/upstream.ts'
import type { Refusals } from '../../src/pipeline/refusals.ts'
import { answerQuestion } from '../../src/pipeline/stages/answer-question.ts'
import { forwardToUpstream } from '../../src/pipeline/stages/forward-to-upstream.ts'
import { grantPreflight } from '../../src/pipeline/stages/grant-preflight.ts'
import { type LocalPipeline, serveLocal } from '../../src/pipeline/stages/serve-local.ts'
import { servePublic } from '../../src/pipeline/stages/serve-public.ts'
import type { GatewayConfig } from '../../src/pipeline/pipeline-config.ts'
import type { WebSockets } from '../../src/pipeline/web-sockets.ts'
import { type Observer, Observers } from '../../src/pipeline/observers/observer.ts'
import { ANSWERED, composed, type Stage } from '../../src/pipeline/stage.ts'

const exchange = () => new Exchange({} as ClientRequest, new Duplex() as unknown as ClientResponse, 'id', 0)

t.test('stages run in order, and one that answers ends the way', async (t) => {
  const seen: string[] = []
  const passes =
    (name: string): Stage =>
    (each, next) => {
      seen.push(name)
      return next(each)
    }
  const answers: Stage = () => {
    seen.push('answer')
    return ANSWERED
  }
  void composed([passes('a'), passes('b'), answers, passes('never')])(exchange())
  t.same(seen, ['a', 'b', 'answer'])
})

t.test('a list in which no stage answers is a fault, whether a stage waits or not', async (t) => {
  t.throws(() => composed([])(exchange()), /no stage has answered/)
  const waits: Stage = async (each, next) => {
    await next(each)
    return ANSWERED
  }
  await t.rejects(async () => composed([waits])(exchange()), /no stage has answered/)
})

t.test('a mechanism: a stage and an observer with a slot of their own', async (t) => {
  const attempts = new Slot<number>()
  const count: Stage = (each, next) => {
    attempts.set(each, (attempts.get(each) ?? 0) + 1)
    return next(each)
  }
  const note: Observer = {
    ended(each) {
      const counted = attempts.get(each)
      if (counted !== undefined) each.logFields += `,"attempts":${counted}`
    },
  }
  const [subject, without] = [exchange(), exchange()]
  const observers = new Observers([note, {}])
  void composed([count, count, () => ANSWERED])(subject)
  for (const each of [subject, without]) observers.ended(each)
  t.equal(subject.logFields, ',"attempts":2')
  t.equal(without.logFields, '', 'what one exchange keeps is not in another one')
  t.equal(exchange().slots.length, subject.slots.length)
})

t.test('no stage that answers serves a denied request, wherever a list has it', async (t) => {
  const refuse = () => t.fail('the stage itself refuses nothing')
  const upstreams = new Map([['main', {} as Upstream]])
  const refusals = { refuse, failed: refuse } as unknown as Refusals
  const stages: Readonly<Record<string, Stage>> = {
    grantPreflight,
    forwardToUpstream: forwardToUpstream(
      { upstreams } as unknown as GatewayConfig,
      {} as WebSockets,
      new Observers([]),
      refuse,
    ),
    serveLocal: serveLocal({ refuse, failed: refuse } as unknown as LocalPipeline),
    servePublic: servePublic(1000, refusals),
    answerQuestion: answerQuestion(upstreams, null),
  }
  for (const [name, stage] of Object.entries(stages))
    for (const kind of ['upstream', 'local', 'public']) {
      const subject = exchange()
      externalQuestion.set(subject, {} as Question)
      const route = { target: { kind, name: 'main', handler: refuse } }
      subject.evaluation = {
        refusal: new Refusal('permission_denied', ''),
        decision: { route },
      } as unknown as Evaluation
      t.throws(() => stage(subject, () => ANSWERED), /the request is denied/, `${name}, ${kind}`)
    }
})
