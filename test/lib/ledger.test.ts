/** What owners hold: counts, ranks, turns, and what is given up, in each order that the gateway uses. */

import t from 'tap'
import { type Entry, Ledger, levelAfter, type Order, type Owner } from '../../src/lib/ledger.ts'
import { Random } from '../support/random.ts'

interface Named {
  readonly name: string
  readonly rate: number
}

const OLDEST: Order<Named> = () => 0
const SLOWEST: Order<Named> = (one, other) => one.item.rate - other.item.rate
const LARGEST: Order<Named> = (one, other) => other.weight - one.weight

/** @param texts `tenant/caller name weight rate`, oldest first */
function ledgerOf(texts: readonly string[]): Ledger<Named> {
  const ledger = new Ledger<Named>()
  for (const text of texts) {
    const [owner = '', name = '', weight = '1', rate = '0'] = text.split(' ')
    ledger.add({ name, rate: Number(rate) }, owner.split('/'), Number(weight))
  }
  return ledger
}

const names = (entries: Iterable<Entry<Named>>) => [...entries].map(({ item }) => item.name).join('')

t.test('it counts by owner, and forgets an owner without entries', async (t) => {
  const ledger = ledgerOf(['a/x 1', 'a/x 2', 'a/y 3', 'b/z 4'])
  const held = () => [ledger.held('a', 'x'), ledger.held('a', 'y'), ledger.held('a'), ledger.held('b')]
  t.same(held(), [2, 1, 3, 1])
  t.same([ledger.weight, ledger.held(), ledger.held('c'), ledger.held('c', 'x')], [4, 4, 0, 0])
  for (const entry of [...ledger]) {
    entry.remove()
    entry.remove()
  }
  t.same([...held(), ledger.weight], [0, 0, 0, 0, 0])
  t.same([...ledger.accounts], [])
  t.same([ledger.largest(), ledger.next(), ledger.account('a')], [null, null, null])
})

t.test('it adds up weights', async (t) => {
  const ledger = ledgerOf(['a/x 1 10', 'a/x 2 5', 'a/y 3 1', 'b/z 4 15'])
  t.same([ledger.held('a'), ledger.held('a', 'x'), ledger.held('b'), ledger.weight], [16, 15, 15, 31])
  t.equal(ledger.largest()?.parent?.name, 'a')
})

t.test('an entry that is renewed is the newest of its account', async (t) => {
  const ledger = ledgerOf(['a 1', 'a 2', 'a 3'])
  const account = ledger.account('a')
  for (const _ of [1, 2]) account?.first?.renew()
  t.equal(names(ledger), '312')
  account?.last?.renew()
  t.equal(names(ledger), '312')
  t.equal(ledger.held('a'), 3)
  const alone = ledgerOf(['a 1'])
  alone.account('a')?.first?.renew()
  t.same([names(alone), alone.weight], ['1', 1])
})

t.test('owners take turns: tenants, and the callers of each', async (t) => {
  const ledger = ledgerOf(['a/x 1', 'a/x 2', 'a/x 3', 'a/y 4', 'b/z 5', 'b/z 6', 'a/y 7'])
  let taken = ''
  for (let account = ledger.next(); account !== null; account = ledger.next()) {
    const { first } = account
    if (first === null) throw new Error('an account without entries')
    taken += first.item.name
    first.remove()
    account.endTurn()
  }
  t.equal(taken, '1546273')
})

t.test('ranked: what the owner with the most holds comes first, in the order of each use', async (t) => {
  const ledger = ledgerOf(['a 1 10 3', 'b 2 30 2', 'a 3 25 1', 'c 4 1 9', 'b 5 1 5'])
  t.equal(names(ledger.ranked(LARGEST)), '31254')
  t.equal(names(ledger.ranked(SLOWEST)), '31254')
  t.equal(names(ledger.ranked(OLDEST)), '13254')
})

t.test(
  'the largest tenant gives up a slot, there its largest caller, there its slowest request',
  async (t) => {
    const ledger = ledgerOf(['a/x 1 1 5', 'a/x 2 1 3', 'a/x 3 1 9', 'a/y 4 1 1', 'b/z 5 1 0'])
    const victim = (owner: Owner) => ledger.victim(ledger, owner, SLOWEST)?.item.name
    for (const owner of ['c/v', 'b/z', 'a/v', 'a/y']) t.equal(victim(owner.split('/')), '2', owner)
    t.equal(victim(['a', 'x']), undefined, 'nothing of its own')
    t.equal(ledger.victim([], ['c', 'v'], SLOWEST), null)
  },
)

t.test('only a candidate gives up its slot, of an owner that holds two more', async (t) => {
  const ledger = ledgerOf(['a/x 1', 'a/x 2', 'a/y 3', 'a/y 4', 'b/z 5', 'b/z 6', 'b/z 7'])
  const only = (allowed: string) => [...ledger].filter(({ item }) => allowed.includes(item.name))
  const victim = (owner: string, allowed: string) =>
    ledger.victim(only(allowed), owner.split('/'), OLDEST)?.item.name
  t.equal(victim('c/v', '1234567'), '1', 'the oldest')
  t.equal(victim('c/v', '567'), '5')
  t.equal(victim('b/v', '567'), '5', 'three and none, of one tenant')
  t.equal(victim('b/v', '1234'), undefined, 'four are not two more than three')
  t.equal(victim('a/y', '1234'), undefined, 'two and two')
  t.equal(victim('c/v', ''), undefined)
})

t.test('the account that gives up a request', async (t) => {
  const ledger = ledgerOf(['a/x 1', 'a/y 2', 'a/y 3', 'a/y 4', 'b/z 5', 'b/z 6'])
  const greediest = (owner: string) => ledger.greedierThan(owner.split('/'))?.last?.item.name
  t.equal(greediest('c/v'), '4')
  t.equal(greediest('b/z'), '4', 'four are two more than two')
  t.equal(greediest('b/v'), '4')
  t.equal(greediest('a/x'), '4')
  t.equal(greediest('a/y'), undefined)
  t.equal(greediest('a/v'), '4')
  t.equal(new Ledger<Named>().greedierThan(['a', 'x']), null)
  const evenly = ledgerOf(['a/x 1', 'a/y 2', 'a/y 3', 'b/z 4', 'b/z 5', 'b/z 6', 'b/z 7'])
  t.equal(evenly.greedierThan(['a', 'v'])?.last?.item.name, '3', 'within a tenant, whatever others hold')
  t.equal(evenly.greedierThan(['c', 'v'])?.last?.item.name, '7')
})

t.test('the level that the largest shrink to', async (t) => {
  t.equal(levelAfter([10, 10], 6), 7)
  t.equal(levelAfter([10, 10], 5), 7, 'what is taken is rounded up')
  t.equal(levelAfter([10, 4], 3), 7)
  t.equal(levelAfter([4, 10], 8), 3)
  t.equal(levelAfter([10, 4, 1], 6), 4)
  t.equal(levelAfter([1, 1, 1], 2), 1, 'none has more than one')
  t.equal(levelAfter([2, 1, 1], 5), 1)
  t.equal(levelAfter([], 5), 1)
})

t.test('after any operations, it agrees with counts that are made anew', async (t) => {
  const random = new Random(7)
  const ledger = new Ledger<null>()
  const all = new Map<Entry<null>, Owner>()
  let checked = 0
  for (let step = 0; step < 10_000; step++) {
    if (random.below(2_000) === 0) for (const each of all.keys()) remove(each)
    const [first] = all.keys()
    if (random.below(100) < 48 && first !== undefined) remove(random.pick([...all.keys()].slice(0, 50)))
    else add()
    if (step % 50 === 0) check()
  }
  t.ok(checked > 100)

  function add(): void {
    const owner = [`t${random.below(6)}`, `c${random.below(4)}`]
    all.set(ledger.add(null, owner, random.below(20)), owner)
  }

  function remove(entry: Entry<null>): void {
    entry.remove()
    all.delete(entry)
  }

  function check(): void {
    if (all.size > 5) checked++
    const held = new Map<string, number>()
    for (const [{ weight }, [tenant = '', caller = '']] of all)
      for (const key of ['', tenant, `${tenant} ${caller}`]) held.set(key, (held.get(key) ?? 0) + weight)
    for (const [key, weight] of held) {
      const found = ledger.held(...key.split(' ').filter((name) => name !== ''))
      if (found !== weight) t.fail(`${key}: ${found} in place of ${weight}`)
    }
    const most = (keys: (key: string) => boolean) =>
      Math.max(...[...held].filter(([key]) => keys(key)).map(([, weight]) => weight))
    const largest = ledger.largest()
    const tenant = largest?.parent
    if (all.size === 0) return void (largest !== null && t.fail('an account without entries'))
    if (tenant?.weight !== most((key) => /^t\d$/.test(key))) t.fail('another tenant holds the most')
    if (largest?.weight !== most((key) => key.startsWith(`${tenant?.name} `))) t.fail('another caller does')
  }
})
