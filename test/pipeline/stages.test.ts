/** Lists of stages and observers, and what a mechanism of its own takes to join them. */

import { Duplex } from 'node:stream'
import t from 'tap'
import type { ClientRequest } from '../../src/http/server/client-request.ts'
import type { ClientResponse } from '../../src/http/server/client-response.ts'
import { Exchange, Slot } from '../../src/http/server/exchange.ts'
import { type Observer, Observers } from '../../src/pipeline/observers/observer.ts'
import { composed, type Stage } from '../../src/pipeline/stage.ts'

const exchange = () => new Exchange({} as ClientRequest, new Duplex() as unknown as ClientResponse, 'id', 0)

t.test('stages run in order, and one that answers ends the way', async (t) => {
  const seen: string[] = []
  const passes =
    (name: string): Stage =>
    (each, next) => {
      seen.push(name)
      return next(each)
    }
  const answers: Stage = () => void seen.push('answer')
  void composed([passes('a'), passes('b'), answers, passes('never')])(exchange())
  t.same(seen, ['a', 'b', 'answer'])
})

t.test('a list in which no stage answers is a fault, whether a stage waits or not', async (t) => {
  t.throws(() => composed([])(exchange()), /no stage has answered/)
  const waits: Stage = async (each, next) => next(each)
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
  void composed([count, count, () => {}])(subject)
  for (const each of [subject, without]) observers.ended(each)
  t.equal(subject.logFields, ',"attempts":2')
  t.equal(without.logFields, '', 'what one exchange keeps is not in another one')
  t.equal(exchange().slots.length, subject.slots.length)
})
