/** The fair queue: the order of tenants and callers, and the choice of victims. */

import t from 'tap'
import {
  type UpstreamRequest,
  type RequestOwner,
  type ResponseReceiver,
} from '../../../src/http/client/upstream-request.ts'
import { FairQueue, type QueuedRequest } from '../../../src/http/client/slot-sharing.ts'
import { Ledger } from '../../../src/lib/ledger.ts'

const owner = (text: string): RequestOwner => {
  const [tenant = '', caller = ''] = text.split('/')
  return [tenant, caller]
}

/** @param texts `tenant/caller/name` in order of arrival */
function queueOf(texts: readonly string[]): FairQueue {
  const queue = new FairQueue()
  for (const [since, text] of texts.entries()) {
    const request = { path: text } as UpstreamRequest
    const receiver = { owner: owner(text) } as ResponseReceiver
    queue.add({ request, receiver, uploads: false, since })
  }
  return queue
}

const nameOf = (one: QueuedRequest | undefined) => one?.request.path.split('/')[2]

function all(queue: FairQueue, take: () => QueuedRequest | undefined): string {
  let names = ''
  for (let one = take(); one !== undefined; one = take()) names += nameOf(one)
  t.equal(queue.size, 0)
  return names
}

t.test('tenants take turns, and within a tenant its callers', async (t) => {
  const queue = queueOf(['a/x/1', 'a/x/2', 'a/x/3', 'a/y/4', 'b/z/5', 'b/z/6', 'a/y/7'])
  t.equal(
    all(queue, () => queue.take()),
    '1' + '5' + '4' + '6' + '2' + '7' + '3',
  )
  const alone = queueOf(['a/x/1', 'a/x/2', 'a/x/3'])
  t.equal(
    all(alone, () => alone.take()),
    '123',
  )
})

t.test('a free slot goes to the owner with the fewest', async (t) => {
  const queue = queueOf(['a/x/1', 'a/y/2', 'b/z/3', 'b/z/4'])
  const slots = new Ledger<null>()
  for (const each of ['a/x', 'a/x', 'a/w', 'b/z', 'b/z']) slots.add(null, each.split('/'))
  const taken: (string | undefined)[] = []
  for (let i = 0; i < 4; i++) {
    const one = queue.takeFewest(slots)
    taken.push(nameOf(one))
    if (one !== undefined) slots.add(null, one.receiver.owner)
  }
  t.same(taken, ['3', '2', '4', '1'])
  t.equal(queue.takeFewest(slots), undefined)
})

t.test(
  'the newest request of the largest owner is evicted, unless the other owner would then hold as many',
  async (t) => {
    const queue = queueOf(['a/x/1', 'a/y/2', 'a/y/3', 'a/y/4', 'b/z/5', 'b/z/6'])
    t.equal(nameOf(queue.takeFromGreediest(owner('c/v'))), '4')
    t.equal(queue.takeFromGreediest(owner('b/z')), undefined, 'three are less than two more than two')
    t.equal(queue.takeFromGreediest(owner('a/x')), undefined)
    t.equal(nameOf(queue.takeFromGreediest(owner('a/v'))), '3')
    t.equal(queue.takeFromGreediest(owner('a/v')), undefined)
    t.equal(nameOf(queue.takeFromGreediest(owner('c/v'))), '6')
    t.equal(queue.size, 3)
    t.equal(new FairQueue().takeFromGreediest(owner('a/x')), undefined)
  },
)

t.test('a cancelled request leaves the queue, and the order of the others stays', async (t) => {
  const queue = queueOf(['a/x/1', 'a/x/2', 'a/y/3', 'b/z/4', 'a/x/5'])
  const receivers = [...queue].map((one) => [nameOf(one), one.receiver] as const)
  const remove = (name: string) => {
    const receiver = receivers.find(([each]) => each === name)?.[1]
    return nameOf(receiver && queue.remove(receiver))
  }
  t.equal(remove('2'), '2')
  t.equal(queue.size, 4)
  t.equal(remove('2'), undefined, 'once')
  t.equal(queue.remove({ owner: owner('a/x') } as ResponseReceiver), undefined, 'another one of that caller')
  t.equal(queue.remove({ owner: owner('a/v') } as ResponseReceiver), undefined)
  t.equal(queue.remove({ owner: owner('c/x') } as ResponseReceiver), undefined)
  t.equal(remove('3'), '3')
  t.equal(
    all(queue, () => queue.take()),
    '145',
  )
  const last = queueOf(['a/x/1'])
  for (const { receiver } of [...last]) t.equal(nameOf(last.remove(receiver)), '1')
  t.equal(last.size, 0)
  t.same([...last.overdue(9)], [])
  t.equal(last.take(), undefined)
  t.equal(last.takeFewest(new Ledger()), undefined)
})

t.test('overdue requests', async (t) => {
  const queue = queueOf(['a/x/1', 'a/y/2', 'a/x/3', 'b/z/4'])
  t.same(
    [...queue.overdue(1)],
    [
      [owner('a/x'), 1],
      [owner('a/y'), 1],
    ],
  )
  t.same([...queue.overdue(-1)], [])
  t.equal(
    [...queue.overdue(9)].reduce((sum, [, count]) => sum + count, 0),
    4,
  )
})

t.test('only requests that may begin are taken, in turn', async (t) => {
  const queue = queueOf(['a/x/1', 'b/y/2', 'a/x/3', 'b/z/4', 'b/y/5'])
  const fromB = (tenant: string) => tenant === 'b'
  const fromZ = (tenant: string, caller: string | null) => tenant === 'b' && (caller ?? 'z') === 'z'
  t.equal(queue.hasAdmitted(fromZ), true)
  t.equal(nameOf(queue.takeAdmitted(fromZ)), '4')
  t.equal(queue.hasAdmitted(fromZ), false)
  t.equal(queue.takeAdmitted(fromZ), undefined)
  t.equal(nameOf(queue.takeAdmitted(fromB)), '2')
  t.equal(nameOf(queue.takeAdmitted(fromB)), '5')
  t.equal(queue.takeAdmitted(fromB), undefined)
  t.equal(
    all(queue, () => queue.take()),
    '13',
  )
})
