/** Requests that wait: whose turn it is, and who gives way. */

import t from 'tap'
import type { HopRequest, Party, Receiver } from '../../../src/http/client/hop.ts'
import { FairLine, type Waiting } from '../../../src/http/client/fair-queue.ts'
import { Shares } from '../../../src/http/client/place-shares.ts'

const party = (text: string): Party => {
  const [tenant = '', caller = ''] = text.split('/')
  return { tenant, caller }
}

/** @param texts `tenant/caller/name`, in the order of their coming */
function lineOf(texts: readonly string[]): FairLine {
  const line = new FairLine()
  for (const [since, text] of texts.entries()) {
    const request = { path: text } as HopRequest
    const receiver = { party: party(text) } as Receiver
    line.add({ request, receiver, uploads: false, since })
  }
  return line
}

const nameOf = (one: Waiting | undefined) => one?.request.path.split('/')[2]

function all(line: FairLine, take: () => Waiting | undefined): string {
  let names = ''
  for (let one = take(); one !== undefined; one = take()) names += nameOf(one)
  t.equal(line.size, 0)
  return names
}

t.test('tenants take turns, and in them their callers', async (t) => {
  const line = lineOf(['a/x/1', 'a/x/2', 'a/x/3', 'a/y/4', 'b/z/5', 'b/z/6', 'a/y/7'])
  t.equal(
    all(line, () => line.take()),
    '1' + '5' + '4' + '6' + '2' + '7' + '3',
  )
  const alone = lineOf(['a/x/1', 'a/x/2', 'a/x/3'])
  t.equal(
    all(alone, () => alone.take()),
    '123',
  )
})

t.test('a place goes to who holds the fewest', async (t) => {
  const line = lineOf(['a/x/1', 'a/y/2', 'b/z/3', 'b/z/4'])
  const shares = new Shares()
  shares.add(party('a/x'), 2)
  shares.add(party('a/w'), 1)
  shares.add(party('b/z'), 2)
  const taken: (string | undefined)[] = []
  for (let i = 0; i < 4; i++) {
    const one = line.takeFewest(shares)
    taken.push(nameOf(one))
    if (one !== undefined) shares.add(one.receiver.party)
  }
  t.same(taken, ['3', '2', '4', '1'])
  t.equal(line.takeFewest(shares), undefined)
})

t.test('the newest of the greediest gives way, but not to one who would then have as many', async (t) => {
  const line = lineOf(['a/x/1', 'a/y/2', 'a/y/3', 'a/y/4', 'b/z/5', 'b/z/6'])
  t.equal(nameOf(line.takeFromGreediest(party('c/v'))), '4')
  t.equal(line.takeFromGreediest(party('b/z')), undefined, 'three are not two more than two')
  t.equal(line.takeFromGreediest(party('a/x')), undefined)
  t.equal(nameOf(line.takeFromGreediest(party('a/v'))), '3')
  t.equal(line.takeFromGreediest(party('a/v')), undefined)
  t.equal(nameOf(line.takeFromGreediest(party('c/v'))), '6')
  t.equal(line.size, 3)
  t.equal(new FairLine().takeFromGreediest(party('a/x')), undefined)
})

t.test('one that is given up leaves the line, and the turns of the others stay', async (t) => {
  const line = lineOf(['a/x/1', 'a/x/2', 'a/y/3', 'b/z/4', 'a/x/5'])
  const receivers = [...line].map((one) => [nameOf(one), one.receiver] as const)
  const remove = (name: string) => {
    const receiver = receivers.find(([each]) => each === name)?.[1]
    return nameOf(receiver && line.remove(receiver))
  }
  t.equal(remove('2'), '2')
  t.equal(line.size, 4)
  t.equal(remove('2'), undefined, 'once')
  t.equal(line.remove({ party: party('a/x') } as Receiver), undefined, 'another one of that caller')
  t.equal(line.remove({ party: party('a/v') } as Receiver), undefined)
  t.equal(line.remove({ party: party('c/x') } as Receiver), undefined)
  t.equal(remove('3'), '3')
  t.equal(
    all(line, () => line.take()),
    '145',
  )
  const last = lineOf(['a/x/1'])
  for (const { receiver } of [...last]) t.equal(nameOf(last.remove(receiver)), '1')
  t.equal(last.size, 0)
  t.same([...last.late(9)], [])
  t.equal(last.take(), undefined)
  t.equal(last.takeFewest(new Shares()), undefined)
})

t.test('victims: the greediest tenant, its greediest caller, the slowest of it', async (t) => {
  const holders = ['a/x 5', 'a/x 3', 'a/x 9', 'a/y 1', 'b/z 0'].map((text) => {
    const [name = '', rate] = text.split(' ')
    return { party: party(name), rate: Number(rate) }
  })
  const shares = new Shares()
  for (const each of holders) shares.add(each.party)
  t.same(shares.victim(party('c/v'), holders), { party: party('a/x'), rate: 3 })
  t.same(shares.victim(party('b/z'), holders), { party: party('a/x'), rate: 3 })
  t.same(shares.victim(party('a/v'), holders), { party: party('a/x'), rate: 3 })
  t.same(shares.victim(party('a/y'), holders), { party: party('a/x'), rate: 3 })
  t.equal(shares.victim(party('a/x'), holders), null)
  t.equal(shares.victim(party('c/v'), []), null)
})

t.test('who has waited for long enough', async (t) => {
  const line = lineOf(['a/x/1', 'a/y/2', 'a/x/3', 'b/z/4'])
  t.same(
    [...line.late(1)],
    [
      [party('a/x'), 1],
      [party('a/y'), 1],
    ],
  )
  t.same([...line.late(-1)], [])
  t.equal(
    [...line.late(9)].reduce((sum, [, count]) => sum + count, 0),
    4,
  )
})
